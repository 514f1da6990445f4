"""The policy in force on a desk: the built-in one, or that of a file, read again when it changes.

A file that is broken when the desk opens is an error. One that breaks while the
desk is at work changes nothing: the policy before it stays in force, loudly. So
does one that asks for people whom the desk does not have (E21).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sayso.autonomy.terms import DETECTION
from sayso.errors import BadPolicy, StoreError
from sayso.model.actor import Roster
from sayso.policy.rules import Policy

if TYPE_CHECKING:  # what reads and checks files is loaded when the first one is read
    from sayso.policy.checking import Problem

_log = logging.getLogger("sayso.policy")
LOOK_AGAIN = 1.0  # seconds
FILE = "sayso.toml"

_State = tuple[int, int, int]


def toss() -> float:
    """Return a number from 0 up to 1 that nobody could have known."""
    return int.from_bytes(os.urandom(7)) / 2**56


@cache
def default_policy() -> Policy:
    """Return the policy that applies where nothing else is said."""
    from importlib.resources import files

    from sayso.policy.reading import read

    text = files("sayso.policy").joinpath("default.toml").read_text("utf-8")
    return read(text, source="default.toml")


def read_policy(path: Path) -> Policy:
    """Read a policy from a file.

    Raises:
        BadPolicy: it cannot be read, or makes no sense.
    """
    from sayso.policy.reading import read

    try:
        text = path.read_text("utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadPolicy(f"The policy cannot be read: {reason}.", file=str(path)) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        column = error.start - (error.object[: error.start].rfind(b"\n") + 1) + 1
        raise BadPolicy(
            "The policy is not written in UTF-8. Save it in that encoding.",
            line=line,
            column=column,
            file=str(path),
        ) from error
    return read(text, source=str(path), default=default_policy())


def speaks_of_policy(path: Path) -> bool:
    """Whether a file has a policy in it; `sayso.toml` may only say where the desk is."""
    import tomllib

    from sayso.policy.places import normal
    from sayso.policy.reading import ELSEWHERE

    try:
        given = tomllib.loads(normal(path.read_text("utf-8")))
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return True  # then it should be read, and what is wrong be said
    return any(section not in ELSEWHERE for section in given)


@dataclass(frozen=True, slots=True)
class Law:
    """The policy in force, and how the file stands that it came from.

    Attributes:
        policy: The rules in force.
        kind: Whether they are the default ones, those of a file, or made in code.
        file: Where they are written, or would be.
        age: For how many seconds they have been in force here.
        trouble: Why what the file says now is not in force; `None` if it is.
        pending: Whether the file has just changed, and is taken over once it stays as it is.
    """

    policy: Policy
    kind: Literal["default", "file", "code"]
    file: Path | None
    age: float
    trouble: str | None = None
    pending: bool = False


class Lawbook:
    """Where the rules of one desk are written.

    Threads share it without a lock: at worst two of them read the file at once.
    """

    def __init__(
        self,
        given: Policy | str | Path | None = None,
        *,
        look_again: float = LOOK_AGAIN,
        people: Callable[[], Roster] | None = None,
        coin: Callable[[], float] = toss,
    ) -> None:
        self.coin = coin  # decides which calls of a granted key are looked at all the same
        self._given = given if isinstance(given, Policy) else None
        self._policy: Policy | None = None
        self._people = people
        # Absolute, so that a program that goes to another folder keeps its policy.
        self._path = None if isinstance(given, Policy) else Path(given or FILE).absolute()
        self._named = isinstance(given, str | Path)
        self._look_again = look_again
        self._looked = 0.0
        self._seen: _State | None = None  # the file as it was when it was read
        self._new: _State | None = None  # as it was when it was found to have changed
        self._told: _State | None = None  # as it was when it was found not to fit the people
        self._since = time.monotonic()  # when what is in force was taken over
        self._trouble: tuple[_State | None, str] | None = (
            None  # which file is not in force, and why
        )

    @property
    def policy(self) -> Policy:
        """The policy in force.

        Raises:
            BadPolicy: it was broken from the beginning, or the people of the desk could never
                do what it wants.
        """
        if self._policy is None:
            return self._first()
        if self._path is not None and time.monotonic() - self._looked >= self._look_again:
            self._looked = time.monotonic()
            self._look(self._path)
        return self._policy

    @property
    def law(self) -> Law:
        """The policy in force, where it comes from, and whether its file says something else by now.

        Raises:
            BadPolicy: there is none that could be in force.
        """
        policy = self.policy
        state = None if self._path is None else _state(self._path)
        # What is in the file by now may be another thing than what was wrong with it.
        known = self._trouble is not None and self._trouble[0] == state
        return replace(
            self._told_of(policy, age=time.monotonic() - self._since),
            trouble=self._trouble[1] if self._trouble is not None and known else None,
            pending=not known and state != self._seen,
        )

    @property
    def broken(self) -> BadPolicy | None:
        """Why no policy can be in force, so that every ask is refused; `None` if one is."""
        try:
            self.policy  # noqa: B018 - read, and held against the people
        except BadPolicy as error:
            return error
        return None

    @property
    def draft(self) -> Law | None:
        """What is written, whether or not the people fit it; `None` if it makes no sense.

        It is to be looked at: nothing is ruled by it.
        """
        try:
            return self._told_of(self._written(), age=0.0)
        except BadPolicy:
            return None

    def widened(self, roster: Roster) -> Roster:
        """Return the people with the roles that the policy gives them.

        Under a policy that cannot be used they hold only their own: everything can be looked at
        and refused, and nothing is approved.
        """
        try:
            return self.policy.widened(roster)
        except BadPolicy:
            return roster

    @property
    def detection(self) -> float:
        """The share of bad calls that reviewers are taken to notice."""
        try:
            said = self.policy.earning.detection
        except BadPolicy:  # figures can be looked at under a policy that cannot be used
            said = None
        return DETECTION if said is None else said

    def _told_of(self, policy: Policy, *, age: float) -> Law:
        own: Literal["file", "code"] = "code" if self._path is None else "file"
        kind = "default" if policy is default_policy() else own
        return Law(policy, kind=kind, file=self._path, age=age)

    def _written(self) -> Policy:
        policy = self._given if self._path is None else self._read(self._path)
        return policy or default_policy()

    def _first(self) -> Policy:
        state = None if self._path is None else _state(self._path)
        policy = self._written()
        try:
            self._hold(policy)
        except StoreError:  # for others to complain of; it is held against the people next time
            return policy
        self._policy, self._seen, self._looked = policy, state, time.monotonic()
        self._since = self._looked
        return policy

    def _hold(self, policy: Policy) -> None:
        """Hold a policy against the people of the desk.

        Raises:
            BadPolicy: it asks for somebody who is not there.
            StoreError: they cannot be asked for.
        """
        if self._people is None or policy is default_policy():
            return
        from sayso.policy.checking import problems

        wrong = [problem for problem in problems(policy, self._people()) if problem.fatal]
        if wrong:
            raise _misfit(policy, wrong)

    def _read(self, path: Path) -> Policy:
        if not self._named and not speaks_of_policy(path):
            return default_policy()
        return read_policy(path)

    def _look(self, path: Path) -> None:
        """See whether the file has changed, and take it over if it has and is whole."""
        state = _state(path)
        if state == self._seen:
            self._new = None
            return
        # It may be half written, and half a policy may be a weaker one: it has to stay as it
        # is from one look to the next.
        if state is not None and state != self._new:
            self._new = state
            return
        if state is None:
            self._seen = self._new = None
            self._trouble = None, "The file is gone."
            _log.error("The policy %s is gone; what it said stays in force.", path)
            return
        try:
            policy = self._changed(path)
        except BadPolicy as error:
            self._seen, self._new = state, None
            self._trouble = state, str(error)
            _log.error("The policy was changed and is broken, so the one before stays: %s", error)
            return
        if self._fits(policy, state):
            self._seen, self._new = state, None
            self._take_over(policy, path)

    def _changed(self, path: Path) -> Policy:
        """Read it again. A file that was emptied, by a full disk perhaps, is no weaker policy."""
        policy = self._read(path)
        if policy is default_policy() and self._policy is not default_policy():
            raise BadPolicy(
                "Nothing of a policy is in it any more. To go back to the default one, write "
                "`default = true` into it.",
                file=str(path),
            )
        return policy

    def _fits(self, policy: Policy, state: _State) -> bool:
        """Whether the desk has the people for it. If not, it is tried again: they may come."""
        try:
            self._hold(policy)
        except StoreError:  # it waits until there is a desk to hold it against
            return False
        except BadPolicy as error:
            if state != self._told:
                _log.error("The policy was changed, and the one before stays: %s", error)
            self._told = state
            self._trouble = state, str(error)
            return False
        return True

    def _take_over(self, policy: Policy, path: Path) -> None:
        self._trouble = None
        if self._policy is None or policy.version != self._policy.version:
            self._since = time.monotonic()
            _log.warning("The policy %s is in force in version %s.", path, policy.version)
        self._policy = policy


def _misfit(policy: Policy, wrong: Sequence[Problem]) -> BadPolicy:
    """Return what to say of a policy that the people of a desk could never do."""
    more = f" And {len(wrong) - 1} more: sayso policy check" if len(wrong) > 1 else ""
    first = wrong[0]
    return BadPolicy(
        f"The people of this desk could never do what the policy wants. "
        f"{first.about}: {first.reason}{more}",
        line=first.line,
        file="" if policy.version is None else policy.source,  # made in code, it has no file
    )


def _state(path: Path) -> _State | None:
    """Return what tells one content of a file from another; `None` if it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
