"""What each verdict means for each kind of ask: one table, used everywhere.

A verdict either consents (it counts towards the requirement) or refuses (it
counts towards the deny threshold). `respond` refuses where it sends the thing
back to the agent and consents where it is the answer itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from sayso.errors import BadValue

Kind = Literal["action", "plan", "draft", "question", "choice", "notice", "feedback", "doubt"]
Verdict = Literal["approve", "edit", "reject", "respond"]
Stance = Literal["consent", "refusal"]
Takes = Literal["nothing", "args", "note", "text", "guidance", "answer", "option"]
RejectKind = Literal["harmful", "taste", "not-now"]

# What is pressed for each of them, at a prompt, in `sayso top` and on a page.
KEYS: Mapping[Verdict, str] = {"approve": "a", "edit": "e", "reject": "r", "respond": "c"}
KINDS: tuple[Kind, ...] = get_args(Kind)
REJECT_KINDS: tuple[RejectKind, ...] = get_args(RejectKind)


@dataclass(frozen=True, slots=True)
class Meaning:
    """One cell of the table: what the verdict does, on the button, and what it takes along.

    `past` is what is said of it afterwards: "rejected by anna".
    """

    stance: Stance
    button: str
    past: str
    takes: Takes


def _yes(button: str, past: str, takes: Takes = "nothing") -> Meaning:
    return Meaning("consent", button, past, takes)


def _no(button: str, past: str, takes: Takes = "note") -> Meaning:
    return Meaning("refusal", button, past, takes)


VERDICTS: Mapping[Kind, Mapping[Verdict, Meaning]] = {
    "action": {
        "approve": _yes("Approve", "approved"),
        "edit": _yes("Edit and approve", "approved with edits", "args"),
        "reject": _no("Reject", "rejected"),
        "respond": _no("Answer instead", "answered", "text"),
    },
    "plan": {
        "approve": _yes("Approve plan", "approved"),
        "edit": _yes("Modify plan", "approved with edits", "args"),
        "reject": _no("Cancel", "cancelled"),
        "respond": _no("Ask for another plan", "sent back", "text"),
    },
    "draft": {
        "approve": _yes("Approve", "approved"),
        "edit": _yes("Edit", "approved with edits", "args"),
        "reject": _no("Drop", "dropped"),
        "respond": _no("Write it again", "sent back", "guidance"),
    },
    "question": {
        "respond": _yes("Answer", "answered", "answer"),
        "reject": _no("No answer", "left unanswered"),
    },
    "choice": {
        "approve": _yes("Choose", "decided", "option"),
        "respond": _yes("Something else", "answered", "answer"),
        "reject": _no("None of these", "turned down"),
    },
    "notice": {
        "respond": _yes("Respond", "answered", "text"),
        "reject": _no("Ignore", "ignored"),
    },
    "feedback": {
        "approve": _yes("Good", "called good"),
        "reject": _no("Bad", "called bad"),
        "respond": _yes("Comment", "commented on", "text"),
    },
    "doubt": {
        "respond": _yes("It happened", "taken as done", "answer"),
        "approve": _yes("It did not: run it again", "sent to be run again"),
        "reject": _no("Leave it", "left as it is"),
    },
}


# What the buttons say of an ask about a key: whether it runs alone, and whether a flag holds. What
# they do is what approving and rejecting an action does.
ABOUT_KEYS: Mapping[str, Mapping[Verdict, Meaning]] = {
    "grant": {
        "approve": _yes("Let it run alone", "let run alone"),
        "reject": _no("Not yet", "not let run alone yet"),
    },
    "flag": {
        "approve": _yes("It was harmful", "called harmful"),
        "reject": _no("It was not", "called not harmful"),
    },
}


# What a no is to a request that may be ignored: its own word for it.
IGNORE = _no("Ignore", "ignored")


_OFFERED: Mapping[Kind, tuple[Verdict, ...]] = {kind: tuple(VERDICTS[kind]) for kind in VERDICTS}


def key_of(kind: Kind, verdict: Verdict) -> str:
    """Return the one key that gives a verdict; none does in a doubt, where a habit pays twice."""
    return "" if kind == "doubt" else KEYS[verdict]


def offered(
    kind: Kind, allow: object = None, *, without: tuple[Verdict, ...] = ()
) -> tuple[Verdict, ...]:
    """Return the verdicts of a kind, narrowed by `allow=`.

    Raises:
        BadValue: `allow` names a verdict that this kind does not have, or leaves none.
    """
    known = _OFFERED[kind]
    if without:
        known = tuple(verdict for verdict in known if verdict not in without)
    if allow is None:
        return known
    if not isinstance(allow, str | Iterable):
        raise BadValue(f"allow={allow!r}: name the verdicts, such as ['approve', 'reject'].")
    wanted = (allow,) if isinstance(allow, str) else tuple(allow)
    for verdict in wanted:
        if verdict not in known:
            raise BadValue(f"allow={verdict!r}: an ask of kind {kind!r} offers {', '.join(known)}.")
    kept = tuple(verdict for verdict in known if verdict in wanted)
    if not kept:
        raise BadValue(
            f"allow=[] would leave nothing to decide; {kind!r} offers {', '.join(known)}."
        )
    return kept
