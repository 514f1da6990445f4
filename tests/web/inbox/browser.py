"""A browser without scripts: it reads pages, fills in forms, and presses their buttons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import httpx2

from tests.served import Served

VOID = frozenset(("input", "meta", "link", "br", "img", "hr", "use", "path"))
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@dataclass
class Node:
    """An element of a page."""

    tag: str
    attrs: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)
    parent: Node | None = None

    def walk(self) -> Iterator[Node]:
        for child in self.children:
            if isinstance(child, Node):
                yield child
                yield from child.walk()

    def all(self, tag: str | None = None, **attrs: str) -> list[Node]:
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attrs.items()}
        return [node for node in self.walk() if node.fits(tag, wanted)]

    def one(self, tag: str | None = None, **attrs: str) -> Node:
        found = self.all(tag, **attrs)
        assert len(found) == 1, f"{len(found)} of {tag} {attrs}"
        return found[0]

    def fits(self, tag: str | None, wanted: dict[str, str]) -> bool:
        if tag is not None and self.tag != tag:
            return False
        for name, value in wanted.items():
            given = self.attrs.get(name)
            same = given is not None and (
                value in given.split() if name == "class" else given == value
            )
            if not same:
                return False
        return True

    @property
    def text(self) -> str:
        parts = (child if isinstance(child, str) else child.text for child in self.children)
        return " ".join(" ".join(parts).split())

    @property
    def above(self) -> Iterator[Node]:
        """The elements that it stands in, from the inside out."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def raw(self) -> str:
        return "".join(c if isinstance(c, str) else c.raw for c in self.children)

    def inside(self, tag: str, **attrs: str) -> bool:
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attrs.items()}
        return any(node.fits(tag, wanted) for node in self.above)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.here = Node("document")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs}, parent=self.here)
        assert len(node.attrs) == len(attrs), f"{tag} has an attribute twice: {attrs}"
        self.here.children.append(node)
        if tag not in VOID:
            self.here = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.children.append(Node(tag, {n: v or "" for n, v in attrs}, parent=self.here))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        assert self.here.parent is not None
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        first = self.here.tag == "textarea" and not self.here.children
        self.here.children.append(data.removeprefix("\n") if first else data)


def read(text: str) -> Node:
    """Read HTML, whose elements close each other and have each attribute once."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.here is reader.root, f"<{reader.here.tag}> is not closed"
    return reader.root


Pairs = list[tuple[str, str]]


def filled(page: Node, form: Node) -> Pairs:
    """What a browser sends of a form, before any button is pressed."""
    pairs: Pairs = []
    for node in page.walk():
        if not _belongs(node, form) or "name" not in node.attrs or _disabled(node):
            continue
        name, kind = node.attrs["name"], node.attrs.get("type", "text")
        if node.tag == "textarea":
            pairs.append((name, _lines(node.raw)))
        elif node.tag == "select":
            chosen = [o for o in node.all("option") if "selected" in o.attrs] or node.all("option")[
                :1
            ]
            pairs += [(name, one.attrs.get("value", one.text)) for one in chosen]
        elif node.tag == "input" and kind in ("checkbox", "radio"):
            if "checked" in node.attrs:
                pairs.append((name, node.attrs.get("value", "on")))
        elif node.tag == "input" and kind not in ("submit", "button", "file"):
            pairs.append((name, _lines(node.attrs.get("value", ""))))
    return pairs


def _lines(value: str) -> str:
    # Reading HTML makes every line end a line feed, sending makes it CR LF; there are no NULs.
    value = value.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return value.replace("\n", "\r\n")


def _belongs(node: Node, form: Node) -> bool:
    if "form" in node.attrs:
        return node.attrs["form"] == form.attrs.get("id")
    return next((above for above in node.above if above.tag == "form"), None) is form


def _disabled(node: Node) -> bool:
    return any("disabled" in one.attrs for one in (node, *node.above))


class Tab:
    """One page after the other, as somebody without scripts goes through them."""

    def __init__(self, client: httpx2.Client) -> None:
        self.client = client
        self.client.headers.update(HTML)

    def go(self, address: str) -> Tab:
        self.answer = self.client.get(address, follow_redirects=True)
        self._read()
        return self

    def _read(self) -> None:
        self.page = read(self.answer.text)

    def press(self, button: Node | None = None, form: str | None = None, **typed: Any) -> Tab:
        """Fill fields in (by name; `None` leaves one out) and press a button."""
        place = self._form(button, form)
        pairs = filled(self.page, place)
        for name, value in typed.items():
            pairs = _put(pairs, name, value)
        action = place.attrs.get("action", "")
        if button is not None:
            action = button.attrs.get("formaction", action)
            if "name" in button.attrs:
                pairs.append((button.attrs["name"], _lines(button.attrs.get("value", ""))))
        self.sent, self.action = pairs, action
        return self.send()

    def send(self) -> Tab:
        """Send what was sent last, again."""
        self.direct = self.client.post(self.action, content=encoded(self.sent), headers=FORM)
        self.answer = self.direct
        if self.direct.status_code == 303:
            self.answer = self.client.get(self.direct.headers["location"], follow_redirects=True)
        self._read()
        return self

    def form(self, ask_id: str) -> Node:
        """The form that decides an ask."""
        return self.page.one("form", id=f"decide-{ask_id}")

    def _form(self, button: Node | None, form: str | None) -> Node:
        wanted = form or (button.attrs.get("form") if button is not None else None)
        if wanted is not None:
            return self.page.one("form", id=wanted)
        assert button is not None
        return next(node for node in button.above if node.tag == "form")

    def verdict(self, verdict: str, **typed: Any) -> Tab:
        """Press the button of a verdict in the bar; in a doubt, of one of the three choices."""
        shown = [one for one in self.page.all("button", name="verdict") if self._says(one, verdict)]
        return self.press(shown[0], **typed)

    @staticmethod
    def _says(button: Node, verdict: str) -> bool:
        decides = button.inside("div", class_="bar") or button.inside("section", class_="doubt")
        return decides and button.attrs["value"] == verdict

    def held(self, ask_id: str) -> Node:
        """The line of a decision that can still be taken back."""
        (tray,) = self.page.all("section", id="held")
        return tray.one("li", data_ask=ask_id)

    @property
    def buttons(self) -> list[Node]:
        """The verdicts that can be given to the ask on the screen."""
        found = self.page.all("button", name="verdict")
        return [one for one in found if one.inside("div", class_="bar") and "data-key" in one.attrs]

    @property
    def status(self) -> int:
        return self.direct.status_code if hasattr(self, "direct") else self.answer.status_code

    @property
    def ask(self) -> str:
        """Which ask is on the screen."""
        return self.page.one("article").attrs["data-ask"]

    @property
    def rows(self) -> list[str]:
        return [node.attrs["data-ask"] for node in self.page.all("li", class_="row")]

    @property
    def banner(self) -> Node:
        return self.page.one("div", id=f"banner-{self.ask}")

    @property
    def state(self) -> str:
        """How the banner says that the ask stands."""
        return self.banner.all("div")[0].attrs["data-state"]

    @property
    def summary(self) -> str:
        found = (
            node for node in self.page.walk() if node.attrs.get("id", "").startswith("problems-")
        )
        return " ".join(node.text for node in found)


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def encoded(pairs: Pairs) -> bytes:
    return urlencode(pairs).encode()


def _put(pairs: Pairs, name: str, value: Any) -> Pairs:
    """Put other values where there were some, or at the end."""
    place = next((n for n, pair in enumerate(pairs) if pair[0] == name), len(pairs))
    values = value if isinstance(value, list) else [] if value is None else [value]
    rest = [pair for pair in pairs if pair[0] != name]
    return [*rest[:place], *((name, one) for one in values), *rest[place:]]


def tab(server: Served, name: str | None) -> Tab:
    """Somebody at a browser, signed in."""
    return Tab(server.signed_in(name))
