"""The policy in force on a desk: the built-in one, or that of a file.

The file is looked at for each ruling, so that a change counts from the next one on (E54).
A file that is broken when the desk opens is an error. One that breaks while the
desk is at work changes nothing: the policy before it stays in force, loudly. So
does one that asks for people whom the desk never had (E21). If they were there and have left,
it is in force, and only what needs them is refused (E59).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from sayso.asks.law import NO_LAW, CodedTools, Law, law_of, mark_of
from sayso.autonomy.terms import DETECTION
from sayso.errors import BadPolicy, StoreError
from sayso.model.actor import Roster
from sayso.policy.rules import Policy
from sayso.store.contract import Store

if TYPE_CHECKING:  # what reads and checks files is loaded when the first one is read
    from sayso.policy.checking import Problem

_log = logging.getLogger("sayso.policy")
FILE = "sayso.toml"
SETTLE = 0.05  # seconds for which a changed file stays as it is before it is read
TRY_AGAIN = 1.0  # seconds until a policy that does not fit the people is held against them again
_TRIES = 20

_State = tuple[int, int, int, int]


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

    return read(policy_text(path), source=str(path), default=default_policy())


def policy_text(path: Path) -> str:
    """Return the text of a policy as it is published: the schemas beside it are written out in it.

    Raises:
        BadPolicy: it cannot be read, or is no TOML.
    """
    from sayso.policy.declaring import whole

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
    return whole(text, lambda name: (path.parent / name).read_text("utf-8"), str(path))


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


class InForce(NamedTuple):
    """What one ruling goes by: a policy, and the law that says that it is in force."""

    policy: Policy
    mark: bytes
    law: Law


@dataclass(frozen=True, slots=True)
class PolicyStatus:
    """The policy in force, and how the file stands that it came from.

    Attributes:
        policy: The rules in force.
        kind: Whether they are the default ones, those of a file, or made in code.
        file: Where they are written, or would be.
        age: For how many seconds they have been in force here.
        trouble: Why what the file says now is not in force; `None` if it is.
        pending: Whether the file is being written right now, and is taken over when it is whole.
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
        settle: float = SETTLE,
        try_again: float = TRY_AGAIN,
        people: Callable[[], Roster] | None = None,
        past: Callable[[], Roster] | None = None,
        coin: Callable[[], float] = toss,
    ) -> None:
        self.coin = coin  # decides which calls of a granted key are looked at all the same
        self._given = given if isinstance(given, Policy) else None
        self._policy: Policy | None = None
        self._people, self._past = people, past
        # Absolute, so that a program that goes to another folder keeps its policy.
        self._path = None if isinstance(given, Policy) else Path(given or FILE).absolute()
        self._file = None if self._path is None else str(self._path)
        self._named = isinstance(given, str | Path)
        self._settle, self._try_again = settle, try_again
        self._seen: _State | None = None  # the file as it was when it was read
        # What was read and does not fit the people: how the file was, and when that was tried.
        self._unfit: tuple[_State, Policy, float] | None = None
        self._since = time.monotonic()  # when what is in force was taken over
        self._trouble: tuple[_State | None, str] | None = (
            None  # which file is not in force, and why
        )
        self._known: tuple[Store, InForce] | None = None  # the law as it was last read here
        self.tools = CodedTools()

    def current(self, store: Store, mark: bytes | None = None) -> InForce:
        """Return what a ruling goes by now: as last read here, unless its mark is another one by now.

        Args:
            store: The desk.
            mark: The mark of the law, where the rows that were just read say it.

        Raises:
            BadPolicy: there is no policy that could be in force.
            Tampered: the law is not what was written.
        """
        if self.tools.said is not store:
            self.tools.say(store)
            self._known = None
        known = None if self._known is None or self._known[0] is not store else self._known[1]
        if known is None or (mark is not None and mark != known.mark):
            law = law_of(store, NO_LAW if known is None else known.law)
            known = InForce(self.policy, law.mark, law)
            self._known = store, known
        policy = self.policy
        return known if policy is known.policy else known._replace(policy=policy)

    def moved(self, store: Store, mark: bytes) -> bool:
        """Whether the law is another one by now than that of this mark, by which somebody ruled.

        Whoever refuses and writes nothing asks first: by a law of before nothing is refused.
        """
        if mark_of(store) == mark:
            return False
        self._known = None
        return True

    @property
    def policy(self) -> Policy:
        """The policy in force.

        Raises:
            BadPolicy: it was broken from the beginning, or the people of the desk could never
                do what it wants.
        """
        if self._policy is None:
            return self._first()
        if self._file is not None:  # every ruling comes by here: one call, and no waiting
            try:
                found = os.stat(self._file)
            except OSError:
                state = None
            else:
                state = found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns
            if state != self._seen:
                self._look()
        return self._policy

    @property
    def law(self) -> PolicyStatus:
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
    def draft(self) -> PolicyStatus | None:
        """What is written, whether or not the people fit it; `None` if it makes no sense.

        It is to be looked at: nothing is ruled by it.
        """
        try:
            return self._told_of(self._written(), age=0.0)
        except BadPolicy:
            return None

    def widened(self, roster: Roster, mark: bytes | None = None) -> Roster:
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

    def _told_of(self, policy: Policy, *, age: float) -> PolicyStatus:
        own: Literal["file", "code"] = "code" if self._path is None else "file"
        kind = "default" if policy is default_policy() else own
        return PolicyStatus(policy, kind=kind, file=self._path, age=age)

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
        self._policy, self._seen, self._since = policy, state, time.monotonic()
        return policy

    @property
    def unmet(self) -> str | None:
        """Say what of the policy in force the people of now could never do; `None` if nothing.

        Only what needs those who are missing is refused.
        """
        try:
            wrong = self._misfit(self.policy, self._people)
        except (BadPolicy, StoreError):
            return None
        return None if wrong is None else str(wrong)

    def _hold(self, policy: Policy) -> None:
        """Hold a policy against the people of the desk.

        Raises:
            BadPolicy: it asks for somebody who was never there.
            StoreError: they cannot be asked for.
        """
        wrong = self._misfit(policy, self._people)
        if wrong is None:
            return
        if self._past is None or self._misfit(policy, self._past) is not None:
            raise wrong
        _log.error("People have left, so what needs them is refused until others come. %s", wrong)

    def _misfit(self, policy: Policy, people: Callable[[], Roster] | None) -> BadPolicy | None:
        """Return what to say of a policy that these people could never do; `None` if they could."""
        if people is None or policy is default_policy():
            return None
        from sayso.policy.checking import problems

        wrong = [problem for problem in problems(policy, people()) if problem.fatal]
        return _misfit(policy, wrong) if wrong else None

    def _read(self, path: Path) -> Policy:
        if not self._named and not speaks_of_policy(path):
            return default_policy()
        return read_policy(path)

    def _look(self) -> None:
        """Take a file over that has changed, if it is whole, makes sense and fits the people.

        It is looked at until it stands as it was read: others may write while it is read.
        """
        path = cast("Path", self._path)
        for _ in range(_TRIES):
            state = _state(path)
            if state == self._seen or self._waits(state):
                return
            if self._still(path, state):
                self._read_again(path, state)

    def _waits(self, state: _State | None) -> bool:
        """Whether this is what did not fit the people a moment ago."""
        if self._unfit is None or self._unfit[0] != state:
            return False
        return time.monotonic() - self._unfit[2] < self._try_again

    def _still(self, path: Path, state: _State | None) -> bool:
        """Whether a file stays as it is. It may be half written, and half a policy be a weaker one.

        What is written after it was found to be still is of a later time, also by a coarse clock.
        """
        time.sleep(self._settle)
        return _state(path) == state

    def _read_again(self, path: Path, state: _State | None) -> None:
        if state is None:
            self._seen = None
            self._trouble = None, "The file is gone."
            _log.error("The policy %s is gone; what it said stays in force.", path)
            return
        try:
            policy = self._changed(path, state)
        except BadPolicy as error:
            if _state(path) != state:  # it was read while somebody wrote it
                return
            self._trouble = state, str(error)
            self._seen = state
            _log.error("The policy was changed and is broken, so the one before stays: %s", error)
            return
        if _state(path) == state and self._fits(policy, state):
            self._take_over(policy, path)
            self._seen = state  # last: whoever finds it as it was seen finds its policy too

    def _changed(self, path: Path, state: _State) -> Policy:
        """Read it again. A file that was emptied, by a full disk perhaps, is no weaker policy."""
        if self._unfit is not None and self._unfit[0] == state:
            return self._unfit[1]
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
        known = self._trouble is not None and self._trouble[0] == state
        try:
            self._hold(policy)
        except StoreError:  # it waits until there is a desk to hold it against
            pass
        except BadPolicy as error:
            if not known:
                _log.error("The policy was changed, and the one before stays: %s", error)
            self._trouble = state, str(error)
        else:
            return True
        self._unfit = state, policy, time.monotonic()
        return False

    def _take_over(self, policy: Policy, path: Path) -> None:
        self._trouble = self._unfit = None
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
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns
