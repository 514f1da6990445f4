"""Tables of a TOML text, read key by key; whatever is wrong is said with its line and column."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from sayso.errors import BadPolicy, BadValue
from sayso.model.names import check_name
from sayso.model.requirement import Requirement
from sayso.model.span import span
from sayso.model.text import hides, one_line
from sayso.policy.places import Path, Places, normal, places

_AT = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")


def document(text: str, source: str = "") -> Table:
    """Read a TOML text.

    Raises:
        BadPolicy: it is no TOML.
    """
    plain = normal(text)
    try:
        given = tomllib.loads(plain)
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        line, column = Places(plain, {}, {}).end
        if at and at[1]:
            line, column = int(at[1]), int(at[2])
        reason = f"{_AT.sub('', str(error)).strip()}."
        if at and not at[1]:
            reason += " The file ends too early; something before is not closed."
        raise BadPolicy(reason, line=line, column=column, file=source) from None
    except RecursionError:
        raise BadPolicy("It is nested too deep.", line=1, column=1, file=source) from None
    return Table(given, (), places(plain), source)


class Table:
    """One table, and where it stands."""

    def __init__(self, given: Mapping[str, Any], path: Path, at: Places, source: str) -> None:
        self._given = given
        self._path = path
        self._at = at
        self._source = source

    def __contains__(self, key: str) -> bool:
        """Whether it has this key."""
        return key in self._given

    def __iter__(self) -> Iterator[str]:
        """Go through its keys in order."""
        return iter(self._given)

    def get(self, key: str, default: object = None) -> Any:  # noqa: ANN401 - TOML
        """Return what it says, whatever that is."""
        return self._given.get(key, default)

    @property
    def line(self) -> int | None:
        """The line it begins on."""
        place = self._at.of(self._path)
        return place[0] if place else None

    def line_of(self, key: str) -> int | None:
        """Return the line of a key."""
        place = self._at.of((*self._path, key))
        return place[0] if place else None

    # --- what is wrong ---

    def fail(self, key: str | int | None, reason: str, *, at_key: bool = False) -> NoReturn:
        """Refuse the text because of this value, or of the whole table."""
        path = self._path if key is None else (*self._path, key)
        self._refuse(self._at.of(path, key=at_key), reason)

    def fail_inside(self, key: str, error: BadPolicy) -> NoReturn:
        """Refuse the text because of a place in one of its texts."""
        path = (*self._path, key)
        self._refuse(self._at.inside(path, error.line or 1, error.column or 1), error.reason)

    def _refuse(self, place: tuple[int, int] | None, reason: str) -> NoReturn:
        line, column = place or (1, 1)
        raise BadPolicy(reason, line=line, column=column, file=self._source) from None

    def only(self, *known: str) -> None:
        """Refuse keys that it cannot have."""
        for key in self._given:
            if key not in known:
                import difflib  # only for whoever misspelt one

                near = difflib.get_close_matches(key, known, n=1)
                hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}."
                shown = one_line(key, 60)
                self.fail(key, f"There is no {shown!r} here. {hint}", at_key=True)

    # --- what it says ---

    def table(self, key: str) -> Table:
        """Return a table in it, empty if there is none."""
        given = self._given.get(key, {})
        if not isinstance(given, dict):
            self.fail(key, f"{key} is a table: {self._header(key)}.")
        return Table(given, (*self._path, key), self._at, self._source)

    def tables(self, key: str) -> list[Table]:
        """Return the tables of a list of them."""
        given = self._given.get(key, [])
        if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
            self.fail(key, f"{key} is a list of tables, each under [{self._header(key)}].")
        path = (*self._path, key)
        return [
            Table(each, (*path, number), self._at, self._source)
            for number, each in enumerate(given)
        ]

    def _header(self, key: str) -> str:
        return f"[{'.'.join(str(part) for part in (*self._path, key))}]"

    def flag(self, key: str) -> bool:
        """Return true or false, false if it does not say."""
        said = self._given.get(key, False)
        if not isinstance(said, bool):
            self.fail(key, f"{key} is true or false.")
        return said

    def sentence(self, key: str) -> str:
        """Return a text on one line that people can read, empty if it does not say."""
        said = self._given.get(key, "")
        if not isinstance(said, str):
            self.fail(key, f"{key} is a text.")
        said = " ".join(said.split())
        if hides(said, lines=False):
            self.fail(key, f"{key} holds characters that cannot be seen: {one_line(said, 80)}")
        return said

    def texts(self, key: str, example: str) -> tuple[str, ...]:
        """Return one text or several, none if it does not say."""
        given = self._given.get(key, [])
        several = [given] if isinstance(given, str) else given
        if not isinstance(several, list) or (key in self._given and not several):
            self.fail(key, f"{key} names one or more, such as {example}.")
        for number, each in enumerate(several):
            if not isinstance(each, str) or not each.strip():
                self.fail(key, f"{key} holds {each!r} in place {number + 1}, which is no name.")
        return tuple(several)

    def names(self, key: str, what: str) -> tuple[str, ...]:
        """Return a list of names of people or roles."""
        given = self._given.get(key)
        if not isinstance(given, list):
            self.fail(key, f'{key} is a list of names, such as ["anna"].')
        return tuple(self.plain(each, what, key) for each in given)

    def plain(self, name: object, what: str, key: str, *, at_key: bool = False) -> str:
        """Return a name that can be one."""
        try:
            return check_name(what, name)
        except BadValue as error:
            self.fail(key, str(error), at_key=at_key)

    def span(self, key: str) -> float | None:
        """Return a span of time in seconds."""
        if key not in self._given:
            return None
        try:
            return span(self._given[key]).total_seconds()
        except BadValue as error:
            self.fail(key, str(error))

    def needs(self, *, deny: int = 1) -> Requirement | None:
        """Return who must agree, by `needs` and `deny`; `None` if it says neither."""
        given = self._given.get("needs")
        if given is None and "deny" not in self._given:
            return None
        if given is not None and not isinstance(given, str | list):
            self.fail("needs", 'needs is a list such as ["1 senior", "1 security"].')
        try:
            Requirement.parse(None, deny=self._given.get("deny", deny))
        except BadValue as error:
            self.fail("deny", str(error))
        try:
            return Requirement.parse(given, deny=self._given.get("deny", deny))
        except BadValue as error:
            self.fail("needs", str(error))
