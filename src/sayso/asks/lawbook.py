"""What a desk goes by: the policy that its journal has in force, whichever program rules (E48).

A program brings a policy along, in a file or in code. The first one is put in force by itself. After
that the desk's counts: where somebody is alone at it, a file that is changed is put in force by
itself; in a team somebody publishes it.
A version that is in force stays in force when people leave: only what needs them is refused (E59).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from sayso.asks.law import (
    NO_LAW,
    PUBLISHED,
    CodedTools,
    Law,
    Published,
    add_to_law,
    law_of,
    mark_of,
)
from sayso.asks.own_policy import (
    FILE,
    SETTLE,
    TRY_AGAIN,
    OwnPolicy,
    default_policy,
    read_policy,
    read_text,
    speaks_of_policy,
)
from sayso.autonomy.terms import DETECTION
from sayso.errors import BadPolicy, StoreError
from sayso.model.actor import Actor, Origin, Roster
from sayso.policy.rules import Policy
from sayso.store.contract import Store

if TYPE_CHECKING:  # what checks policies is loaded when the first one is put in force
    from sayso.policy.checking import Problem

__all__ = ["FILE", "Lawbook", "default_policy", "read_policy", "speaks_of_policy"]

_log = logging.getLogger("sayso.policy")
_BY_ITSELF = Origin("policy", "")


def toss() -> float:
    """Return a number from 0 up to 1 that nobody could have known."""
    return int.from_bytes(os.urandom(7)) / 2**56


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
        age: For how many seconds they have been in force here, if the journal does not say it.
        published: The version of the journal; `None` if none was ever put in force.
        trouble: Why what the file says now is not in force; `None` if it is.
        pending: Whether the file is being written right now, and is taken over when it is whole.
    """

    policy: Policy
    kind: Literal["default", "file", "code"]
    file: Path | None
    age: float
    published: Published | None = None
    trouble: str | None = None
    pending: bool = False


@dataclass(frozen=True, slots=True)
class _Seen:
    """What this program knows of the law of one desk.

    Attributes:
        law: As it was last read.
        found: What rulings go by; `None` if nothing can be ruled, or nothing was put in force yet.
        wrong: Why nothing can be ruled.
        begun: Whether the program has ruled here, and so put in force what it brings if it may.
        brought: What the program brought when that was last compared with what is in force.
    """

    store: Store
    law: Law
    found: InForce | None = None
    wrong: BadPolicy | None = None
    begun: bool = False
    brought: Policy | None = None


class Lawbook:
    """What a program knows of the policy of its desk.

    Threads share it without a lock: at worst two of them read the law at once.
    """

    def __init__(
        self,
        given: Policy | str | Path | None = None,
        *,
        store: Callable[[], Store] | None = None,
        settle: float = SETTLE,
        try_again: float = TRY_AGAIN,
        people: Callable[[], Roster] | None = None,
        past: Callable[[], Roster] | None = None,
        coin: Callable[[], float] = toss,
        origin: Origin = _BY_ITSELF,
    ) -> None:
        self.coin = coin  # decides which calls of a granted key are looked at all the same
        self.own = OwnPolicy(given, settle=settle, try_again=try_again, hold=self._hold)
        self._store = store
        self._people, self._past = people, past
        self._origin = origin
        self._seen: _Seen | None = None
        self.tools = CodedTools(origin=origin)
        self._team = False  # whether people were seen on the desk: then no file is looked at

    # --- what rulings go by ---

    def current(self, store: Store, mark: bytes | None = None, *, ruling: bool = True) -> InForce:
        """Return what a ruling goes by now: as last read here, unless its mark is another one by now.

        Args:
            store: The desk.
            mark: The mark of the law, where the rows that were just read say it.
            ruling: Whether something is ruled by it. The first ruling of a program puts in force
                what it brings, if nothing is; whoever only looks changes nothing.

        Raises:
            BadPolicy: there is no policy that could be in force.
            Tampered: the law is not what was written.
        """
        seen = self._seen
        if ruling and self.tools.said is not store:
            self.tools.say(store)
            seen = self._read(store)
        elif (
            seen is None
            or seen.store is not store
            or (mark is not None and mark != seen.law.mark)
            or (seen.wrong is not None and mark is None)
        ):
            seen = self._read(store)
        if ruling and not seen.begun:
            seen = self._begin(seen)
        elif seen.begun and not self._team and self.own.is_other_than(seen.brought):
            policy, text = self.own.taken
            seen = self._compared(seen, policy, text)
        if seen.wrong is not None:
            raise seen.wrong
        if seen.found is not None:
            return seen.found
        return InForce(self.own.policy, seen.law.mark, seen.law)

    def moved(self, store: Store, mark: bytes) -> bool:
        """Whether the law is another one by now than that of this mark, by which somebody ruled.

        Whoever refuses and writes nothing asks first: by a law of before nothing is refused.
        """
        if mark_of(store) == mark:
            return False
        self._read(store)
        return True

    def read(self, store: Store) -> Law:
        """Return the law of a desk as it stands now, reading what is new of it.

        Raises:
            Tampered: it is not what was written.
        """
        return self._read(store).law

    def begin(self, store: Store) -> None:
        """Put in force what the program brings, if it may, before it rules on anything.

        Raises:
            BadPolicy: there is no policy that could be in force.
        """
        self.current(store)

    def _read(self, store: Store) -> _Seen:
        """Read the law of a desk, going on from what is known of it."""
        before = self._seen if self._seen is not None and self._seen.store is store else None
        known = NO_LAW if before is None else before.law
        law = law_of(store, known)
        seen = replace(before, law=law) if before is not None else _Seen(store, law)
        seen = self._seen = self._judged(seen, None if before is None else before.found)
        return seen

    def _judged(self, seen: _Seen, before: InForce | None) -> _Seen:
        """Return it with the policy that is in force by it, or with why none can be."""
        law = seen.law
        if law.policy is None and law.strange is None:
            found = InForce(default_policy(), law.mark, law) if seen.begun else None
            return replace(seen, found=found, wrong=None)
        try:
            policy = self._policy_of(law, before)
        except BadPolicy as error:
            return replace(seen, found=None, wrong=error)
        return replace(seen, found=InForce(policy, law.mark, law), wrong=None)

    def _policy_of(self, law: Law, before: InForce | None) -> Policy:
        if law.strange is not None:
            raise BadPolicy(
                f"The law of this desk has an event {law.strange!r}, which this sayso does not know, "
                "so it rules nothing. Upgrade it: pip install --upgrade sayso"
            )
        published = cast("Published", law.policy)
        if before is not None and before.law.policy == published:
            return before.policy  # with what it remembers
        return self.policy_of(published)

    def policy_of(self, published: Published) -> Policy:
        """Return the rules of a version of the policy.

        Raises:
            BadPolicy: this program cannot read them, or has not got their code.
        """
        if published.kind == "default":
            return default_policy()
        if published.kind == "code":
            return self._of_code(published)
        if published.kind != "file" or published.text is None:
            raise BadPolicy(f"{_put_by(published)} This sayso cannot read it. {_UPGRADE}")
        try:
            return read_text(published.text, self._shown(published))
        except BadPolicy as error:
            why = str(error).rstrip(".")
            said = f"{_put_by(published)} This sayso cannot read it: {why}. {_UPGRADE}"
            raise BadPolicy(said) from error

    def _of_code(self, published: Published) -> Policy:
        own = self.own.code
        if own is not None and (own.name, own.version) == (published.name, published.digest):
            return own
        here = "no policy in code" if own is None else f"{own.name!r} ({own.version})"
        raise BadPolicy(
            f"{_put_by(published)} It is made in code: {published.name!r} ({published.digest}), by "
            f"{published.source}. This program has {here}, so it rules nothing. Give it the same "
            "code, with Desk(policy=...), or put another policy in force: sayso policy publish FILE"
        )

    def _shown(self, published: Published) -> str:
        """Return the file of a version, as it is called on this machine."""
        host, _, path = published.source.partition(":")
        return path if path and host == os.uname().nodename else published.source

    # --- what the program brings ---

    def _begin(self, seen: _Seen) -> _Seen:
        """Compare what is in force with what the program brings, as it begins to rule."""
        if seen.law.policy is None and seen.wrong is None:
            policy, text = self.own.taken
            if policy is default_policy():
                found = InForce(policy, seen.law.mark, seen.law)
                self._seen = replace(seen, found=found, begun=True, brought=policy)
                return self._seen
            return self._put(seen, policy, text)
        seen = self._seen = replace(seen, begun=True)
        if seen.law.strange is not None:
            return seen
        try:
            policy, text = self.own.written()
        except BadPolicy as error:
            _log.error("%s What it says is not in force: %s", error, _in_force(seen.law))
            return seen
        return self._compared(seen, policy, text)

    def _compared(self, seen: _Seen, policy: Policy, text: str | None) -> _Seen:
        """Put in force what the program brings, if that was changed where it was put in force from."""
        before, published = seen.brought, seen.law.policy
        seen = self._seen = replace(seen, brought=policy)
        if before is not None and before.version == policy.version:
            return seen  # the same text, read again
        if policy is default_policy() or (published and published.digest == policy.version):
            return seen
        if published is None or (self._changed(seen.law, published, policy) and self._alone()):
            return self._put(seen, policy, text)
        _log.warning("%s", _differing(self._brought(), seen.law))
        return seen

    def _changed(self, law: Law, published: Published, policy: Policy) -> bool:
        """Whether this is another text of the file in force, or other code of the same name."""
        if policy is self.own.code:
            same = published.kind == "code" and published.name == policy.name
        else:
            same = published.source == self.own.source
        return same and law.written.get(_place(self.own, policy)) != policy.version

    def _alone(self) -> bool:
        people = self._people
        self._team = people is not None and not people().solo
        return not self._team

    def _put(self, seen: _Seen, policy: Policy, text: str | None) -> _Seen:
        """Put in force what the program brings; unless somebody else was faster."""
        said = version_said(policy, text, self.own.source)
        actor = Actor("policy", policy.name or Path(policy.source).name)
        if add_to_law(seen.store, seen.law, PUBLISHED, actor=actor, origin=self._origin, **said):
            _log.warning(
                "The policy %s is in force in version %s, as number %d on this desk.",
                self._brought(),
                policy.version,
                seen.law.versions + 1,
            )
        self._seen = replace(seen, begun=True, brought=policy)
        return self._read(seen.store)

    def _brought(self) -> str:
        return str(self.own.path) if self.own.given is None else self.own.given.source

    def differing(self) -> str | None:
        """Say that what the program brings is not in force; `None` if it is, or it brings nothing."""
        if self._store is None:
            return None
        law = self.read(self._store())
        if law.policy is None:
            return None
        try:
            policy, _ = self.own.written()
        except BadPolicy as error:
            return f"{error} What it says is not in force: {_in_force(law)}"
        if policy is default_policy() or policy.version == law.policy.digest:
            return None
        return _differing(self._brought(), law)

    # --- how it stands, for whoever looks ---

    @property
    def policy(self) -> Policy:
        """The policy in force.

        Raises:
            BadPolicy: none can be.
        """
        if self._store is None:
            return self.own.policy
        return self.current(self._store(), ruling=False).policy

    @property
    def law(self) -> PolicyStatus:
        """The policy in force, where it comes from, and whether its file says something else by now.

        Raises:
            BadPolicy: there is none that could be in force.
        """
        policy = self.policy
        published = None if self._seen is None else self._seen.law.policy
        if published is None:
            return replace(
                self._told_of(policy), trouble=self.own.trouble, pending=self.own.pending
            )
        kind = cast('Literal["default", "file", "code"]', published.kind)
        file = Path(self._shown(published)) if kind == "file" else self.own.path
        if not self._team and published.source == self.own.source:
            trouble, pending = self.own.trouble, self.own.pending
        else:
            trouble, pending = self.differing(), False
        return PolicyStatus(policy, kind, file, 0.0, published, trouble, pending)

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
            return self._told_of(self.own.written()[0])
        except BadPolicy:
            return None

    def widened(
        self, roster: Roster, mark: bytes | None = None, store: Store | None = None
    ) -> Roster:
        """Return the people with the roles that the policy gives them.

        Under a policy that cannot be used they hold only their own: everything can be looked at
        and refused, and nothing is approved.
        """
        if roster.solo:
            return roster
        self._team = True
        try:
            if store is None:
                return self.policy.widened(roster)
            return self.current(store, mark, ruling=False).policy.widened(roster)
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

    def _told_of(self, policy: Policy) -> PolicyStatus:
        own: Literal["file", "code"] = "code" if self.own.code is not None else "file"
        kind = "default" if policy is default_policy() else own
        age = time.monotonic() - self.own.since
        return PolicyStatus(policy, kind=kind, file=self.own.path, age=age)

    # --- whether the people could do what it wants ---

    @property
    def unmet(self) -> str | None:
        """Say what of the policy in force the people of now could never do; `None` if nothing.

        Only what needs those who are missing is refused.
        """
        try:
            wrong = misfit(self.policy, self._people)
        except (BadPolicy, StoreError):
            return None
        return None if wrong is None else str(wrong)

    def _hold(self, policy: Policy) -> None:
        """Hold a policy against the people of the desk.

        Raises:
            BadPolicy: it asks for somebody who was never there.
            StoreError: they cannot be asked for.
        """
        wrong = misfit(policy, self._people)
        if wrong is None:
            return
        if self._past is None or misfit(policy, self._past) is not None:
            raise wrong
        _log.error("People have left, so what needs them is refused until others come. %s", wrong)


_UPGRADE = (
    "Upgrade it, pip install --upgrade sayso, or put another policy in force: sayso policy publish"
)
_TIME = "%Y-%m-%d %H:%M %Z"


def version_said(policy: Policy, text: str | None, source: str) -> dict[str, Any]:
    """Return what an event says of a policy that is put in force."""
    from sayso.policy.digests import spoken

    if policy is default_policy():
        return {"kind": "default"}
    if text is None:
        return {"kind": "code", "name": policy.name, "digest": policy.version, "source": source}
    return {"kind": "file", "text": spoken(text), "digest": policy.version, "source": source}


def _place(own: OwnPolicy, policy: Policy) -> str:
    return own.source if policy.name is None else f"code {policy.name}"


def _in_force(law: Law) -> str:
    """Say which version the desk goes by."""
    if law.policy is None:
        return "no version of a policy is"
    found = law.policy
    who = found.by.id if found.by.kind == "person" else f"the program of {found.account}"
    return f"version {found.number} of {found.at:{_TIME}} is, put in force by {who}."


def _put_by(found: Published) -> str:
    who = found.by.id if found.by.kind == "person" else f"The program of {found.account}"
    return f"{who} put version {found.number} of the policy in force on {found.at:{_TIME}}."


def _differing(brought: str, law: Law) -> str:
    return (
        f"{brought} is not the policy in force on this desk: {_in_force(law)} See how they differ: "
        "sayso policy diff. Put it in force: sayso policy publish"
    )


def misfit(policy: Policy, people: Callable[[], Roster] | None) -> BadPolicy | None:
    """Return what to say of a policy that these people could never do; `None` if they could."""
    if people is None or policy is default_policy():
        return None
    from sayso.policy.checking import problems
    from sayso.policy.digests import MADE

    wrong = [problem for problem in problems(policy, people()) if problem.fatal]
    file = "" if policy.source.startswith(MADE) else policy.source  # made in code, it has none
    return _misfit(wrong, file) if wrong else None


def _misfit(wrong: Sequence[Problem], file: str) -> BadPolicy:
    """Return what to say of a policy that the people of a desk could never do."""
    more = f" And {len(wrong) - 1} more: sayso policy check" if len(wrong) > 1 else ""
    first = wrong[0]
    return BadPolicy(
        f"The people of this desk could never do what the policy wants. "
        f"{first.about}: {first.reason}{more}",
        line=first.line,
        file=file,
    )
