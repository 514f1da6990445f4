"""Reading a form back: only what changed changes, with its type, and what is wrong is said by place.

A text becomes the type of its control: `40` in a number is the number, in a text it is the text
(E38). What cannot be read is kept as it was typed, with an error at its pointer.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any

from sayso.channels import typed
from sayso.errors import BadValue
from sayso.model.digest import canonical, frozen
from sayso.model.faults import findings
from sayso.model.schema import check_sound
from sayso.model.text import one_line
from sayso.web.forms.parts import Part, Taken, TooMany, parts_of
from sayso.web.forms.sent import MISSING, Posted, Sent, Value, pointer_to

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_HOLD_SEVERAL = frozenset({"array", "object", "checks"})
_TOO_MANY = "has more fields than a form can hold; send fewer, or use the JSON tab"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, and what is wrong with it: each pointer, and a sentence without its subject.

    The empty pointer stands for the value as a whole. With errors, `value` is as near as it gets.
    """

    value: Any
    errors: dict[str, str] = field(default_factory=dict)


class Unreadable(Exception):
    """A text cannot be read as what it should be; the message says what is wrong."""


def read_form(
    schema: object, args: Mapping[str, Any], posted: Posted, *, hidden: Sequence[str] = ()
) -> Reading:
    """Read the arguments from what a browser sent. Those that are hidden stay as they were.

    With `tab=json` the whole is read from the text under `json`. An argument that the schema does
    not ask for may be left out.
    """
    kept = {name: value for name, value in args.items() if name in hidden}
    if tab_of(posted) == "json":
        read = _read_json_tab(posted, kept)
    else:
        shown = {name: value for name, value in args.items() if name not in hidden}
        taken = Taken(
            schema=schema, was=shown, now=shown, sent=Sent(posted), hidden=frozenset(hidden)
        )
        read = read_parts(taken)
    if not isinstance(read.value, dict):
        return Reading(dict(args), read.errors or {"": "must be an object"})
    value = {**read.value, **kept}
    return Reading(value, _with_findings(schema, value, read.errors))


def read_answer(schema: object, posted: Posted) -> Reading:
    """Read the answer to a question. Its pointers begin with `=`."""
    if typed.typed_freely(schema):
        text = Sent(posted).text("=") or ""
        if not text.strip():
            return Reading("", {"=": "is empty"})
        return Reading(
            typed.read_answer(_line_feeds(text), schema if isinstance(schema, Mapping) else None)
        )
    read = read_parts(Taken(schema=schema, sent=Sent(posted), root="="))
    if read.value is MISSING:
        return Reading(None, read.errors or {"=": "is missing"})
    return Reading(read.value, _with_findings(schema, read.value, read.errors, root="="))


def tab_of(posted: Posted) -> str:
    """Which tab was on top when it was sent: `form` or `json`."""
    return "json" if "json" in posted.get("tab", ()) else "form"


def read_parts(taken: Taken) -> Reading:
    """Read what stands in the fields, without the check against the schema."""
    try:
        part = parts_of(taken)
    except TooMany:
        return Reading(taken.was, {"": _TOO_MANY})
    errors: dict[str, str] = {}
    return Reading(value_of(part, errors), errors)


def read_json(text: str) -> Any:  # noqa: ANN401 - JSON
    """Read JSON that a person typed.

    Raises:
        Unreadable: it is not JSON, or says something twice.
    """
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        return frozen(value)
    except RecursionError:
        raise Unreadable("is nested too deeply") from None
    except (BadValue, ValueError) as error:
        raise Unreadable(f"is not JSON: {one_line(str(error), 160)}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"it has {one_line(twice, 40)!r} twice")
    return value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number in JSON")


def _read_json_tab(posted: Posted, kept: Mapping[str, Any]) -> Reading:
    texts = posted.get("json", ())
    if len(texts) != 1:
        return Reading(MISSING, {"": "must be sent once, as JSON"})
    try:
        value = read_json(texts[0])
    except Unreadable as error:
        return Reading(MISSING, {"": str(error)})
    if not isinstance(value, dict):
        return Reading(MISSING, {"": "must be an object, such as {...}"})
    forbidden = [name for name in value if name in kept]
    return Reading(
        value, {pointer_to("", name): "is hidden and cannot be edited" for name in forbidden}
    )


def _with_findings(
    schema: object, value: object, errors: dict[str, str], root: str = ""
) -> dict[str, str]:
    """Add what the check against the schema finds, where nothing is wrong yet."""
    said: dict[str, list[str]] = {}
    try:
        text = canonical(schema, what="schema")
        if not isinstance(schema, bool):
            check_sound(text)  # one that is broken would make the validator fall over
        found = findings(text, value)
    except BadValue as error:
        return {root: str(error), **errors}
    for path, sentence in found:
        pointer = root
        for step in path:
            pointer = pointer_to(pointer, step)
        words = said.setdefault(pointer, [])
        if sentence not in words:
            words.append(sentence)
    return {**{pointer: " and ".join(words) for pointer, words in said.items()}, **errors}


# --- the value of a part -----------------------------------------------------------------------


def value_of(part: Part, errors: dict[str, str]) -> Value:
    """Return what a part says now, `MISSING` if nothing; what cannot be read goes to `errors`."""
    if part.control == "secret" or part.read_only:
        return part.was
    if not part.present:
        return MISSING
    try:
        value = _of_parts(part, errors) if part.children else _of_one(part)
    except Unreadable as error:
        errors[part.pointer] = str(error)
        return part.text
    if part.pointer == "=" and part.control in _HOLD_SEVERAL and not value:
        errors.setdefault("=", "is empty: fill it in first")  # nobody has answered yet
    return value


def _of_one(part: Part) -> Value:
    if part.twice:
        raise Unreadable("was sent more than once")
    return _READ[part.control](part)


def _of_parts(part: Part, errors: dict[str, str]) -> Value:
    if part.control == "array":
        return [_of_row(child, errors) for child in part.children]
    if part.control == "union":
        return _of_union(part, errors)
    inner = {child.key: value_of(child, errors) for child in part.children}
    return {name: value for name, value in inner.items() if value is not MISSING}


def _of_row(row: Part, errors: dict[str, str]) -> Value:
    value = value_of(row, errors)
    if value is MISSING:
        errors.setdefault(row.pointer, "is empty; give it a value, or drop the row")
        return None
    return value


def _of_union(part: Part, errors: dict[str, str]) -> Value:
    if part.variants[int(part.chosen)].get("type") == "null":
        return None
    value = value_of(part.children[0], errors)
    if part.unseen:
        errors[part.pointer] = "has another form now: look at its fields, and send it again"
    return value


def _string(part: Part) -> str:
    if part.text is None:
        text = part.now if isinstance(part.now, str) else ""
    else:
        text = _line_feeds(part.text)
    if part.answers and part.starred and not text.strip():
        raise Unreadable("is empty")
    return part.now if isinstance(part.now, str) and text == part.now else text


def _line_feeds(text: str) -> str:
    # Browsers send every line end as CR LF.
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _moment(part: Part) -> str:
    """A time as it was proposed, if what was sent says the same: browsers leave seconds out."""
    text = _string(part)
    kind = time if part.control == "time" else datetime
    try:
        same = isinstance(part.now, str) and kind.fromisoformat(text) == kind.fromisoformat(
            part.now
        )
    except (ValueError, TypeError):
        return text
    same_zone = same and _zone(text) == _zone(part.now)
    return part.now if same_zone else text


def _zone(text: str) -> str:
    return re.sub(r"^.*?[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?", "", text)


def _number(part: Part) -> Value:
    if part.text is None and part.now is not MISSING:
        return part.now
    text = (part.text or "").strip()
    noun = "a number" if part.control == "number" else "a whole number"
    if not text:
        raise Unreadable(f"must be {noun}, and is empty")
    if not _NUMBER.fullmatch(text):
        raise Unreadable(f'must be {noun}, not the text "{one_line(text, 60)}"')
    try:
        return frozen(json.loads(text))
    except (BadValue, ValueError):
        raise Unreadable("is a number too large to be kept") from None


def _from_json(part: Part) -> Value:
    if part.text is None and part.now is not MISSING:
        return part.now
    if not (part.text or "").strip():
        raise Unreadable("is empty; write JSON, such as null")
    if part.read is MISSING:
        part.read = read_json(part.text or "")
    return part.read


def _select(part: Part) -> Value:
    (name,) = part.picked
    if name not in part.values:
        raise Unreadable(f"must be one of {_listed(part)}")
    return part.values[name]


def _checks(part: Part) -> list[Any]:
    """What is ticked, in the order in which it was proposed."""
    if any(name not in part.values for name in part.picked):
        raise Unreadable(f"must be some of {_listed(part)}")
    ticked = {canonical(part.values[name]): part.values[name] for name in part.picked}
    now = part.now if isinstance(part.now, list) else []
    first = {text: value for value in now if (text := canonical(value)) in ticked}
    in_order = {canonical(value): value for value in part.values.values()}
    rest = {text: value for text, value in in_order.items() if text in ticked}
    return list({**first, **rest}.values())


def _listed(part: Part) -> str:
    return one_line(", ".join(canonical(value) for value in part.values.values()), 120)


_READ: dict[str, Callable[[Part], Value]] = {
    **dict.fromkeys(("text", "textarea", "date", "email", "url"), _string),
    **dict.fromkeys(("time", "datetime"), _moment),
    **dict.fromkeys(("number", "integer"), _number),
    "json": _from_json,
    "select": _select,
    "checks": _checks,
    "switch": lambda part: part.checked,
    "const": lambda part: next(iter(part.values.values())),
    "null": lambda _part: None,
    "union": lambda _part: None,  # of which null is chosen
    "object": lambda _part: {},
    "array": lambda _part: [],
}
