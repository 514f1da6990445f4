"""Earn, audit, strike: the ledger of one key as data, and how each happening changes it.

A key is an agent of one version, a tool, and a bucket of its arguments. It starts reviewed. Its score
grows with every reviewed action that was fine and falls with every confirmed harm. Once the score
reaches the bar, a grant is proposed, and a person may ratify it. From then on the key runs alone,
but for what the coin sends to a person. Harm and incidents end the grant; the system gives none.

All of it is a fold over happenings, which the journal has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal, NamedTuple

from sayso.autonomy.terms import ALPHA, Terms
from sayso.model.digest import written
from sayso.model.ids import short_id

Standing = Literal["reviewed", "proposed", "granted", "suspended", "locked"]
What = Literal[
    "fine",  # a person looked before it ran, and it was
    "flagged",  # a person says that it was harmful
    "confirmed",  # another person says so too
    "overturned",  # another person says that it was not
    "incident",  # it ran, and harm was reported
    "ratified",  # a person lets the key run alone
    "declined",  # a person does not
    "revoked",  # a person ends the grant
    "reopened",  # a named person lets a locked key earn again
]

_ID_LENGTH = 10
ENDS = 3  # after so many ended grants a key is locked
FORGIVING = 50  # clean audits in a row that forgive one of them


class Key(NamedTuple):
    """Whose calls of what are counted together. A namesake in another team is another agent."""

    agent: str
    version: str
    tool: str
    bucket: str
    tier: str
    team: str = ""

    @property
    def id(self) -> str:
        """The name of its stream: the same on every machine, without anybody giving it out."""
        return short_id("k", sha256(written([*self]).encode()).digest(), _ID_LENGTH)


class Happening(NamedTuple):
    """One thing that changes a ledger: what, and which person said so.

    Of a word that settles flags: how many of them, where it is not all, and who had raised them.
    """

    what: What
    by: str = ""
    settles: int = 0
    raised_by: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """How one key stands.

    Attributes:
        standing: Whether it is reviewed, may be granted, is granted, suspended or locked.
        score: The evidence that it is good, from 1 on.
        strikes: Confirmed harms since it was granted.
        ends: Grants that ended by harm, of this and of earlier versions; each doubles the bar.
        clean: Clean audits in a row.
        before: Where it stood when it was suspended.
        flagged_by: Who flagged it: they cannot confirm it themselves.
        grants: How often it was granted.
        flags: How many calls were flagged of which nobody else has said yet whether they were harmful.
        confirmed: Of what was flagged beside those, how many were.
    """

    standing: Standing = "reviewed"
    score: float = 1.0
    strikes: int = 0
    ends: int = 0
    clean: int = 0
    before: Standing = "reviewed"
    flagged_by: str = ""
    grants: int = 0
    flags: int = 0
    confirmed: int = 0

    @property
    def bar(self) -> float:
        """The score from which on it may be granted."""
        return bar_after(self.ends)

    @property
    def alone(self) -> bool:
        """Whether its calls run without a person, but for audits."""
        return self.standing == "granted"


NEW = Ledger()


def bar_after(ends: int) -> float:
    """Return the score from which on a key may be granted that lost so many grants by harm."""
    return float(2**ends) / ALPHA


def begun(others: Iterable[Ledger]) -> Ledger:
    """Return the ledger of a new version: a new name sheds no strikes.

    Args:
        others: The ledgers of all other versions of the same agent, tool and bucket.
    """
    known = tuple(others)
    ends = max((one.ends for one in known), default=0)
    return inherited(ends, locked=any(one.standing == "locked" for one in known))


def inherited(ends: int, *, locked: bool) -> Ledger:
    """Return the ledger of a key that begins with what its earlier versions left it."""
    return Ledger(ends=ends, standing="locked" if locked else "reviewed")


def held_back(ledger: Ledger) -> Ledger:
    """Return a ledger whose score has reached the bar before enough people and days stand behind it."""
    return replace(ledger, standing="reviewed")


def taking_over(ledger: Ledger, ends: int, *, locked: bool) -> Ledger:
    """Return a ledger after a grant of another version ended: its strikes count for this one, too."""
    raised = replace(ledger, ends=max(ledger.ends, ends))
    if locked:
        return Ledger(standing="locked", ends=raised.ends, grants=ledger.grants)
    waits = raised.standing in ("reviewed", "proposed")
    return _weighed(raised, raised.score) if waits else raised


def after(ledger: Ledger, happening: Happening, terms: Terms, *, solo: bool = False) -> Ledger:
    """Return the ledger after one more happening; what does not apply leaves it as it is.

    Whoever takes a person's word first asks `refusal` whether it applies, and says so if not.

    Args:
        ledger: How the key stood.
        happening: What happened.
        terms: Those of its tier.
        solo: That there is only one person: their flag is then confirmed already.
    """
    step = _STEPS.get((ledger.standing, happening.what))
    if step is None or refusal(ledger, happening) is not None:
        return ledger
    made = step(ledger, happening, terms)
    if solo and happening.what == "flagged":
        return _settled(made, happening._replace(settles=1), terms)
    return made


_APPLIES = {
    "ratified": "Only a proposed grant can be ratified",
    "declined": "Only a proposed grant can be declined",
    "revoked": "Only a grant, or a key that is suspended, can be revoked",
    "reopened": "Only a locked key can be reopened",
    "confirmed": "There is no flag to confirm",
    "overturned": "There is no flag to overturn",
}


def refusal(ledger: Ledger, happening: Happening) -> str | None:
    """Say why what a person wants does not apply to a key as it stands; `None` if it does."""
    if happening.what not in _APPLIES:
        return None
    if (ledger.standing, happening.what) not in _STEPS:
        return f"{_APPLIES[happening.what]}, and this key is {ledger.standing}."
    raised_by = happening.raised_by or ledger.flagged_by
    if happening.what in ("confirmed", "overturned") and happening.by == raised_by:
        return f"{happening.by} flagged this key and cannot settle it: somebody else has to look."
    return None


def _earned(ledger: Ledger, _: Happening, terms: Terms) -> Ledger:
    if ledger.standing == "proposed":  # enough is enough: what it earns now would outweigh harm
        return ledger
    score, bar = ledger.score, ledger.bar
    if score < bar:
        score *= terms.fine
    return replace(ledger, score=score, standing="proposed" if score >= bar else "reviewed")


def _weighed(ledger: Ledger, score: float) -> Ledger:
    return replace(ledger, score=score, standing="proposed" if score >= ledger.bar else "reviewed")


def _audited(ledger: Ledger, _: Happening, __: Terms) -> Ledger:
    clean = ledger.clean + 1
    if clean < FORGIVING or not ledger.ends:
        return replace(ledger, clean=clean)
    return replace(ledger, clean=0, ends=ledger.ends - 1)


def _flagged(ledger: Ledger, happening: Happening, _: Terms) -> Ledger:
    return replace(
        ledger,
        standing="suspended",
        before=ledger.standing,
        flagged_by=happening.by,
        clean=0,
        flags=1,
    )


def _flagged_again(ledger: Ledger, _: Happening, __: Terms) -> Ledger:
    return replace(ledger, flags=ledger.flags + 1)


def _freed(ledger: Ledger) -> Ledger:
    """Put a key back where it stood before somebody flagged it."""
    return replace(
        ledger, standing=ledger.before, before="reviewed", flagged_by="", flags=0, confirmed=0
    )


def _settled(ledger: Ledger, happening: Happening, terms: Terms) -> Ledger:
    """Somebody else agrees that it was harmful."""
    left = _spoken_to(ledger, happening)
    found = max(1, ledger.flags - left.flags)
    return _weighed_up(replace(left, confirmed=left.confirmed + found), happening, terms)


def _overturned(ledger: Ledger, happening: Happening, terms: Terms) -> Ledger:
    return _weighed_up(_spoken_to(ledger, happening), happening, terms)


def _spoken_to(ledger: Ledger, happening: Happening) -> Ledger:
    return replace(ledger, flags=max(0, ledger.flags - (happening.settles or ledger.flags)))


def _weighed_up(ledger: Ledger, happening: Happening, terms: Terms) -> Ledger:
    """Once somebody has said of everything that was flagged whether it was harmful, let it count."""
    if ledger.flags:
        return ledger
    settled = _freed(ledger)
    for _ in range(ledger.confirmed):
        settled = _harmed(settled, happening, terms)
    return settled


def _harmed(ledger: Ledger, happening: Happening, terms: Terms) -> Ledger:
    if ledger.standing == "locked":
        return ledger
    if ledger.standing != "granted":
        return _weighed(ledger, ledger.score * terms.harmful)
    struck = replace(ledger, strikes=ledger.strikes + 1, clean=0)
    return _ended(struck, happening, terms) if struck.strikes >= terms.strikes else struck


def _ended(ledger: Ledger, _: Happening, __: Terms) -> Ledger:
    ends = ledger.ends + 1
    standing: Standing = "locked" if ends >= ENDS else "reviewed"
    return Ledger(standing=standing, ends=ends, grants=ledger.grants)


def _incident_while_suspended(ledger: Ledger, happening: Happening, terms: Terms) -> Ledger:
    """Harm was reported while somebody still looks into a flag: nobody need look any longer."""
    freed = _freed(ledger)
    return (_ended if freed.alone else _harmed)(freed, happening, terms)


def _ratified(ledger: Ledger, _: Happening, __: Terms) -> Ledger:
    return replace(ledger, standing="granted", strikes=0, clean=0, grants=ledger.grants + 1)


def _restarted(ledger: Ledger, _: Happening, __: Terms) -> Ledger:
    """A person wants to see more: it earns from the beginning, and nothing is held against it."""
    return Ledger(ends=ledger.ends, grants=ledger.grants)


_Step = Callable[[Ledger, Happening, Terms], Ledger]
_STEPS: Mapping[tuple[Standing, What], _Step] = {
    ("reviewed", "fine"): _earned,
    ("reviewed", "flagged"): _flagged,
    ("reviewed", "incident"): _harmed,
    ("proposed", "fine"): _earned,
    ("proposed", "flagged"): _flagged,
    ("proposed", "incident"): _harmed,
    ("proposed", "ratified"): _ratified,
    ("proposed", "declined"): _restarted,
    ("granted", "fine"): _audited,
    ("granted", "flagged"): _flagged,
    ("granted", "incident"): _ended,
    ("granted", "revoked"): _restarted,
    ("suspended", "flagged"): _flagged_again,
    ("suspended", "confirmed"): _settled,
    ("suspended", "overturned"): _overturned,
    ("suspended", "incident"): _incident_while_suspended,
    ("suspended", "revoked"): _restarted,
    ("locked", "reopened"): _restarted,
}
