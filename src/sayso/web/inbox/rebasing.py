"""What somebody typed to an older version, as it reads against the one that is shown now.

A form sends every value, also those that nobody touched. Sent to a newer version as they are,
these would undo what others changed; so only what its sender changed is carried over.
"""

from __future__ import annotations

from sayso.asks.standing import Standing
from sayso.errors import SaysoError
from sayso.model.ask import Ask
from sayso.model.digest import canonical
from sayso.model.folding import after, fold
from sayso.web.forms.drawing import as_text
from sayso.web.forms.reading import read_form
from sayso.web.forms.sent import Posted, pointer_to
from sayso.web.inbox import planning
from sayso.web.inbox.posting import as_sent, one


def seen_as(at: Standing, seen: str | None) -> Ask | None:
    """Return the older version of an ask that somebody saw; `None` if it is the one of now."""
    if not seen or seen == at.ask.digest or not at.ask.digest:
        return None
    try:
        ask = fold(at.events[:1])
        for event in at.events[1:]:
            if ask.digest == seen:
                break
            ask = after(ask, event)
    except SaysoError:
        return None
    return ask if ask.digest == seen else None


def rebased(before: Ask, now: Ask, fields: Posted) -> Posted:
    """Return the fields with what their sender changed, and nothing else."""
    if now.kind == "plan":
        return _plan(before, now, fields)
    if now.kind == "draft":
        untouched = one(fields, "text") == as_sent(str(before.args.get("text", "")))
        return {name: texts for name, texts in fields.items() if name != "text" or not untouched}
    return _call(before, now, fields)


def _call(before: Ask, now: Ask, fields: Posted) -> Posted:
    if before.kind != "action" or before.tool is None:
        return fields
    read = read_form(before.proposal.schema, before.args, fields, hidden=before.content.hidden)
    if one(fields, "tab") == "json":
        if read.errors:  # it stays as it was typed, and says what is wrong
            return fields
        changed = {
            name: value for name, value in read.value.items() if _differs(before, name, value)
        }
        shown = {n: v for n, v in {**now.args, **changed}.items() if n not in now.content.hidden}
        return {**fields, "json": [as_text(shown)]}
    kept = [
        pointer_to("", name)
        for name in {*before.args, *read.value}
        if name not in read.value or _differs(before, name, read.value[name])
    ]
    kept += read.errors
    return {name: texts for name, texts in fields.items() if _of(name, kept)}


def _differs(before: Ask, name: str, value: object) -> bool:
    return name not in before.args or canonical(before.args[name]) != canonical(value)


def _of(name: str, kept: list[str]) -> bool:
    """Whether a field is none of a value, or belongs to one of those."""
    _, found, path = name.partition("/")
    if not found:
        return True
    pointer = f"/{path}"
    return any(
        pointer == one_of or pointer.startswith(f"{one_of}/") or one_of.startswith(f"{pointer}/")
        for one_of in kept
    )


def _plan(before: Ask, now: Ask, fields: Posted) -> Posted:
    try:
        untouched = planning.edited(before, fields) is None
    except SaysoError:  # what is wrong with it is said where it is read again
        untouched = False
    if untouched:
        return {name: texts for name, texts in fields.items() if name not in ("step", "was")}
    old, new = before.args.get("steps", []), list(now.args.get("steps", []))
    places = []
    for step in planning.typed_in(fields, len(old)):
        known = step.was is not None and old[step.was] in new
        places.append(str(new.index(old[step.was])) if known and step.was is not None else "")
    return {**fields, "was": places}
