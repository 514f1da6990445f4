"""The policy of a desk through time: versions put in force, compared, put in force again."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.access.caller import ADMIN
from sayso.asks.identity import identify
from sayso.asks.law import PUBLISHED, Law, Published, add_to_law, published
from sayso.asks.lawbook import Lawbook, misfit, version_said
from sayso.asks.own_policy import default_policy, found_policy, given_policy, read_text, text_of
from sayso.errors import BadPolicy, BadValue, Conflict, Forbidden, Misuse
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.content import check_words
from sayso.model.requirement import Requirement
from sayso.policy.rules import Policy
from sayso.store.contract import LAW, Store

if TYPE_CHECKING:
    from sayso.policy.changes import Change

GIVEN = "text"  # the source of a policy that is no file's
_LEAST = 4  # signs of a digest that name a version


@dataclass(frozen=True, slots=True)
class Proposed:
    """A policy that somebody may put in force, and what the journal would say of it."""

    policy: Policy
    said: dict[str, Any]


class Policies:
    """The versions of the policy of a desk. The last one is in force, whichever program rules."""

    def __init__(self, store: Callable[[], Store], origin: Origin, law: Lawbook) -> None:
        self._store = store
        self.origin = origin
        self._law = law

    def publish(
        self,
        policy: Policy | Path | str | None = None,
        *,
        note: str | None = None,
        by: str | None = None,
        over: int | None = None,
    ) -> Published:
        """Put a policy in force. Every program of the desk goes by it from its next ruling on.

        Args:
            policy: A file, a text, or a policy made in code; that of the program unless given.
            note: Why, for the journal.
            by: Who does it: an administrator, on a desk that has any.
            over: The version that it was compared with. If another one is in force by now, nothing
                is published.

        Raises:
            BadPolicy: it makes no sense, or the people of the desk could never do what it wants.
            Forbidden, UnknownPerson: this person may not.
            Conflict: another version is in force by now.
        """
        return self._put(self.proposed(policy), note=note, by=by, over=over)

    def proposed(self, policy: Policy | Path | str | None = None) -> Proposed:
        """Return a policy as it would be put in force.

        Raises:
            BadPolicy: it makes no sense.
            Misuse: none is given, and the program brings none.
        """
        if policy is None:
            return self._of_program()
        if isinstance(policy, Policy):
            found = given_policy(policy)
            return Proposed(found, version_said(found, found.text, self._law.own.source))
        if isinstance(policy, Path):
            path = policy.absolute()
            source, text = f"{os.uname().nodename}:{path}", text_of(path)
            return _of_text(text, source, str(path))
        return _of_text(policy, GIVEN, GIVEN)

    def _of_program(self) -> Proposed:
        own = self._law.own
        policy, text = own.written()
        if policy is default_policy():
            path, _ = found_policy()
            raise Misuse(
                f"There is no policy in {path}, so there is nothing to put in force. Name a file: "
                "sayso policy publish FILE"
            )
        return Proposed(policy, version_said(policy, text, own.source))

    def rollback(
        self, version: int | str, *, note: str | None = None, by: str | None = None
    ) -> Published:
        """Put an earlier version in force again, as a new one; 0 is the built-in policy.

        Raises:
            BadValue: there is no such version.
            BadPolicy: this sayso cannot read it, or the people of now could never do what it wants.
            Forbidden, UnknownPerson: this person may not.
        """
        if version in (0, "0"):
            said: dict[str, Any] = {"kind": "default", "restores": 0}
            return self._put(Proposed(default_policy(), said), note=note, by=by)
        found = self.show(version)
        said = {"kind": found.kind, "text": found.text, "digest": found.digest}
        said |= {"name": found.name, "source": found.source or None, "restores": found.number}
        return self._put(Proposed(self.read(found), said), note=note, by=by)

    def log(self) -> list[Published]:
        """Return every version that was put in force, the newest first."""
        store = self._store()
        self._law.read(store)  # its hashes are followed
        events = [event for event in store.stream(LAW) if event.kind == PUBLISHED]
        return [published(event, number) for number, event in enumerate(events, start=1)][::-1]

    def show(self, version: int | str | None = None) -> Published:
        """Return one version, by its number or the beginning of its digest; the last unless given.

        Raises:
            BadValue: there is no such version, or several begin like this.
        """
        log = self.log()
        if version is None and log:
            return log[0]
        named = str(version).strip()
        found = [one for one in log if named.isdecimal() and one.number == int(named)]
        if not found and len(named) >= _LEAST:
            found = [one for one in log if (one.digest or "").startswith(named)]
        if found:
            return found[0]  # the newest of those with this digest
        many = f"There are {len(log)}: 1 to {len(log)}." if log else "None was put in force yet."
        raise BadValue(
            f"There is no version {named[:40]!r} of the policy. {many} See: sayso policy log"
        )

    def read(self, version: Published) -> Policy:
        """Return the rules of a version.

        Raises:
            BadPolicy: this program cannot read them, or has not got their code.
        """
        return self._law.policy_of(version)

    def readable(self, version: Published) -> Policy | None:
        """Return the rules of a version; `None` if this program cannot read them."""
        try:
            return self.read(version)
        except BadPolicy:
            return None

    @property
    def in_force(self) -> Published | None:
        """The version in force; `None` if none was ever put in force."""
        return self._law.read(self._store()).policy

    def diff(
        self,
        one: int | str | Path | Policy | None = None,
        other: int | str | Path | Policy | None = None,
    ) -> tuple[Change, ...]:
        """Say how what is in force differs from another policy, or one version from another.

        Args:
            one: A version, a file or a policy; that of the program unless given. With `other`, what
                comes before.
            other: What comes after.

        Raises:
            BadPolicy, BadValue, Misuse: one of them is none, or cannot be read.
        """
        from sayso.policy.changes import changes

        if other is not None:
            return changes(self._named(one), self._named(other))
        return changes(self._law.policy, self._named(one))

    def _named(self, given: int | str | Path | Policy | None) -> Policy:
        if given is None or isinstance(given, Path | Policy):
            return self.proposed(given).policy
        return default_policy() if str(given) == "0" else self.read(self.show(given))

    def _put(
        self,
        proposed: Proposed,
        *,
        note: str | None,
        by: str | None,
        over: int | None = None,
    ) -> Published:
        store = self._store()
        check_words(note, "note")
        while True:
            law, roster = self._law.read(store), store.register()
            actor = publisher(roster, by, self.origin)
            check_publishable(law, proposed.policy, roster, over)
            said = {**proposed.said, "note": note or None}
            if add_to_law(store, law, PUBLISHED, actor=actor, origin=self.origin, **said):
                return next(one for one in self.log() if one.seq == law.seq + 1)


def deciders(policy: Policy, roster: Roster) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    """Return each tier of a policy with who could fill each place of what it needs."""
    from sayso.policy.words import who

    people = policy.widened(roster)
    return [
        (name, [] if tier.alone else who(tier.terms.needs or Requirement(), people))
        for name, tier in ((name, policy.tiers[name]) for name in policy.order)
    ]


def publisher(roster: Roster, by: str | None, origin: Origin) -> Actor:
    """Return who puts a policy in force, if they may: their right is their role on the desk.

    No policy gives or takes it, so that an administrator can undo every one.

    Raises:
        Forbidden: somebody else is an administrator, and they are not.
        UnknownPerson: no such person, or nobody was named on a desk with administrators.
    """
    administered = any(ADMIN in roles for roles in roster.people.values())
    if by is None and not administered:
        return Actor("person", origin.account.partition("@")[0])
    actor = identify(roster, by, origin)
    if administered and ADMIN not in roster.people[actor.id]:
        admins = ", ".join(sorted(name for name, held in roster.people.items() if ADMIN in held))
        raise Forbidden(
            f"{actor.id} is no administrator, so they put no policy in force. Administrators here: "
            f"{admins}."
        )
    return actor


def check_publishable(law: Law, policy: Policy, roster: Roster, over: int | None) -> None:
    """Refuse a policy that cannot be in force on this desk.

    Raises:
        BadPolicy: the people of the desk could never do what it wants (E21), or the law has what this
            sayso does not know.
        Conflict: another version is in force than the one it was compared with.
    """
    if law.strange is not None:
        raise BadPolicy(
            f"The law of this desk has an event {law.strange!r}, which this sayso does not know, so "
            "it puts nothing in force. Upgrade it: pip install --upgrade sayso"
        )
    if over is not None and law.versions != over:
        raise Conflict(
            f"Version {law.versions} of the policy is in force by now, and you compared yours with "
            f"version {over}. Look at the difference again: sayso policy diff"
        )
    wrong = misfit(policy, lambda: roster)
    if wrong is not None:
        raise wrong


def _of_text(text: str, source: str, shown: str) -> Proposed:
    policy = read_text(text, shown)
    return Proposed(policy, version_said(policy, text, source))
