"""Drawing a form: the fields that templates show, with what was proposed beside what was typed.

Titles and descriptions come from developers or from agents. They are handed on as they are, and
templates make them visible.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sayso.channels.values import escaped
from sayso.errors import BadValue
from sayso.model.digest import canonical, written
from sayso.web.forms.fields import Choice, Field, Form
from sayso.web.forms.parts import MOST_FIELDS, TYPED, Part, Taken, TooMany, parts_of
from sayso.web.forms.reading import Unreadable, read_json, tab_of, value_of
from sayso.web.forms.sent import MISSING, Posted, Sent, Value, pointer_to
from sayso.web.forms.shapes import CHECKED_LATER, Shape

_MOST_INDENTED = 100_000  # characters; what is longer is not read by eye
_NOUNS = {
    "string": "Text",
    "number": "Number",
    "integer": "Whole number",
    "boolean": "Yes or no",
    "null": "Nothing (null)",
    "array": "List",
    "object": "Object",
}
_FORMAT_NOUNS = {"date": "Date", "time": "Time", "date-time": "Moment", "email": "E-mail address"}
_PLACEHOLDERS = {"datetime": "2026-01-31T09:00:00Z", "time": "09:00:00Z", "date": "2026-01-31"}
# What the pickers of browsers take; anything else they would empty.
_PICKED = {
    "date": ("date", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")),
    "time": ("time", re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2})?")),
    "datetime": (
        "datetime-local",
        re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?"),
    ),
}
_HOLDERS = frozenset({"object", "array", "union", "secret"})
_PLAIN_ADDRESS = re.compile(r"[!-~]*")


def form_of(
    schema: object,
    args: Mapping[str, Any],
    *,
    hidden: Sequence[str] = (),
    posted: Posted | None = None,
    errors: Mapping[str, str] | None = None,
    theirs: bool = False,
) -> Form:
    """Return the form for the arguments of an ask, with what a person has typed so far.

    Values of hidden arguments are not in it, in any form. `theirs` says that whoever asks has sent
    the schema, so that its words are theirs (E39).
    """
    shown = {name: value for name, value in args.items() if name not in hidden}
    typed_json = _typed_json(posted)
    now, sent = shown, Sent(posted)
    if typed_json is not None:
        now, sent = _from_tab(typed_json, shown, hidden), Sent(None)
    taken = Taken(schema=schema, was=shown, now=now, sent=sent, hidden=frozenset(hidden))
    note = None
    try:
        root = parts_of(taken)
    except TooMany:
        note = "More than a form can hold was sent; this is what was proposed."
        root = parts_of(Taken(schema=schema, was=shown, now=shown, hidden=frozenset(hidden)))
    drawn = _draw(root, dict(errors or {}), theirs=theirs)
    whole = drawn.control == "object" and drawn.present
    value = value_of(root, {})
    return Form(
        fields=drawn.children if whole else (drawn,),
        json_text=as_text(value) if typed_json is None else typed_json,
        edits=_edits(root),
        note=note or (drawn.note if whole else None),
        value=value,
    )


def answer_field(
    schema: object,
    *,
    posted: Posted | None = None,
    errors: Mapping[str, str] | None = None,
    theirs: bool = False,
) -> Field:
    """Return the field for the answer to a question. Its pointers begin with `=`."""
    anything = schema or {"type": "string"}
    try:
        part = parts_of(Taken(schema=anything, sent=Sent(posted), root="="))
    except TooMany:
        part = parts_of(Taken(schema=anything, root="="))
    part.key = "Your answer"
    return _unproposed(_draw(part, dict(errors or {}), theirs=theirs))


def _unproposed(field: Field) -> Field:
    """Nobody proposed an answer, so nothing in it differs from one."""
    return replace(field, changed=False, children=tuple(map(_unproposed, field.children)))


def rows_of(schema: object, args: Mapping[str, Any]) -> Field | None:
    """Return the one argument that is a list of objects, for a verdict on each of its rows."""
    lists = [name for name, value in args.items() if _is_rows(value)]
    if len(lists) != 1:
        return None
    form = form_of(schema, args)
    pointer = pointer_to("", lists[0])
    found = next((field for field in form.fields if field.pointer == pointer), None)
    return found if found is not None and found.control == "array" else None


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def as_text(value: Value) -> str:
    """Write a value as JSON to be edited: laid out unless it is long, and nothing in it hides."""
    if value is MISSING:
        return ""
    text = written(value)
    if len(text) <= _MOST_INDENTED:
        text = json.dumps(value, ensure_ascii=False, indent=2)
    return escaped(text)


def _typed_json(posted: Posted | None) -> str | None:
    if posted is None or tab_of(posted) != "json":
        return None
    return next(iter(posted.get("json", ())), "")


def _from_tab(text: str, shown: dict[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    try:
        value = read_json(text)
    except Unreadable:
        return shown
    if not isinstance(value, dict):
        return shown
    return {name: inner for name, inner in value.items() if name not in hidden}


# --- one field ---------------------------------------------------------------------------------


def _draw(part: Part, errors: Mapping[str, str], *, theirs: bool) -> Field:
    children = tuple(_draw(child, errors, theirs=theirs) for child in part.children)
    if part.control == "union" and children:
        children = (_inside(part, children[0]),)
    if part.control == "array":
        children = tuple(_numbered(part, n, row) for n, row in enumerate(children, start=1))
    edits = _edits(part)
    return Field(
        pointer=part.name,
        control=part.control,
        label=part.key,
        title=_title(part),
        id=_id(part),
        help=_help(part),
        theirs=theirs,
        required=part.starred,
        text=_text(part),
        was=_was(part),
        changed=edits > 0,
        checked=part.checked,
        present=part.present,
        optional=part.optional,
        read_only=part.read_only,
        choices=_choices(part, theirs=theirs),
        attrs=_attrs(part),
        children=children,
        can_add=_can_add(part),
        can_drop=part.origin is not None,
        can_move=part.origin is not None,
        can_set=not part.present and part.control not in {"select", "union", "secret"},
        unset=not part.present and part.control not in {"select", "union", "secret"},
        origin=part.origin,
        extra=part.extra,
        note=_note(part),
        error=_error(part, errors),
    )


def _inside(part: Part, child: Field) -> Field:
    """A variant goes by the name of its union, and has changed only if it counts."""
    idle = not part.present or _says_null(part)
    return replace(child, label=part.key, changed=child.changed and not idle)


def _numbered(part: Part, number: int, row: Field) -> Field:
    """A row goes by the name of its list, and by its number."""
    return replace(row, label=f"{part.key} {number}")


def _id(part: Part) -> str:
    # A union and its variant have one pointer, and two inputs.
    first = "v" if part.control == "union" else "f"
    return f"{first}-{hashlib.sha256(part.name.encode()).hexdigest()[:12]}"


def _title(part: Part) -> str | None:
    """Return what a declaration calls a value; `None` if that is only its name in other letters."""
    title = part.shape.get("title")
    if not isinstance(title, str) or not title.strip() or _letters(title) == _letters(part.key):
        return None
    return title


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _help(part: Part) -> str | None:
    words = part.shape.get("description")
    return words if isinstance(words, str) and words.strip() else None


def _note(part: Part) -> str | None:
    if part.control == "secret":
        return "There is a value here. It is hidden, and stays as it is."
    if part.note is not None:
        return f"Shown as JSON, because {part.note}."
    later = [keyword for keyword in CHECKED_LATER if keyword in part.shape]
    if later:
        return f"There are further rules ({', '.join(later)}), which are checked when it is sent."
    if not part.present and "default" in part.shape:
        return f"Not set. The default is {canonical(part.shape['default'])[:80]}."
    return None


def _error(part: Part, errors: Mapping[str, str]) -> str | None:
    said = errors.get(part.pointer)
    if said is not None or part.control != "json":
        return said
    # What is wrong inside a JSON text is said at the text.
    inside = [
        f"{pointer.removeprefix(part.pointer)} {sentence}"
        for pointer, sentence in errors.items()
        if pointer.startswith(f"{part.pointer}/")
    ]
    return "; ".join(inside) or None


def _can_add(part: Part) -> bool:
    if part.control == "object":
        return part.present and bool(part.shape.get("additionalProperties"))
    if part.control != "array" or not part.present:
        return False
    most = part.shape.get("maxItems", MOST_FIELDS)
    return isinstance(most, int) and len(part.children) < min(most, MOST_FIELDS)


def _text(part: Part) -> str:
    if part.text is not None:
        return part.text
    if part.control in {"select", "checks"}:
        return ", ".join(part.picked)
    if part.control == "const":
        return "".join(part.values)
    if part.control in _HOLDERS:  # which have no input; tables of rows show it
        value = MISSING if part.control == "secret" else value_of(part, {})
        return "" if value is MISSING else canonical(value)
    return _as_typed(part, part.now) if part.present else ""


def _was(part: Part) -> str | None:
    """Return what was proposed, as it would stand in the input."""
    if part.was is MISSING or part.control in _HOLDERS:
        return None
    return _as_typed(part, part.was)


def _as_typed(part: Part, value: Value) -> str:
    if value is MISSING:
        return ""
    match part.control:
        case "json":
            return as_text(value)
        case "switch" | "number" | "integer" | "null":
            return canonical(value)
        case "select" | "const":
            known = (
                name for name, one in part.values.items() if canonical(one) == canonical(value)
            )
            return next(known, as_text(value))
        case "checks":
            ticked = set(map(canonical, value)) if isinstance(value, list) else set()
            return ", ".join(n for n, one in part.values.items() if canonical(one) in ticked)
        case _:
            return value if isinstance(value, str) else canonical(value)


def _choices(part: Part, *, theirs: bool) -> tuple[Choice, ...]:
    match part.control:
        case "select":
            known = [
                Choice(name, _spoken(value), name in part.picked)
                for name, value in part.values.items()
            ]
            must = part.starred and part.now is not MISSING
            return tuple(known) if must else (_none(part, chosen=not any(part.picked)), *known)
        case "checks":
            return tuple(
                Choice(name, _spoken(value), name in part.picked)
                for name, value in part.values.items()
            )
        case "union":
            return _variant_choices(part, theirs=theirs)
        case _:
            return ()


def _variant_choices(part: Part, *, theirs: bool) -> tuple[Choice, ...]:
    labels = [_variant_label(variant, theirs=theirs) for variant in part.variants]
    known = [
        Choice(
            str(n),
            label if labels.count(label) == 1 else f"{label} ({n + 1})",
            str(n) == part.chosen,
        )
        for n, label in enumerate(labels)
    ]
    must = not part.optional and part.now is not MISSING
    return tuple(known) if must else (_none(part, chosen=not part.chosen), *known)


def _none(part: Part, *, chosen: bool) -> Choice:
    return Choice("", "Not set" if part.optional else "Choose…", chosen)


def _spoken(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return value if isinstance(value, str) and value else canonical(value)


def _variant_label(shape: Shape, *, theirs: bool) -> str:
    if not theirs and isinstance(shape.get("title"), str) and shape["title"].strip():
        return str(shape["title"])
    if "const" in shape:
        return _spoken(shape["const"])
    tags = (inner for inner in shape.get("properties", {}).values() if isinstance(inner, dict))
    tag = next((inner["const"] for inner in tags if "const" in inner), None)
    if isinstance(tag, str):
        return tag
    noun = _FORMAT_NOUNS.get(shape.get("format", "")) or _NOUNS.get(str(shape.get("type")))
    return noun or "Something else"


# --- attributes of inputs ----------------------------------------------------------------------


def _attrs(part: Part) -> dict[str, str]:
    if part.control not in TYPED:
        return {}
    attrs = _type(part) | _limits(part.shape, _text(part))
    if (
        part.shape.get("writeOnly") and part.was is MISSING
    ):  # what is asked for is for people to see
        attrs |= {"type": "password", "autocomplete": "new-password"}
    return attrs


def _type(part: Part) -> dict[str, str]:
    """Say which input takes this text as it is. One that does not would empty or change it."""
    text = _text(part)
    match part.control:
        case "number" | "integer":
            # Not `number`: of what is half typed, such an input sends nothing, and says nothing.
            return {"type": "text", "inputmode": "decimal"}
        case "date" | "time" | "datetime":
            return _picker(part.control, text)
        case "email" | "url":
            plain = _PLAIN_ADDRESS.fullmatch(text)
            return {"type": part.control if plain else "text"}
        case "text":
            return {"type": "text"}
        case _:
            rows = min(16, max(3, text.count("\n") + 2, len(text) // 80 + 1))
            return {"rows": str(rows)}


def _picker(control: str, text: str) -> dict[str, str]:
    kind, takes = _PICKED[control]
    # A moment without a zone means another one to everybody; a picker knows no zones.
    if takes.fullmatch(text) or (not text and control != "datetime"):
        return {"type": kind, **({"step": "1"} if control != "date" else {})}
    return {"type": "text", "placeholder": _PLACEHOLDERS[control]}


def _limits(shape: Shape, text: str) -> dict[str, str]:
    """Return the limits that a browser can keep. It would cut or refuse what is beyond already."""
    limits: dict[str, str] = {}
    for keyword, name in (("minimum", "min"), ("maximum", "max")):
        value = shape.get(keyword)
        if isinstance(value, int | float) and not isinstance(value, bool):
            limits[name] = canonical(value)
    longest = shape.get("maxLength")
    if isinstance(longest, int) and longest >= len(text.encode("utf-16-le")) // 2:
        limits["maxlength"] = str(longest)
    # No `pattern`: an agent may have written it, and one made to be slow stops the browser.
    return limits


# --- what differs ------------------------------------------------------------------------------


def _edits(part: Part) -> int:
    """Count the values that differ from the proposal."""
    if part.control == "secret" or part.read_only:
        return 0
    if part.was is MISSING or not part.present:
        return int(part.present != (part.was is not MISSING))
    if part.control == "object" and isinstance(part.was, dict):
        gone = part.was.keys() - {child.key for child in part.children}
        return len(gone) + sum(map(_edits, part.children))
    if part.control == "array" and isinstance(part.was, list):
        return _row_edits(part)
    if part.control == "union" and part.children and part.children[0].was is not MISSING:
        return int(not _same(part)) if _says_null(part) else _edits(part.children[0])
    return int(not _same(part))


def _says_null(part: Part) -> bool:
    return bool(part.variants[int(part.chosen)].get("type") == "null")


def _row_edits(part: Part) -> int:
    origins = [int(row.origin) for row in part.children if row.origin]
    dropped = len(set(range(len(part.was))) - set(origins))
    moved = int(origins != sorted(origins))
    return dropped + moved + sum(map(_edits, part.children))


def _same(part: Part) -> bool:
    if part.same is None:
        part.same = _is_same(part)
    return part.same


def _is_same(part: Part) -> bool:
    value = value_of(part, {})
    if value is part.was:
        return True
    try:
        return value is not MISSING and canonical(value) == canonical(part.was)
    except BadValue:
        return False
