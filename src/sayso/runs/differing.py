"""What differs between the ask in the journal and the one the code wants now."""

from __future__ import annotations

from typing import Any

from sayso.asks.ruling import wanted as wanted_people
from sayso.model.ask import Ask
from sayso.model.content import Content
from sayso.model.digest import written
from sayso.model.text import one_line

# Given by the workflow, and so the same on every replay. What is computed from the world
# (impact, preview, the deadline) or by the policy (who must agree) may change meanwhile; what
# was shown stands.
_COMPARED = ("title", "facts", "options", "answer", "allow", "team")


def difference(known: Ask, wanted: Content) -> str | None:
    """Return what the workflow asks differently now, or `None`."""
    if known.original is None and _asks(known.content) == _asks(wanted):
        return None  # nearly always, and found without writing both out
    was, now = known.content.to_json(), wanted.to_json()
    if known.kind != wanted.kind:
        return f"it was {known.kind} {known.label!r}, it is now {wanted.kind} {wanted.title!r}."
    called = call_difference(known, wanted.proposal.tool, wanted.proposal.args)
    if called is not None:
        return called
    if wanted_people(known.content) != wanted_people(wanted):
        who = [" and ".join(people) for people, _ in map(wanted_people, (known.content, wanted))]
        return f"needs was {who[0]}, it is now {who[1]}, or deny is another number."
    for name in _COMPARED:
        if was.get(name) != now.get(name):
            return f"{name} was {_brief(was.get(name))}, it is now {_brief(now.get(name))}."
    return None


def _asks(content: Content) -> tuple[object, ...]:
    """Return all that must be the same, as the values they are."""
    return (
        *(content.kind, content.title, content.proposal, content.facts, content.options),
        *(content.answer, content.allow, content.team, wanted_people(content)),
    )


def call_difference(known: Ask, tool: str | None, args: dict[str, Any]) -> str | None:
    """Return what differs in the call, or `None`. An edit by a person is no difference."""
    if known.tool != tool:
        return f"the tool was {known.tool!r}, it is now {tool!r}."
    was = known.args if known.original is None else known.original
    for name in sorted({*was, *args}):
        if name not in was or name not in args or was[name] != args[name]:
            return (
                f"the argument {name} of {tool or known.kind} was {_brief(was.get(name))}, it is "
                f"now {_brief(args.get(name))}. (The time, randomness and sets differ at every "
                "replay: take run.now(), run.random(), sorted(...).)"
            )
    return None


def _brief(value: object) -> str:
    return one_line(written(value), 120)  # type: ignore[arg-type]
