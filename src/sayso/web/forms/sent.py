"""What a browser sends of a form: texts under JSON Pointers, and marks that say how it was drawn.

    /items/0/amount   what stands in the input of that value
    set:/note         a value is there, even if its input is empty or sends nothing
    unset:/note       a value was proposed here and was left out
    from:/items/0     there is such a row; its place in what was proposed, empty for a new one
    variant:/pay      which variant is chosen, empty for none
    drawn:/pay        which variant was on the page
    extra:/headers/x  a key that the schema does not name
    new:/headers      the name of a key that is to be added
    json:/filter      the text at that pointer is JSON

Whatever is not sent stays as it was proposed. The value as a whole, which has the empty pointer
and would have no name, is sent as `#`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

Posted: TypeAlias = Mapping[str, Sequence[str]]

MOST_SENT = 5_000
MARKS = frozenset({"set", "unset", "from", "variant", "drawn", "extra", "new", "json"})
WHOLE: Final = "#"


class Missing:
    """Nothing, which is not the same as null."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
Value: TypeAlias = Any  # JSON, or MISSING


def pointer_to(parent: str, name: str | int) -> str:
    """Return the JSON Pointer of a value inside another."""
    return f"{parent}/{str(name).replace('~', '~0').replace('/', '~1')}"


def name_in(pointer: str) -> str:
    """Return the last name of a JSON Pointer."""
    return pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def _whole(text: str) -> str:
    """Return a text without halves of characters, which nothing could store."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


class Sent:
    """What was sent, by name. Nothing at all if the form is drawn for the first time."""

    def __init__(self, posted: Posted | None) -> None:
        self._texts = {
            name: [_whole(text) for text in sent] for name, sent in (posted or {}).items()
        }
        self._extras: dict[str, list[str]] = {}
        for name in self._texts:
            if name.startswith("extra:"):
                parent, _, key = name.removeprefix("extra:").rpartition("/")
                self._extras.setdefault(parent, []).append(name_in(f"/{key}"))

    @property
    def too_much(self) -> bool:
        """Whether there is more than any form of ours sends."""
        return len(self._texts) > MOST_SENT

    def all(self, name: str) -> Sequence[str]:
        """Return every text that was sent under a name."""
        return self._texts.get(name, ())

    def text(self, name: str) -> str | None:
        """Return the text that was sent under a name."""
        texts = self.all(name)
        return texts[-1] if texts else None

    def marked(self, mark: str, name: str) -> bool:
        """Whether a mark was sent for a name."""
        return f"{mark}:{name}" in self._texts

    def rows(self, pointer: str) -> list[str] | None:
        """Return where each row came from, `None` if nothing was sent about a list."""
        rows: list[str] = []
        while (origin := self.text(f"from:{pointer}/{len(rows)}")) is not None:
            rows.append(origin)
        return rows if rows or self.marked("set", pointer) else None

    def extras(self, pointer: str) -> list[str]:
        """Return the keys of an object that its schema does not name."""
        return self._extras.get(pointer, [])
