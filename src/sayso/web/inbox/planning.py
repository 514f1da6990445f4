"""A plan in the editor: its steps as they were typed, moved, dropped and put back.

Each step says which one of the proposal it was (`was`, its place from 0), so that a step that is
reworded or moved keeps whatever else it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from sayso.channels.steps import Line, read_line, reworded, tools_of
from sayso.channels.steps import Step as Proposed
from sayso.errors import BadValue, InvalidEdit
from sayso.model.ask import Ask
from sayso.web.forms.sent import Posted
from sayso.web.inbox.posting import NOTHING, as_sent
from sayso.web.look.views import PlanEditor, Step

_PLACE = re.compile(r"[0-9]{1,9}")
_DO = re.compile(r"(up|down|drop|put-back):(\d{1,4})|(add)")


@dataclass(frozen=True, slots=True)
class Typed:
    """One step as it stands in the editor."""

    text: str
    was: int | None


def is_plan(fields: Posted) -> bool:
    """Whether these fields come from the editor of a plan, even if every step was dropped."""
    return any(name in fields for name in ("step", "was", "dropped"))


def editor_of(ask: Ask, fields: Posted = NOTHING) -> PlanEditor:
    """Return the editor as it was left, or as the plan was proposed."""
    proposed = _proposed(ask)
    typed = tuple(typed_in(fields, len(proposed)) if is_plan(fields) else _untouched(proposed))
    kept = [one.was for one in typed if one.was is not None]
    stayed = _stayed(kept)
    dropped = [place for place in range(len(proposed)) if place not in kept]
    return PlanEditor(
        steps=tuple(_step(one, proposed, moved=one.was not in stayed) for one in typed),
        dropped=tuple(
            _step(Typed(_title(proposed[place]), place), proposed, moved=False) for place in dropped
        ),
        tools=tools_of(ask),
    )


def edited(ask: Ask, fields: Posted) -> list[Proposed] | None:
    """Return the steps as they were typed; `None` if they are those that were proposed.

    Raises:
        InvalidEdit: a step has no title, or names a tool that does not exist.
    """
    proposed = _proposed(ask)
    if not is_plan(fields):
        return None
    wrong: dict[str, str] = {}
    steps: list[Proposed] = []
    for number, one in enumerate(typed_in(fields, len(proposed)), start=1):
        if one.was is None and not one.text.strip():
            continue  # a new one that nobody filled in
        try:
            steps.append(_read(one, proposed, tools_of(ask)))
        except BadValue as error:
            wrong[f"/steps/{number - 1}"] = f"Step {number}: {error}"
    if wrong:
        raise InvalidEdit("The plan does not fit, and nothing was changed.", fields=wrong)
    return None if steps == proposed else steps


def changed(ask: Ask, fields: Posted, do: str) -> Posted:
    """Return the fields after a step was moved, dropped, added or put back.

    Raises:
        BadValue: there is no such step, or nothing of this name to do.
    """
    proposed = _proposed(ask)
    typed = list(typed_in(fields, len(proposed)) if is_plan(fields) else _untouched(proposed))
    found = _DO.fullmatch(do)
    if found is None:
        raise BadValue(f"do={do!r}: a step is moved up or down, dropped, added, or put back.")
    if found[3]:
        return _fields(fields, [*typed, Typed("", None)])
    place = int(found[2])
    if place >= (len(proposed) if found[1] == "put-back" else len(typed)):
        raise BadValue(f"There is no step {place + 1} in this plan.")
    return _fields(fields, _moved(typed, found[1], place, proposed))


def _moved(typed: list[Typed], do: str, place: int, proposed: Sequence[Proposed]) -> list[Typed]:
    if do == "put-back":
        if all(one.was != place for one in typed):
            typed.insert(min(place, len(typed)), Typed(_title(proposed[place]), place))
        return typed
    one = typed.pop(place)
    if do == "drop":
        return typed
    typed.insert(max(place - 1, 0) if do == "up" else min(place + 1, len(typed)), one)
    return typed


def typed_in(fields: Posted, most: int) -> Iterator[Typed]:
    """Yield the steps that a form has: texts and places go side by side, each place once."""
    places = list(fields.get("was", ()))
    taken: set[int] = set()
    for number, text in enumerate(fields.get("step", ())):
        said = places[number] if number < len(places) else ""
        was = int(said) if _PLACE.fullmatch(said) and int(said) < most else None
        if was in taken:
            was = None
        if was is not None:
            taken.add(was)
        yield Typed(text, was)


def _fields(fields: Posted, typed: Sequence[Typed]) -> Posted:
    return {
        **fields,
        "step": [one.text for one in typed],
        "was": ["" if one.was is None else str(one.was) for one in typed],
    }


def _proposed(ask: Ask) -> list[Proposed]:
    steps = ask.args.get("steps")
    return steps if isinstance(steps, list) else []


def _untouched(proposed: Sequence[Proposed]) -> Iterator[Typed]:
    return (Typed(_title(step), place) for place, step in enumerate(proposed))


def _title(step: Proposed) -> str:
    return as_sent(Line.of(step).title)


def _read(one: Typed, proposed: Sequence[Proposed], tools: Sequence[str]) -> Proposed:
    if one.was is None:
        line = read_line(one.text, tools)
        return reworded(line.title, line)
    step = proposed[one.was]
    if one.text == _title(step):
        return step
    if not one.text.strip():
        raise BadValue("it has no title: say what is to be done, or drop it.")
    return {**step, "title": one.text} if isinstance(step, dict) else one.text


def _stayed(kept: Sequence[int]) -> frozenset[int]:
    """Return the steps that are still in the order in which they were proposed."""
    order = sorted(kept)
    blocks = SequenceMatcher(None, order, kept, autojunk=False).get_matching_blocks()
    return frozenset(order[n] for a, _, size in blocks for n in range(a, a + size))


def _step(one: Typed, proposed: Sequence[Proposed], *, moved: bool) -> Step:
    if one.was is None:
        return Step(title=one.text)
    step = proposed[one.was]
    said: dict[str, Any] = step if isinstance(step, dict) else {}
    detail = said.get("detail")
    more = [(name, value) for name, value in said.items() if name not in ("title", "detail")]
    if detail is not None and not isinstance(detail, str):
        more.insert(0, ("detail", detail))
    return Step(
        title=one.text,
        detail=detail if isinstance(detail, str) else None,
        more=tuple(more),
        was=one.was,
        moved=moved,
        changed=one.text != _title(step),
    )
