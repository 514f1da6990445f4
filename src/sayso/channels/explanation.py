"""What people are told of an ask beside its arguments, as data: for the card and for scripts.

What and who are computed from the frozen call; what the policy said is read from
the ruling that was frozen with it. Nothing here is taken from the agent's word but
the confidence, which is said to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sayso.channels.touched import Touched, touched
from sayso.channels.values import as_name
from sayso.model.ask import Ask
from sayso.model.confidence import Confidence
from sayso.model.digest import read
from sayso.model.lookalikes import disguised

_SHOWN = ("title", "agent", "proposal", "why", "conflicts", "impact", "preview", "facts", "options")


def ruling_of(ask: Ask) -> dict[str, Any]:
    """Return what the policy said when it was asked: rules, tier, version and the rest."""
    return read(ask.content.ruling) if ask.content.ruling else {}


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


def look_alikes(ask: Ask) -> list[str]:
    """Return the words of an ask that are not spelt as they look, each once."""
    shown = ask.content.to_json()
    shown["proposal"].pop("schema", None)
    texts = _texts([shown.get(name) for name in _SHOWN])
    return list(dict.fromkeys(word for text in texts for word in disguised(text)))


def explained(ask: Ask) -> dict[str, Any]:
    """Return the explanation as data, under the names it has on the card."""
    sure = Confidence.of(ask.content.confidence)
    return {
        "sure": {
            "level": sure.level,
            "words": sure.words,
            "confidence": sure.stated,
            "rests_on": sure.rests_on,
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
