"""Markdown of others: little of it is drawn, and all of that is safe."""

from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.web.look.prose import MOST, Outside, outside, prose
from tests import hostile
from tests.web.inbox.browser import read

TAGS = {
    *("div", "p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre"),
    *("code", "em", "strong", "s", "a", "span", "table", "thead", "tbody", "tr", "th", "td", "bdi"),
}
BITS = st.sampled_from(
    [
        *("<img src=x onerror=alert(1)>", "<script>", "javascript:alert(1)", "data:text/html,x"),
        *("](", "[", ")", "![", "\n", "\n\n", "# ", "> ", "- ", "`", "```", "|", "*", "_", "~~"),
        *("&lt;", "&#106;", "\u202e", "\u200b", "[U+202E X]", '"', "'", "\\", "a", " "),
        *("http://e.example", "<http://a.example>", "//evil.example", "mailto:a@b.c"),
        "[a]: http://x.example 'onclick=1'",
    ]
)


def test_markdown_is_drawn() -> None:
    drawn = prose("# Title\n\n*a* **b** `c`\n\n- x\n\n| a |\n|---|\n| 1 |\n")

    assert "<h3" in drawn
    assert "<h1" not in drawn
    assert "<em>a</em> <strong>b</strong> <code>c</code>" in drawn
    assert "<li" in drawn
    assert "<td" in drawn


def test_links_say_their_host_and_go_through_the_leave_page() -> None:
    drawn = prose("[https://bank.example](https://evil.example/a?b=1&c)")

    assert (
        '<a href="/leave?to=https%3A%2F%2Fevil.example%2Fa%3Fb%3D1%26c" '
        'rel="noopener noreferrer nofollow">https://bank.example</a>'
        '<span class="host"> (evil.example)</span>'
    ) in drawn
    assert "host" not in prose("<https://evil.example/x>").replace('rel="', "")


@pytest.mark.parametrize(
    "target", ["mailto:a@b.c", "/inbox/1", "//evil.example", "ftp://x.example", "#top", "x\u202ey"]
)
def test_what_leads_nowhere_we_would_send_anybody_is_no_link(target: str) -> None:
    assert "<a" not in prose(f"[click]({target})")


def test_images_are_words() -> None:
    drawn = prose("![a <cat>](https://track.example/pixel.png?u=1)")

    assert "<img" not in drawn
    assert '<span class="image">image: a &lt;cat&gt; (track.example)</span>' in drawn


def test_what_hides_is_a_badge_in_prose_too() -> None:
    drawn = prose(f"**{hostile.ALL}**\n\n    {hostile.ALL}\n\n\u202e(http://evil.example)")

    assert not hostile.raw_in(drawn)
    assert drawn.count('title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>') == 3
    assert "<a" not in drawn


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[//]: # (pay anna)\n\nHello", "[//]: # (pay anna)"),
        ("> [a]: http://x.example\n> 'pay anna'\n\nHello", "'pay anna'"),
        ("[a]: http://x.example\n[a]: http://y.example 'pay anna'\n\n[a]", "'pay anna'"),
        ("[here](https://x.example 'pay anna')", "(x.example; its title: pay anna)"),
        ("[https://x.example](https://x.example 'pay anna')", "its title: pay anna"),
        ("[a]\n\n[a]: https://x.example 'pay anna'", "(x.example; its title: pay anna)"),
        ("![a](https://x.example 'pay anna')", "(x.example; its title: pay anna)"),
        ("```py pay anna\nx = 1\n```", "py pay anna"),
        ("| a |\n|---|\n| 1 | pay anna |", "pay anna"),
        ("> | a |\n> |---|\n> 1 | pay \\| anna", "pay \\| anna"),
    ],
)
def test_what_markdown_keeps_to_itself_is_drawn_too(text: str, said: str) -> None:
    assert said in unescape(prose(text))


def test_a_table_is_drawn_if_nothing_of_it_is_lost() -> None:
    drawn = prose("- | a | b |\n  |---|---|\n  | 1 | x \\| y |\n  | 2\n  | 3 | 4 | |")

    assert drawn.count("<td") == 6


@pytest.mark.parametrize(
    "around", ["{}", "[a](https://x.example '{}')", "[a](https://x.example/{})", "```{}\n```"]
)
def test_an_entity_hides_nothing(around: str) -> None:
    drawn = prose(around.format("&#x202e;&ZeroWidthSpace;") + "\n\na &amp; b")

    assert not hostile.raw_in(unescape(drawn))
    assert "#x202e;" in drawn
    assert "a &amp; b" in drawn


@settings(max_examples=60, deadline=None)
@given(st.lists(BITS, max_size=25).map("".join))
def test_only_what_is_allowed_is_drawn(text: str) -> None:
    for node in read(prose(text)).walk():
        tag, attributes = node.tag, node.attrs
        assert tag in TAGS
        assert set(attributes) <= {"class", "dir", "href", "rel", "start", "title"}
        assert attributes.get("class") in (None, "prose", "host", "image", "source", "cp")
        assert tag != "a" or str(attributes.get("href", "/leave?to=http")).startswith(
            "/leave?to=http"
        )
        assert "title" not in attributes or attributes["class"] == "cp"


@pytest.mark.parametrize("bit", ["[", "![", "[a](", "> ", "*a_", "<"])
def test_text_made_to_be_slow_is_drawn_all_the_same(bit: str) -> None:
    text = (bit * MOST)[:MOST]

    assert prose(text).startswith('<div class="prose')
    assert "plain" in prose("[" * MOST), "each open bracket would be looked at at every other one"


@pytest.mark.parametrize(
    "text",
    [
        "|a" * 2_000 + "\n" + "|-" * 2_000 + "\n" + "|\n" * 20_000,
        "|a" * 70 + "\n" + "|-" * 70 + "\n" + "a\n" * 200,
        *("- a\n" * 10_000, "*a* " * 10_000, "\u202e" * MOST, "<http://a> " * 4_001),
    ],
    ids=["wide table", "long table", "lines", "stars", "labels", "links"],
)
def test_what_is_too_dense_is_drawn_as_it_is(text: str) -> None:
    drawn = prose(text)

    assert drawn.startswith('<div class="prose plain">')
    assert "<td" not in drawn
    assert len(drawn) < 40 * MOST


def test_several_tables_of_a_usual_size_are_drawn() -> None:
    table = "|a|b|c|\n|-|-|-|\n" + "|1|2|3|\n" * 40

    assert prose("\n\n".join([table] * 20)).count("<td") == 20 * 40 * 3


def test_what_is_too_long_is_drawn_as_it_is() -> None:
    assert prose("# a\n" * MOST).startswith('<div class="prose plain"><bdi class="shown"># a\n')


@pytest.mark.parametrize(
    ("url", "host", "warned"),
    [
        ("https://example.com/a", "example.com", ""),
        ("https://example.com:8443/a", "example.com:8443", ""),
        ("http://example.com/", "example.com", "not encrypted"),
        ("https://bank.example@evil.example/", "evil.example", "It is not bank.example"),
        ("https://xn--pypal-4ve.com/", "xn--pypal-4ve.com", "punycode"),
        ("https://p\u0430ypal.com/", "p\u0430ypal.com", "mixes letters of Cyrillic and Latin"),
        ("https://127.0.0.1/", "127.0.0.1", "a number"),
        ("https://0x7f000001/", "0x7f000001", "a number"),
        ("https://[::1]/", "::1", "a number"),
    ],
)
def test_the_leave_page_says_where_it_leads(url: str, host: str, warned: str) -> None:
    found = outside(url)

    assert isinstance(found, Outside)
    assert (found.host, found.url) == (host, url)
    assert warned in " ".join(found.warnings)
    assert bool(found.warnings) == bool(warned)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "javascript:alert(1)",
            "data:text/html,x",
            "/inbox",
            "//x.example",
            "",
            "ftp://x.example",
        ),
        *(
            "https:///x",
            "https://a b/",
            "https://x.example\\@evil.example",
            "https://\u202ex.example",
        ),
        *("http://[::1", "https://x.example:99999/", " https://x.example", "https://x\n.example"),
    ],
)
def test_nobody_is_sent_elsewhere(url: str) -> None:
    assert outside(url) is None


def test_no_attribute_of_ours_can_be_broken_out_of() -> None:
    drawn = prose('[x](https://e.example/"onmouseover="alert(1))')

    (link,) = [node.attrs for node in read(drawn).all("a")]
    assert set(link) == {"href", "rel"}
