"""Hostile text made visible, so that nobody approves what they could not see.

Characters that hide, reorder or fake text (terminal escapes, bidi controls,
zero-width characters, tags, fillers, stacks of accents) are shown as labelled
codes such as `[U+202E RIGHT-TO-LEFT OVERRIDE]`. Ordinary text in every script
stays as it is. Two prices are paid on purpose: emoji joined by U+200D and
Persian words with U+200C show the joiner, because both characters also hide.

The labels cannot be faked: an opening bracket before `U+` in the text itself
is labelled as well. Every `[U+` in the result is therefore ours, and the
original can be read back from it.

Escaping for a medium (HTML, Slack, terminal markup) does not belong here.
"""

from __future__ import annotations

import re
import unicodedata

_ASCII = re.compile(r"[\x20-\x7e]*")
_ASCII_LINES = re.compile(r"[\x20-\x7e\n\t]*")
_FAKE_LABEL = re.compile(r"\[(?=[Uu]\+)")
_LABEL = re.compile(r"\[U\+[0-9A-F]{4,6} [^\]]*\]")

# `str.isprintable` is false for controls, format characters, surrogates,
# private use, unassigned code points and every separator but the space, and it
# runs in C. The three tables below are where it differs from what people see.

# Spaces that look like spaces, and signs of Arabic, Syriac and Kaithi which
# Unicode files under "format" although they are drawn.
_SEEN = frozenset(
    "\u00a0\u3000"
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)

# Filed under letters, marks and symbols, yet drawn as nothing.
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001d159"
) | {chr(code) for code in (*range(0xFE00, 0xFE0F), *range(0xE0100, 0xE01F0))}

# U+FE0F asks for the coloured form of the symbol before it. There it belongs;
# anywhere else a row of variation selectors can carry a hidden message.
_EMOJI_FORM = "\ufe0f"
_KEYCAP = "\u20e3"
_ALSO_EMOJI = "‼⁉〰ℹ™"  # noqa: RUF001 - emoji that Unicode files elsewhere

# Three rules look at the neighbours. They are matched on a copy of the text in which
# every mark is this one and every symbol that one, so that the pattern stays small.
_ANY_MARK, _ANY_SYMBOL = "\u0301", "☆"
_MISPLACED = re.compile(
    _FAKE_LABEL.pattern + "|"
    f"(?<=[{_ANY_MARK}{_KEYCAP}]{{4}})[{_ANY_MARK}{_KEYCAP}]+"  # the fifth mark on one letter
    f"|(?<!{_ANY_SYMBOL}){_EMOJI_FORM}(?!(?<=[0-9#*]{_EMOJI_FORM}){_KEYCAP})"  # but in keycaps
)

_CONTROL_NAMES = {
    0x00: "NULL",
    0x07: "BELL",
    0x08: "BACKSPACE",
    0x09: "TAB",
    0x0A: "LINE FEED",
    0x0B: "VERTICAL TAB",
    0x0C: "FORM FEED",
    0x0D: "CARRIAGE RETURN",
    0x1B: "ESCAPE",
    0x7F: "DELETE",
    0x85: "NEXT LINE",
    0x9B: "CONTROL SEQUENCE INTRODUCER",
}

_NAMELESS = {
    "Cc": "CONTROL",
    "Cn": "UNASSIGNED",
    "Co": "PRIVATE USE",
    "Cs": "LONE SURROGATE",
}


def visible(text: str, *, lines: bool = False) -> str:
    """Return the text with everything that could hide or reorder it labelled.

    With `lines`, line feeds and tabs stay as they are; otherwise they are
    labelled too, so that the result is one line.
    """
    plain = _ASCII_LINES if lines else _ASCII
    if plain.fullmatch(text):
        return _FAKE_LABEL.sub(_label("["), text)

    # A text has far fewer different characters than characters: judge each
    # once, and let C do the replacing.
    used = set(text)
    odd = {char for char in used if _is_odd(char)} - (set("\n\t") if lines else set())
    always = {ord(char): _label(char) for char in odd}
    misplaced = always | {ord(char): _label(char) for char in _marks(used) | {"["}}

    pieces, done = [], 0
    for run in _MISPLACED.finditer(_alike(text, used - odd)):
        pieces.append(text[done : run.start()].translate(always))
        pieces.append(text[run.start() : run.end()].translate(misplaced))
        done = run.end()
    return "".join(pieces) + text[done:].translate(always)


def hides(text: str, *, lines: bool = True) -> bool:
    """Say whether anything in the text has to be labelled to be seen."""
    return visible(text, lines=lines) != text


def one_line(text: str, width: int) -> str:
    """Return the text visible, on one line, and cut to `width` characters.

    What is cut ends in `…`. A label is kept whole or left out.

    Raises:
        ValueError: `width` leaves no room for even the ellipsis.
    """
    if width < 1:
        raise ValueError("one_line needs a width of at least 1")
    # Each character becomes one or more, so that the start of a long text is
    # enough; what is labelled depends on at most two characters further on.
    shown = visible(text[: width + 3])
    if len(shown) <= width:
        return shown
    end = width - 1
    for label in _LABEL.finditer(shown):
        if label.start() < end < label.end():
            end = label.start()
            break
    return shown[:end] + "…"


def printable(text: str) -> str:
    """Return a message of ours as one line that is safe to print.

    Messages label what they quote. This only catches what nobody thought of, and must not
    label the labels.
    """
    return "".join(char if char.isprintable() else visible(char) for char in text)


def _is_odd(char: str) -> bool:
    return char in _UNSEEN if char.isprintable() else char not in _SEEN


def character_name(char: str) -> str:
    """Return what Unicode calls a character, or its kind if it has no name."""
    name = _CONTROL_NAMES.get(ord(char)) or unicodedata.name(char, "")
    return name or _NAMELESS.get(unicodedata.category(char), "UNNAMED")


def _label(char: str) -> str:
    return f"[U+{ord(char):04X} {character_name(char)}]"


def _alike(text: str, used: set[str]) -> str:
    """Return the text with one mark for every mark, and one symbol for every symbol."""
    # ASCII has symbols too, but none with a coloured form, and `+` is part of a label.
    symbols = {c for c in used if unicodedata.category(c) in {"So", "Sm"} and not c.isascii()}
    alike = dict.fromkeys(map(ord, symbols | set(_ALSO_EMOJI)), _ANY_SYMBOL)
    alike |= dict.fromkeys(map(ord, _marks(used) - {_EMOJI_FORM, _KEYCAP}), _ANY_MARK)
    return text.translate(alike)


def _marks(used: set[str]) -> set[str]:
    # Marks without a width of their own pile up and bury the lines around them.
    # Vowel signs that have one (Burmese uses five in a row) do not count.
    return {char for char in used if unicodedata.category(char) in {"Mn", "Me"}}
