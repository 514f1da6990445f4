"""What people are told of an ask beside its arguments, as data: for the card and for scripts.

What and who are computed from the frozen call; what the policy said is read from
the ruling that was frozen with it. Nothing here is taken from the agent's word but
the confidence, which is said to be. A card in a terminal and a page say the same sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sayso.channels.touched import Touched, touched
from sayso.channels.touched import in_words as names_in_words
from sayso.channels.values import as_json, as_name, clipped
from sayso.model.ask import Ask
from sayso.model.confidence import Confidence
from sayso.model.digest import read
from sayso.model.lookalikes import disguised, unmasked
from sayso.model.requirement import ONE_REVIEWER
from sayso.model.text import one_line
from sayso.model.verdicts import VERDICTS, Kind, Verdict

NO_REASON = "The agent gave no reason."
GONE = "The program that asked has gone; it can only be closed."
LEFT = (
    "The program that asked {id} has gone before it began, so it was not carried out. "
    "Start the program again; it will ask again."
)
LATE = "A result came after its time was up; it proves nothing by itself:"
STALE = "worked out before the edit"
ELSEWHERE = "The program carries it out itself; what comes of it is not recorded here."
MAY_HAPPEN_TWICE = "The call may have happened already. Run again, it may happen twice."
SAID_BEFORE = "said before the edit"
AGENT_SAYS = "The agent says"
NOT_STATED = "Whom it affects is not stated."
_MOST_WORDS = 5
_TIME = "%H:%M:%S %Z"
_SHOWN = ("title", "agent", "proposal", "why", "conflicts", "impact", "preview", "facts", "options")


def ruling_of(ask: Ask) -> dict[str, Any]:
    """Return what the policy said when it was asked: rules, tier, version and the rest."""
    return read(ask.content.ruling) if ask.content.ruling else {}


def risk_words(ask: Ask) -> str:
    """Name the tier in force: `high risk`, or `tier payout` of one that the policy made up."""
    level = ask.content.level
    if level.name is None:
        return "risk not stated"
    return f"tier {one_line(level.name, 40)}" if level.own else f"{level.name} risk"


def policy_words(ask: Ask) -> str:
    """Say which tier and which rules made this an ask; nothing if the risk alone says so."""
    ruling = ruling_of(ask)
    tier, rules = ruling.get("tier"), ruling.get("rules", ())
    if tier == ask.risk and not rules:
        return ""
    named = ", ".join(as_name(rule) for rule in rules)
    parts = [f"tier {as_name(tier)}"] if tier else []
    parts += [f"{'rules' if len(rules) > 1 else 'rule'} {named}"] if rules else []
    return ", ".join(parts)


def requester_decides(ask: Ask) -> bool:
    """Whether the policy lets whoever asked for it decide it too."""
    return bool(ruling_of(ask).get("requester"))


def asks_for(ask: Ask) -> str:
    """Say for whom an agent asks, and through which others; its name stands before it."""
    content = ask.content
    said = " asks"
    if content.requester:
        said += f", for {one_line(content.requester, 60)}"
    if content.chain:
        said += f", through {one_line(content.chain, 200)}"
    said += "."
    if content.owner:
        said += f" It belongs to {one_line(content.owner, 60)}."
    own = [one_line(name, 60) for name in (content.requester, content.owner) if name]
    if own and not ask.solo and not requester_decides(ask):
        said += f" {' and '.join(dict.fromkeys(own))} cannot decide it."
    return said


def affected(ask: Ask) -> list[str]:
    """Say whom and what a call affects: as is said of it, and as its arguments name it."""
    affects, named = ask.content.affects, touched(ask)
    said = [f"{_whose(ask)} affects {one_line(affects, 120)}."] if affects else []
    return said + ([f"It names {names_in_words(named)}."] if named else [])


def who_must_agree(ask: Ask) -> list[str]:
    """Say who must agree, who sees it, and how many refusals end it."""
    needs, team = ask.needs, ask.content.team
    said = []
    if not ask.solo:
        apart = ", each of them another person" if needs.several else ""
        said.append(f"Needs {needs}{apart}.")
    elif needs != ONE_REVIEWER:
        said.append(f"Alone at a desk one person decides; in a team it would need {needs}.")
    if team:
        said.append(f"It is for the team {one_line(team, 60)}, and nobody else sees it.")
    if needs.deny > 1:
        said.append(f"{needs.deny} refusals end it.")
    return said


def undone(ask: Ask) -> str | None:
    """Say whether it can be undone; nothing if nobody stated it, or if a rule has said so."""
    content = ask.content
    if content.reversible is None:
        return None
    said = "can be undone." if content.reversible else "cannot be undone."
    return None if f"It {said}" in content.sentence else f"{_whose(ask)} {said}"


def _whose(ask: Ask) -> str:
    """Begin a sentence about a call: what somebody elsewhere posted of it is their word."""
    return "The agent says it" if ask.content.posted else "It"


def in_the_end(ask: Ask) -> str:
    """Say what the clock does once nobody decided in time."""
    if ask.content.optional:
        return "it is taken for good"
    if ask.content.ruled.on_timeout == "approve":
        return "silence counts as a yes"
    if ask.kind == "feedback":
        return "it counts as neither good nor bad"
    return "the clock rejects it"


def said_in_a_word(ask: Ask) -> str:
    """Say what was decided: `Approved`."""
    return ask.past.capitalize() if ask.decision is not None else "Withdrawn"


def did(kind: Kind, verdict: Verdict) -> str:
    """Say what somebody did: `approved`, and of a rating `called it bad`."""
    return _DID.get((kind, verdict)) or VERDICTS[kind][verdict].past


_DID: dict[tuple[Kind, Verdict], str] = {
    ("question", "reject"): "left it unanswered",
    ("feedback", "approve"): "called it good",
    ("feedback", "reject"): "called it bad",
    ("feedback", "respond"): "commented",
    ("doubt", "approve"): "had it run again",
    ("doubt", "respond"): "took it as done",
    ("doubt", "reject"): "left it as it is",
}


def acts(ask: Ask) -> bool:
    """Whether a program has something to do because of this decision."""
    return ask.decision is not None and ask.acts(ask.decision.verdict)


def next_step(ask: Ask, until: datetime | None = None, *, lapsed: bool = False) -> str | None:
    """Say who acts on a decision, where no run does; `None` if nobody has to.

    Of a program that waits for its ask no more is known than `until` when it wants to be heard of.
    """
    if not acts(ask):
        return None
    if ask.held and lapsed and ask.kind == "action":
        return LEFT.format(id=ask.id)
    if ask.held and lapsed:
        at = "" if until is None else f" since {until:{_TIME}} at the latest"
        return f"The program that asked has been silent{at}. Nobody knows whether it heard of this."
    if ask.held:
        by = "" if until is None else f" If it is not heard of by {until:{_TIME}}, it has gone."
        begun = ", which has not begun yet" if ask.tool is not None else ""
        return f"It is for the program that asked{begun}.{by}"
    if ask.kind == "action" and ask.tool is not None:
        return (
            f'No program waits for it. Whoever opened it carries it out: desk.begin("{ask.id}"), '
            "then desk.finish(...)."
        )
    return f"No program waits for it; the one that asked finds it with desk.wait({ask.id!r})."


def warnings(ask: Ask) -> list[str]:
    """Say which words of an ask are not spelt as they look."""
    words = look_alikes(ask)
    said = [
        f"{as_json(clipped(word, 40))}: {unmasked(word)} only looks Latin."
        for word in words[:_MOST_WORDS]
    ]
    if len(words) > _MOST_WORDS:
        said.append(f"And {len(words) - _MOST_WORDS:,} such words more.")
    return said


def look_alikes(ask: Ask) -> list[str]:
    """Return the words of an ask that are not spelt as they look, each once."""
    shown = ask.content.to_json()
    shown["proposal"].pop("schema", None)
    texts = _texts([shown.get(name) for name in _SHOWN])
    return list(dict.fromkeys(word for text in texts for word in disguised(text)))


def confidence_of(ask: Ask) -> Confidence:
    """Return how sure the agent is, and what that is worth by its record."""
    return Confidence.of(ask.content.confidence, ask.content.worth)


def explained(ask: Ask) -> dict[str, Any]:
    """Return the explanation as data, under the names it has on the card."""
    sure = confidence_of(ask)
    record = None if sure.worth is None else sure.worth.json | {"words": sure.worth.words}
    return {
        "sure": {
            "level": sure.level,
            "words": sure.words,
            "confidence": sure.stated,
            "rests_on": sure.rests_on,
            "record": record,
        },
        "touches": [_touched(one) for one in touched(ask)],
        "ruling": ruling_of(ask),
        "look_alikes": look_alikes(ask),
    }


def _touched(one: Touched) -> dict[str, Any]:
    return {
        "argument": one.name,
        "count": None if one.hidden else one.count,
        "somebody": one.somebody,
        "hidden": one.hidden,
    }


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list() | tuple():
            for item in value:
                yield from _texts(item)
        case dict():
            for name, item in value.items():
                yield name
                yield from _texts(item)
        case _:
            return
