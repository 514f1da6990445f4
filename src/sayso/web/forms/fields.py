"""What a form is made of: one field for each value a schema describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Control = Literal[
    "text",
    "textarea",
    "number",
    "integer",
    "switch",
    "select",
    "checks",  # several of a few: an array of an enum
    "date",
    "time",
    "datetime",
    "email",
    "url",
    "object",
    "array",
    "union",
    "const",
    "null",
    "secret",  # there is a value, and nobody sees or changes it
    "json",  # what no other control fits: its JSON text
]


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry of a select, of checks, or one variant of a union. `value` is what is posted."""

    value: str
    label: str
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value of a form. The name of its input is its JSON Pointer: `/items/0/amount`.

    `text` is what stands in the input, `was` what was proposed, as text; `None` if nothing was.
    Of a switch these are `true` and `false`, of a select and of checks the values of choices.
    A union has one child, the variant that is chosen, at the same pointer. `label` is the name that
    the call has for it; `title` is what its declaration calls it, which may say anything. Both title
    and help are `theirs` if whoever asks has sent the schema.
    """

    pointer: str
    control: Control
    label: str
    id: str
    title: str | None = None
    help: str | None = None
    theirs: bool = False
    required: bool = False
    text: str = ""
    was: str | None = None
    changed: bool = False
    checked: bool = False
    present: bool = True
    optional: bool = False
    read_only: bool = False
    choices: tuple[Choice, ...] = ()
    attrs: Mapping[str, str] = field(default_factory=dict)
    children: tuple[Field, ...] = ()
    can_add: bool = False
    can_drop: bool = False
    can_move: bool = False
    can_set: bool = False  # it is absent, and may be given a value
    unset: bool = False  # it was proposed, and was left out since
    origin: str | None = None  # of a row: its place in what was proposed, "" for a new one
    extra: bool = False  # a key that the schema does not name
    note: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """All fields, the same as JSON text, and how many values differ from the proposal."""

    fields: tuple[Field, ...]
    json_text: str
    edits: int = 0
    note: str | None = None
    value: Any = None
