"""Text of others on a page: escaped, with everything that hides as a badge, and kept apart.

What hides or reorders text is judged by `model.text`, here as everywhere. A label becomes
`<span class="cp" title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>`, which no text can write itself.
Everything stands in a `<bdi>`: right-to-left text reorders itself and nothing of ours.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from sayso.model.text import one_line, visible

# More than this is no page. What is left out is said, and the JSON has it.
MOST = 200_000
_MOST_LABELLED = 4 * MOST
_LABEL = re.compile(r"\[U\+([0-9A-F]{4,6}) ([^\]]*)\]")


def shown(text: object) -> Markup:
    """Draw a text of several lines with nothing in it that could hide."""
    whole = str(text)
    kept, seen = _bounded(whole)
    body = Markup('<bdi class="shown">{}</bdi>').format(badged(seen))
    if kept == len(whole):
        return body
    return body + Markup(
        ' <span class="cut">{:,} characters more are not shown here.</span>'
    ).format(len(whole) - kept)


def line(text: object, width: int = 120) -> Markup:
    """Draw a text on one line, cut to a width; what is cut ends in `…`."""
    return Markup("<bdi>%s</bdi>") % badged(one_line(str(text), width))


def said(seen: str) -> Markup:
    """Draw a sentence of ours that quotes others, and that was made visible when it was written."""
    return Markup("<bdi>%s</bdi>") % badged(seen)


def told(seen: str) -> Markup:
    """Draw a line of a story. What it quotes begins behind its first colon, and stands in a fence.

    A name or an argument that has a colon of its own only makes the fence begin earlier.
    """
    ours, _, theirs = seen.partition(": ")
    return Markup("%s %s") % (said(f"{ours}:"), quoted(theirs)) if theirs else said(seen)


def quoted(seen: str) -> Markup:
    """Draw what a run, a tool or a model said within a sentence of ours, in a fence."""
    return Markup('<q class="from-agent">%s</q>') % said(_bare(seen))


def _bare(seen: str) -> str:
    """Leave out the marks of a JSON string, whole or cut: the fence draws its own."""
    inner = seen[1:-1] if seen.endswith('"') else seen[1:]
    plain = seen.startswith('"') and len(seen) > 1 and not set(inner) & {'"', "\\"}
    return inner if plain else seen


def clamp(text: object, id: str, limit: int = 1200) -> Markup:  # noqa: A002 - of the element
    """Draw the start of a long text, and the whole of it to be opened."""
    whole = str(text)
    if len(whole) <= limit:
        return shown(whole)
    return Markup(
        '<div class="clamped"><div class="clamp-start">{}</div>'
        '<details class="clamp" id="{}"><summary>Show all {:,} characters</summary>{}</details></div>'
    ).format(shown(whole[:limit]) + Markup("…"), id, len(whole), shown(whole))


def badged(seen: str) -> Markup:
    """Draw a text that `visible` or `one_line` made: its labels, and only those, become badges."""
    if "[U+" not in seen:
        return escape(seen)
    pieces, done = [], 0
    for label in _LABEL.finditer(seen):
        pieces += [escape(seen[done : label.start()]), badge(label[1], label[2])]
        done = label.end()
    return Markup("").join([*pieces, escape(seen[done:])])


def badge(code: str, name: str) -> Markup:
    """Draw one character that cannot be seen."""
    return Markup('<span class="cp" title="{}">U+{}</span>').format(name, code)


def _bounded(text: str) -> tuple[int, str]:
    """Return how much of a text is drawn, and that much of it made visible."""
    kept = min(len(text), MOST)
    seen = visible(text[:kept], lines=True)
    if len(seen) <= _MOST_LABELLED:
        return kept, seen
    kept = MOST // 20  # nothing but labels, of some forty characters each
    return kept, visible(text[:kept], lines=True)
