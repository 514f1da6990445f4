"""Where in a TOML text something stands: `tomllib` tells only of what it cannot read at all.

The text is known to be valid, so this walks over it and notes where keys and values begin.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass

Path = tuple[str | int, ...]
Place = tuple[int, int]  # line and column, from 1

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_NAME = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_TEXT = re.compile(
    r'''"""(?:[^\\]|\\.)*?""""{0,2}'''
    r"""|'''.*?''''{0,2}"""
    r'''|"(?:[^"\\\n]|\\.)*"'''
    r"""|'[^'\n]*'""",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}\n#]+")
_ESCAPE = re.compile(r"\\(?:u.{4}|U.{8}|[ \t]*\n[ \t\n]*|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the keys and the values of a document begin."""

    text: str
    keys: dict[Path, int]
    values: dict[Path, int]

    def of(self, path: Path, *, key: bool = False) -> Place | None:
        """Return where a value stands, or its key; the nearest thing around it that is known."""
        while path:
            found = self.keys.get(path) if key else self.values.get(path, self.keys.get(path))
            if found is not None:
                return self._place(found)
            path = path[:-1]
        return None

    def inside(self, path: Path, line: int, column: int) -> Place | None:
        """Return where in the document this place of a text value is."""
        start = self.values.get(path)
        found = None if start is None else _TEXT.match(self.text, start)
        if found is None:
            return self.of(path)
        at = _offsets(found[0])
        lines = "".join(found[0][offset] if char else "\n" for offset, char in at).split("\n")
        index = sum(len(row) + 1 for row in lines[: line - 1]) + column - 1
        offset = at[index][0] if index < len(at) else len(found[0]) - 1
        return self._place(found.start() + offset)

    @property
    def end(self) -> Place:
        """The last place of the document that says something."""
        return self._place(max(len(self.text.rstrip()) - 1, 0))

    def _place(self, offset: int) -> Place:
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def normal(text: str) -> str:
    """Return the text as `tomllib` sees it, without the mark some editors put first."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def places(text: str) -> Places:
    """Return where everything in a valid document stands."""
    walk = _Walk(text)
    walk.document()
    return Places(text, walk.keys, walk.values)


class _Walk:
    """One walk over a document."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.keys: dict[Path, int] = {}
        self.values: dict[Path, int] = {}
        self._counts: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        while self._over(_BLANK) < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _over(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at + 1
        return self.at

    def _header(self) -> Path:
        start, several = self.at, self.text.startswith("[[", self.at)
        self.at += 2 if several else 1
        names = self._dotted()
        self.at += 2 if several else 1
        path: Path = ()
        for number, name in enumerate(names, start=1):
            path = (*path, name)
            if several and number == len(names):
                self.keys.setdefault(path, start)
                self._counts[path] = self._counts.get(path, -1) + 1
            if path in self._counts:  # whatever follows belongs to its latest element
                path = (*path, self._counts[path])
        self.keys[path] = self.values[path] = start
        return path

    def _dotted(self) -> list[str]:
        names = []
        while True:
            self._over(_SPACE)
            found = _NAME.match(self.text, self.at)
            token = found[0] if found else ""
            self.at += len(token)
            names.append(_text(token) if token[:1] in ("'", '"') else token)
            self._over(_SPACE)
            if self.text[self.at : self.at + 1] != ".":
                return names
            self.at += 1

    def _pair(self, table: Path) -> None:
        start = self.at
        names = self._dotted()
        for count in range(1, len(names) + 1):
            self.keys.setdefault((*table, *names[:count]), start)
        self.at += 1  # the equals sign
        self._over(_SPACE)
        self._value((*table, *names))

    def _value(self, path: Path) -> None:
        self.values[path] = self.at
        match self.text[self.at]:
            case "[":
                self._several(path, "]")
            case "{":
                self._several(path, "}")
            case '"' | "'":
                self._over(_TEXT)
            case _:
                self._over(_PLAIN)

    def _several(self, path: Path, end: str) -> None:
        self.at += 1
        count = 0
        while self.text[self._over(_BLANK)] != end:
            if self.text[self.at] == ",":
                self.at += 1
            elif end == "]":
                self._value((*path, count))
                count += 1
            else:
                self._pair(path)
        self.at += 1


def _text(token: str) -> str:
    return str(tomllib.loads(f"x = {token}")["x"])


def _offsets(token: str) -> list[tuple[int, bool]]:
    """Return for every character of a text where in its token it is written, and whether as it is."""
    long = token.startswith(('"""', "'''"))
    literal = token.startswith("'")
    start, end = (3, len(token) - 3) if long else (1, len(token) - 1)
    if long and token.startswith("\n", 3):
        start = 4
    found = []
    while start < end:
        escape = None if literal else _ESCAPE.match(token, start)
        if escape is None:
            found.append((start, True))
            start += 1
            continue
        if not escape[0][1:].isspace():
            found.append((start, escape[0] != "\\n"))
        start = escape.end()
    return found
