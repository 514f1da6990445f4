"""What is known of a tool whose call is tried: what it takes, as fields, and the risk it declares.

It is known from the last asks for calls of it that the caller sees: they came with the schema of the
tool and with a risk. What stands in the fields becomes the JSON that is in the address of a trial, so that fields
and JSON are two looks at one call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sayso.errors import BadValue, Tampered
from sayso.insight.trail import Wanted, look
from sayso.model.content import RISKS
from sayso.web.forms.drawing import form_of
from sayso.web.forms.editing import edit
from sayso.web.forms.fields import Form
from sayso.web.forms.reading import read_form
from sayso.web.forms.sent import Posted
from sayso.web.inbox.posting import one as value_of
from sayso.web.pages.trying import Typed, args_of
from sayso.web.visit import Visit

OF = "fields-of"  # under this name a form says of which tool its fields are
_LOOKED_AT = 20  # asks of the tool; some may have come without a schema

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calling:
    """The arguments of a call. Without `form` they are written as JSON; `known` says that they need not."""

    known: bool = False
    form: Form | None = None
    errors: Mapping[str, str] = field(default_factory=dict)


def schema_of(visit: Visit, tool: str) -> Schema | None:
    """Return what a tool takes, as an ask said that the caller sees; without what is hidden."""
    return next((found for one in _asked(visit, tool) if (found := declared(one, tool))), None)


def risk_of(visit: Visit, tool: str) -> str | None:
    """Return the risk that the last ask for a call of a tool declared; `None` if it did not."""
    said = (one.get("risk") for one in _asked(visit, tool) if _about(one, tool))
    risk = next(said, None)
    return risk if risk in RISKS else None


def _asked(visit: Visit, tool: str) -> Iterator[Mapping[str, Any]]:
    """Yield what the last asks about a tool say that the caller sees, the newest first."""
    own = visit.teams()
    try:
        page = look(
            visit.store,
            Wanted(tool=tool, kind="ask.opened"),
            teams=None if own is None else ("", *own),
            limit=_LOOKED_AT,
        )
    except (BadValue, Tampered):
        return
    yield from ((one.event.payload or {}).get("content") or {} for one in page.found)


def _about(content: Mapping[str, Any], tool: str) -> bool:
    return bool((content.get("proposal") or {}).get("tool") == tool)


def declared(content: Mapping[str, Any], tool: str) -> Schema | None:
    """Return what an ask says that its tool takes; `None` if it does not, or is about another."""
    proposal, hidden = content.get("proposal") or {}, content.get("hidden") or ()
    schema: Schema = proposal.get("schema") or {}
    named, needed = schema.get("properties"), schema.get("required") or []
    if not _about(content, tool) or not isinstance(named, dict):
        return None
    return {
        **schema,
        "properties": {name: one for name, one in named.items() if name not in hidden},
        "required": [name for name in needed if name not in hidden],
    }


def drawn(visit: Visit, typed: Typed) -> Calling:
    """Return the arguments in an address as fields; as JSON where it is wanted, or cannot be otherwise."""
    schema = schema_of(visit, typed["tool"].strip()) if typed["tool"].strip() else None
    if schema is None:
        return Calling()
    if typed["form"] == "json":
        return Calling(known=True)
    try:
        return Calling(known=True, form=form_of(schema, args_of(typed["args"])))
    except ValueError:  # that is said beside the JSON
        return Calling(known=True)


@dataclass(frozen=True, slots=True)
class Sent:
    """A form that was sent: what is typed now, and the fields if they have to be looked at again."""

    typed: Typed
    again: Calling | None = None


def sent(visit: Visit, typed: Typed, posted: Posted) -> Sent:
    """Read a form: its fields become the arguments, if they are those of the tool it names.

    `do` is the button: it turns fields into JSON and back, or adds and moves rows of a list.
    """
    do, of, tool = value_of(posted, "do"), value_of(posted, OF), typed["tool"].strip()
    schema = schema_of(visit, of) if of else None
    if schema is None:
        return Sent(_turned(typed, do))
    if of != tool:  # the fields of another one were on the page
        return Sent(typed.put(args="", form="", draw="1"))
    base = _before(typed)
    if ":" in do:
        form = form_of(schema, base, posted=edit(schema, posted, do))
        return Sent(typed.put(draw="1"), Calling(known=True, form=form))
    read = read_form(schema, base, posted)
    now = _turned(typed.put(args=json.dumps(read.value, ensure_ascii=False)), do)
    if not read.errors or do:
        return Sent(now)
    form = form_of(schema, base, posted=posted, errors=read.errors)
    return Sent(typed, Calling(known=True, form=form, errors=read.errors))


def _before(typed: Typed) -> dict[str, Any]:
    """Return what stood in the fields before anybody touched them: the form has it with it."""
    try:
        return args_of(typed["args"])
    except ValueError:
        return {}


def _turned(typed: Typed, do: str) -> Typed:
    if do == "json":
        return typed.put(form="json", draw="1")
    return typed.put(form="", draw="1") if do == "fields" else typed.put(draw="")
