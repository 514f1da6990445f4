"""Markdown of others, drawn with little: no HTML, no images, and links that say where they lead.

What hides is labelled before anything is read as Markdown. Headings are smaller than ours, links
go through the leave page with their host beside them, an image is a line of text: whoever put it
there would otherwise see who reads. What Markdown keeps to itself, which is titles of links,
definitions that nothing refers to and words behind a fence, is drawn too: whoever approves a text
approves that with it. Behind all that an allow-list takes out whatever is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from itertools import pairwise
from urllib.parse import quote, urlencode

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup

from sayso.channels.urls import Url, url_of
from sayso.model.text import hides, visible
from sayso.web.look.text import badge, shown

MOST = 50_000
_MOST_SIGNS = 4_000  # each bracket that is open is looked at again at every other one
_SIGNS = "[*_~<`"
_MOST_LINES = 4_000
_MOST_CELLS = 5_000
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LABEL = re.compile(r"\[U\+([0-9A-F]{4,6}) ([^\]]*)\]")
# Every private character of the text is labelled by then, so that these are ours alone.
_OPEN, _BETWEEN, _CLOSE, _AND = "\ue000", "\ue001", "\ue002", "\ue003"
_ENCODED = quote(_OPEN)[:-1]  # as all of them begin
_ENTITY = re.compile(r"&(?:#[xX]?[0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{1,31});")
_PREFIX = re.compile(r"[\s>]*")
_PIPE = re.compile(r"(?<!\\)\|")
_MARKED = re.compile(f"{_OPEN}([0-9A-F]+){_BETWEEN}([^{_CLOSE}]*){_CLOSE}")
_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code"),
    *("em", "strong", "s", "a", "span", "table", "thead", "tbody", "tr", "th", "td"),
}
_BLOCKS = frozenset({"p", "h3", "h4", "h5", "h6", "li", "blockquote", "th", "td", "ul", "ol"})
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, **{tag: {"dir"} for tag in _BLOCKS - {"ol"}}}


@dataclass(frozen=True, slots=True)
class Outside:
    """Where a link leads, for the page that asks before one goes there."""

    host: str
    url: str
    warnings: tuple[str, ...] = ()


def outside(url: str) -> Outside | None:
    """Return where a link leads; `None` if it is nowhere that we would send anybody."""
    found = _web(url)
    return None if found is None else Outside(found.host, url, found.warnings)


def _web(url: str) -> Url | None:
    if hides(url, lines=False) or "\\" in url or _ENCODED in url.upper():
        return None
    found = url_of(url)
    return found if found is not None and found.web else None


def prose(text: object) -> Markup:
    """Draw Markdown safely; what is too long or too dense for that is drawn as it is.

    So is a table with more cells in a row than in its head: Markdown would leave them out.
    """
    whole = str(text)
    if len(whole) > MOST or _is_dense(whole):
        return _plain(whole)
    seen = visible(whole, lines=True)
    if len(seen) > 2 * MOST:  # little but labels
        return _plain(whole)
    marked = _ENTITY.sub(_unread, _LABEL.sub(_mark, seen))
    lost: dict[str, bool] = {}
    drawn = _markdown().render(marked, lost)
    if lost.get("cells"):
        return _plain(whole)
    clean = nh3.clean(
        drawn,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes={"span": {"host", "image", "source"}},
        link_rel="noopener noreferrer nofollow",
        url_schemes=set(),
    )
    badged = _MARKED.sub(lambda found: str(badge(found[1], found[2])), clean).replace(_AND, "&amp;")
    return Markup('<div class="prose" dir="auto">{}</div>').format(Markup(badged))  # noqa: S704


def _plain(whole: str) -> Markup:
    return Markup('<div class="prose plain">{}</div>').format(shown(whole))


def _is_dense(text: str) -> bool:
    """Whether a text has more to draw than anybody writes, however short it is."""
    signs = sum(map(text.count, _SIGNS))
    lines = text.count("\n")
    return signs > _MOST_SIGNS or lines > _MOST_LINES or _cells(text) > _MOST_CELLS


def _cells(text: str) -> int:
    """Return how many cells its tables can have at most: short rows are filled up when drawn."""
    blocks = (block.split("\n") for block in _BLANK_LINE.split(text) if "|" in block)
    return sum((1 + max(line.count("|") for line in lines)) * len(lines) for lines in blocks)


def _mark(label: re.Match[str]) -> str:
    return f"{_OPEN}{label[1]}{_BETWEEN}{label[2]}{_CLOSE}"


def _unread(entity: re.Match[str]) -> str:
    """Keep an entity as it is written if it stands for something that hides."""
    return entity[0].replace("&", _AND) if hides(unescape(entity[0])) else entity[0]


@cache
def _markdown() -> MarkdownIt:
    options = {"html": False, "linkify": False, "inline_definitions": True}
    markdown = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    markdown.core.ruler.push("ours", _ours)
    return markdown


def _ours(state: StateCore) -> None:
    lines = state.src.split("\n")
    state.env["cells"] = _drops(state.tokens, lines)
    state.tokens = [one for token in state.tokens for one in _block(token, lines)]


def _drops(tokens: Sequence[Token], lines: Sequence[str]) -> bool:
    """Say whether a row of a table has more cells with something in them than its head has."""
    columns = 0
    for before, token in pairwise(tokens):
        if token.type == "thead_open":
            columns = 0
        columns += token.type == "th_open"
        if (before.type, token.type) == ("tr_open", "td_open"):
            row = lines[before.map[0]] if before.map else ""
            inside = _PREFIX.sub("", row, count=1).strip().removeprefix("|")
            if "".join(_PIPE.split(inside)[columns:]).strip():
                return True
    return False


def _block(token: Token, lines: Sequence[str]) -> Iterator[Token]:
    """Yield a block as we draw it, with what would not be seen of it before it."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
    if token.tag in _BLOCKS and token.nesting == 1:
        token.attrSet("dir", "auto")
    if token.type == "fence":
        yield from _said(token.info.strip())
        token.info = ""
    if token.children:
        token.children = list(_inline(token.children))
    if token.type == "definition":
        first, end = token.map or (0, 0)
        yield from _said("\n".join(lines[first:end]))
    else:
        yield token


def _said(words: str) -> Iterator[Token]:
    if words:
        yield Token("paragraph_open", "p", 1, attrs={"dir": "auto"})
        yield from _aside("source", words)
        yield Token("paragraph_close", "p", -1)


def _inline(tokens: list[Token]) -> Iterator[Token]:
    """Yield what stands in a line, with links that say their host and images as words."""
    target, title, words = "", "", ""
    for token in tokens:
        if token.type == "link_open":
            target, title, words = str(token.attrGet("href") or ""), _title(token), ""
            found = _web(target)
            token.attrs = {} if found is None else {"href": f"/leave?{urlencode({'to': target})}"}
            token.tag = "span" if found is None else "a"
            yield token
        elif token.type == "link_close":
            found = _web(target)
            token.tag = "span" if found is None else "a"
            yield token
            yield from _host(words, target, found, title)
        elif token.type == "image":
            yield from _image(token)
        else:
            words += token.content
            yield token


def _title(token: Token) -> str:
    title = token.attrGet("title")
    return f"; its title: {title}" if title else ""


def _host(words: str, target: str, found: Url | None, title: str) -> Iterator[Token]:
    """Yield where a link leads, unless its words are just that, and its title."""
    where = target if found is None else found.host
    if found is not None and words.strip() in (where, target) and not title:
        return
    yield from _aside("host", f" ({where or 'leads nowhere'}{title})")


def _image(token: Token) -> Iterator[Token]:
    source = str(token.attrGet("src") or "")
    found = _web(source)
    where = found.host if found is not None else source[:80] or "nowhere"
    yield from _aside(
        "image", f"image: {token.content or 'without words'} ({where}{_title(token)})"
    )


def _aside(kind: str, words: str) -> Iterator[Token]:
    opening, text = Token("aside_open", "span", 1), Token("text", "", 0)
    opening.attrs = {"class": kind}
    text.content = words
    yield from (opening, text, Token("aside_close", "span", -1))
