"""A form as a browser has it: drawn as HTML, parsed, and sent with everything that stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import sayso.web
from sayso.web.forms.fields import Field, Form
from sayso.web.look import text

_TEMPLATES = Path(sayso.web.__file__).parent / "templates"
EDIT = "/inbox/a1/edit"
# What browsers make of a value that their input does not take: nothing.
_TAKEN = {
    "number": re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"),
    "date": re.compile(r"[0-9]{4,}-[0-9]{2}-[0-9]{2}"),
    "time": re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?"),
    "datetime-local": re.compile(r"[0-9]{4,}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?"),
}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    made.filters |= {"line": text.line, "shown": text.shown}
    return made


def drawn(form: Form | Field) -> str:
    """Return the HTML of a form, or of one field."""
    macro = "form" if isinstance(form, Form) else "field"
    source = f'{{% from "forms.html" import {macro} %}}{{{{ {macro}(it, "{EDIT}") }}}}'
    return _environment().from_string(source).render(it=form)


@dataclass
class Element:
    tag: str
    attrs: dict[str, str]
    text: str = ""
    inside: list[Element] = field(default_factory=list)


class Page(HTMLParser):
    """The elements of a form, and what it sends."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice: {names}"
        made = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(made)
        for outer in self._open:
            outer.inside.append(made)
        if tag != "input":
            self._open.append(made)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"{tag} closes {self._open[-1].tag}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for outer in self._open:
            outer.text += data

    def sent(self) -> dict[str, list[str]]:
        """Return what a browser sends if the form is sent as it is."""
        sending: dict[str, list[str]] = {}
        for element in self.elements:
            name = element.attrs.get("name")
            if name and "disabled" not in element.attrs:
                for value in _values(element):
                    sending.setdefault(_lines(name), []).append(_lines(value))
        return sending

    def named(self, name: str) -> Element:
        return next(element for element in self.elements if element.attrs.get("name") == name)


def _values(element: Element) -> Iterator[str]:
    if element.tag == "textarea":
        yield element.text.removeprefix("\n")
    elif element.tag == "select":
        options = [one for one in element.inside if one.tag == "option"]
        chosen = [one for one in options if "selected" in one.attrs] or options[:1]
        yield from (one.attrs["value"] for one in chosen)
    elif element.tag == "input":
        kind = element.attrs.get("type", "text")
        if kind != "checkbox" or "checked" in element.attrs:
            yield _kept(kind, element.attrs.get("value", ""))


def _kept(kind: str, value: str) -> str:
    if kind in _TAKEN:
        return value if _TAKEN[kind].fullmatch(value) else ""
    if kind in {"email", "url"}:
        assert value.isascii()  # browsers write other hosts in ASCII
        value = value.strip(" \t\f")
    return value if kind == "hidden" else re.sub(r"[\r\n]", "", value)


def _lines(value: str) -> str:
    # Reading HTML makes every line end a line feed, sending makes it CR LF; there are no NULs.
    value = value.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return value.replace("\n", "\r\n")


def every(fields: tuple[Field, ...]) -> Iterator[Field]:
    """Go through all fields, however deep."""
    for one in fields:
        yield one
        yield from every(one.children)
