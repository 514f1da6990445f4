from __future__ import annotations

import re
import unicodedata
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.model.text import hides, one_line, visible

LABEL = re.compile(r"\[U\+([0-9A-F]{4,6}) [A-Z0-9 ()-]+\]")

# Text as an attacker mixes it: letters, fake labels, marks, and whatever hides.
HIDING = "\ufe0f\u20e3\n\t\r\x1b\x00\u202e\u2066\u200b\u200d\ufeff\u0301\u0488\u2800\ud800"
FAKES = ("[U+", "[u+", "[U+202E RIGHT-TO-LEFT OVERRIDE]", "U+202E", "[", "+")
hostile = st.lists(st.sampled_from([*"a 1#é❤‼", *HIDING, *FAKES]) | st.characters()).map("".join)


def originals(shown: str) -> str:
    return LABEL.sub(lambda label: chr(int(label[1], 16)), shown)


@given(hostile, st.booleans())
def test_the_original_can_be_read_back_so_no_two_texts_look_the_same(
    text: str, lines: bool
) -> None:
    shown = visible(text, lines=lines)
    assert originals(shown) == text
    assert shown.count("[U+") == len(LABEL.findall(shown))


@given(hostile)
def test_what_is_shown_holds_nothing_that_hides(text: str) -> None:
    shown = visible(text)
    kept = shown.replace("\u00a0", " ").replace("\u3000", " ")
    assert all(char.isprintable() or unicodedata.category(char) == "Cf" for char in kept)
    assert not set(shown) & set("\u202a\u202e\u2066\u2069\u200b\u200d\u200f\ufeff\u00ad\x1b\n")


@given(hostile, st.integers(1, 60))
def test_one_line_fits_and_never_cuts_a_label(text: str, width: int) -> None:
    line = one_line(text, width)
    assert len(line) <= width
    assert "\n" not in line
    if line != visible(text):
        assert line.endswith("…")
        assert visible(text).startswith(line[:-1])
        assert text.startswith(originals(line[:-1]))


@pytest.mark.parametrize(
    "text",
    [
        "Refund 40 EUR to order 1182 [see note] {a} <b> U+202E",
        "Zażółć gęślą jaźń, crème brûlée, Tiếng Việt, Füße",
        "e\u0301 a\u0308 o\u0302\u0323",
        "مرحبا بالعالم، ١٢٣ \u06dd",
        "וַיֹּאמֶר אֱלֹהִים שָׁלוֹם",
        "नमस्ते दुनिया, हिन्दी में लिखा हुआ पाठ क्षत्रिय",
        "বাংলা தமிழ் తెలుగు ಕನ್ನಡ മലയാളം ภาษาไทย ที่นี่ ລາວ",
        "ကြွှေးမြီ ខ្មែរ བོད་སྐད་ ཧཱུྃ",
        "日本語のテキスト\u3000が\u3099 한국어 中文",
        "Здравствуйте Ελληνικά Հայերեն ქართული አማርኛ",
        "🎉 😀 👍🏽 🇩🇪 ❤️ ☎️ ✈️ ©️ ™️ ℹ️ ‼️ ↔️ 1️⃣ #️⃣ 〰️",  # noqa: RUF001
        "10\u00a0000 € – “quoted” … ½ × ≤",  # noqa: RUF001
        "",
    ],
)
def test_real_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert not hides(text)
    assert one_line(text, 200) == text


@pytest.mark.parametrize(
    ("char", "label"),
    [
        ("\x00", "[U+0000 NULL]"),
        ("\x07", "[U+0007 BELL]"),
        ("\x08", "[U+0008 BACKSPACE]"),
        ("\r", "[U+000D CARRIAGE RETURN]"),
        ("\x1b", "[U+001B ESCAPE]"),
        ("\x01", "[U+0001 CONTROL]"),
        ("\x7f", "[U+007F DELETE]"),
        ("\x85", "[U+0085 NEXT LINE]"),
        ("\x9b", "[U+009B CONTROL SEQUENCE INTRODUCER]"),
        ("\u00ad", "[U+00AD SOFT HYPHEN]"),
        ("\u034f", "[U+034F COMBINING GRAPHEME JOINER]"),
        ("\u061c", "[U+061C ARABIC LETTER MARK]"),
        ("\u115f", "[U+115F HANGUL CHOSEONG FILLER]"),
        ("\u1160", "[U+1160 HANGUL JUNGSEONG FILLER]"),
        ("\u1680", "[U+1680 OGHAM SPACE MARK]"),
        ("\u17b4", "[U+17B4 KHMER VOWEL INHERENT AQ]"),
        ("\u17b5", "[U+17B5 KHMER VOWEL INHERENT AA]"),
        ("\u180b", "[U+180B MONGOLIAN FREE VARIATION SELECTOR ONE]"),
        ("\u180e", "[U+180E MONGOLIAN VOWEL SEPARATOR]"),
        ("\u2003", "[U+2003 EM SPACE]"),
        ("\u200a", "[U+200A HAIR SPACE]"),
        ("\u200b", "[U+200B ZERO WIDTH SPACE]"),
        ("\u200c", "[U+200C ZERO WIDTH NON-JOINER]"),
        ("\u200d", "[U+200D ZERO WIDTH JOINER]"),
        ("\u200e", "[U+200E LEFT-TO-RIGHT MARK]"),
        ("\u200f", "[U+200F RIGHT-TO-LEFT MARK]"),
        ("\u2028", "[U+2028 LINE SEPARATOR]"),
        ("\u2029", "[U+2029 PARAGRAPH SEPARATOR]"),
        ("\u202a", "[U+202A LEFT-TO-RIGHT EMBEDDING]"),
        ("\u202c", "[U+202C POP DIRECTIONAL FORMATTING]"),
        ("\u202e", "[U+202E RIGHT-TO-LEFT OVERRIDE]"),
        ("\u2060", "[U+2060 WORD JOINER]"),
        ("\u2066", "[U+2066 LEFT-TO-RIGHT ISOLATE]"),
        ("\u2069", "[U+2069 POP DIRECTIONAL ISOLATE]"),
        ("\u2800", "[U+2800 BRAILLE PATTERN BLANK]"),
        ("\u3164", "[U+3164 HANGUL FILLER]"),
        ("\uffa0", "[U+FFA0 HALFWIDTH HANGUL FILLER]"),
        ("\ufe00", "[U+FE00 VARIATION SELECTOR-1]"),
        ("\ufe0f", "[U+FE0F VARIATION SELECTOR-16]"),
        ("\ufeff", "[U+FEFF ZERO WIDTH NO-BREAK SPACE]"),
        ("\ufff9", "[U+FFF9 INTERLINEAR ANNOTATION ANCHOR]"),
        ("\ue000", "[U+E000 PRIVATE USE]"),
        ("\uffff", "[U+FFFF UNASSIGNED]"),
        ("\ud800", "[U+D800 LONE SURROGATE]"),
        ("\U000e0041", "[U+E0041 TAG LATIN CAPITAL LETTER A]"),
        ("\U000e0100", "[U+E0100 VARIATION SELECTOR-17]"),
        ("\U000e0fff", "[U+E0FFF UNASSIGNED]"),
        ("\U0010fffd", "[U+10FFFD PRIVATE USE]"),
    ],
)
def test_what_hides_is_shown_as_a_labelled_code(char: str, label: str) -> None:
    assert visible(f"a{char}b", lines=True) == f"a{label}b"
    assert hides(f"a{char}b")


def test_what_hides_in_pieces_or_in_tags_comes_to_light() -> None:
    assert visible("\x1b[2Kok") == "[U+001B ESCAPE][2Kok"

    assert visible("[\u200bU+202E]") == "[[U+200B ZERO WIDTH SPACE]U+202E]"

    hidden = "".join(chr(0xE0000 + ord(char)) for char in "hi")
    assert visible(f"ok{hidden}") == (
        "ok[U+E0068 TAG LATIN SMALL LETTER H][U+E0069 TAG LATIN SMALL LETTER I]"
    )


def test_lines_and_tabs_stay_only_where_lines_are_asked_for() -> None:
    assert visible("a\n\tb", lines=True) == "a\n\tb"
    assert visible("a\n\tb") == "a[U+000A LINE FEED][U+0009 TAB]b"
    assert visible("ä\n\tb", lines=True) == "ä\n\tb"
    assert not hides("a\n\tb")
    assert hides("a\n\tb", lines=False)


@pytest.mark.parametrize("fake", ["[U+202E RIGHT-TO-LEFT OVERRIDE]", "[u+202e]", "[U+"])
def test_a_label_typed_by_the_agent_is_not_taken_for_ours(fake: str) -> None:
    assert visible(fake) == "[U+005B LEFT SQUARE BRACKET]" + fake[1:]
    assert visible("ü" + fake) == "ü[U+005B LEFT SQUARE BRACKET]" + fake[1:]
    assert hides(fake)


def test_four_marks_on_a_letter_are_kept_and_the_rest_is_labelled() -> None:
    assert visible("a" + "\u0301" * 4) == "a" + "\u0301" * 4
    assert visible("a" + "\u0301" * 6 + "b") == (
        "a" + "\u0301" * 4 + "[U+0301 COMBINING ACUTE ACCENT]" * 2 + "b"
    )
    assert visible("a" + "\u20e3" * 5) == "a" + "\u20e3" * 4 + "[U+20E3 COMBINING ENCLOSING KEYCAP]"
    assert visible("a" + "\u0301\u0302\u0303\u0304\u0305") == (
        "a\u0301\u0302\u0303\u0304[U+0305 COMBINING OVERLINE]"
    )


def test_a_variation_selector_belongs_only_directly_after_a_symbol() -> None:
    assert visible("❤\ufe0f") == "❤\ufe0f"
    assert visible("❤\ufe0f\ufe0f") == "❤\ufe0f[U+FE0F VARIATION SELECTOR-16]"
    assert visible("a\ufe0f") == "a[U+FE0F VARIATION SELECTOR-16]"
    assert visible("1\ufe0f") == "1[U+FE0F VARIATION SELECTOR-16]"
    assert visible("\u2800\ufe0f") == "[U+2800 BRAILLE PATTERN BLANK][U+FE0F VARIATION SELECTOR-16]"
    assert visible("❤\ufe01") == "❤[U+FE01 VARIATION SELECTOR-2]"


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("a\nb", 30, "a[U+000A LINE FEED]b"),
        ("a\nb", 10, "a…"),
        ("\n", 5, "…"),
        ("x", 1, "x"),
        ("xy", 1, "…"),
        ("ab[U+", 3, "ab…"),
        ("", 1, ""),
    ],
)
def test_a_line_is_cut_with_an_ellipsis(text: str, width: int, line: str) -> None:
    assert one_line(text, width) == line


def test_a_line_without_any_width_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="width"):
        one_line("a", 0)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "[U+" * 333_000,
        "Füße auf dem Tisch. " * 50_000,
        "日本語" * 111_000,
        "\u202e" * 333_000,
        "a\u0301" * 333_000,
        "\u0301" * 500_000,
        "❤\ufe0f" * 166_000,
        "a\ufe0f" * 250_000,
        "".join(map(chr, range(0x3400, 0x3400 + 250_000))),
    ],
    ids=[
        "ascii",
        "fake",
        "latin",
        "japanese",
        "bidi",
        "accents",
        "stack",
        "emoji",
        "selectors",
        "all",
    ],
)
def test_what_a_megabyte_costs_to_show_grows_with_its_length_only(text: str) -> None:
    """Eight times the text takes about eight times as long; were it looked at again for each
    character, it would be sixty-four times."""
    assert cost(text) < 30 * cost(text[: len(text) // 8])


def cost(text: str) -> float:
    """What showing it takes, at best of three: a busy machine only ever adds."""
    return min(_seconds(text) for _ in range(3))


def _seconds(text: str) -> float:
    start = process_time()
    visible(text)
    return process_time() - start
