"""The parts of a form: a schema beside what was proposed, and beside what a person typed since.

Drawing and reading go over the same parts, so that what is read is what was drawn. Which control
a part has follows from the schema and from the proposed value: one that its control could not
give back exactly is edited as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sayso.model.digest import canonical
from sayso.model.schema import inferred_schema
from sayso.model.text import hides
from sayso.web.forms.fields import Control
from sayso.web.forms.sent import MISSING, WHOLE, Sent, Value, pointer_to
from sayso.web.forms.shapes import Shape, Shapes, Unfit

MOST_FIELDS = 300
_MOST_PARTS = 4_000  # what may come of rows that were added
_MOST_CHOICES = 100_000  # characters of all choices on one form, and of what stands around them
_AROUND = 40
_DEEPEST = 8

TYPED: frozenset[Control] = frozenset(
    {"text", "textarea", "number", "integer", "date", "time", "datetime", "email", "url", "json"}
)
_FORMATS: dict[str, Control] = {
    "date": "date",
    "time": "time",
    "date-time": "datetime",
    "email": "email",
    "idn-email": "email",
    "uri": "url",
}
_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
_TAKES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


class TooMany(Exception):
    """More was sent than a form can hold."""


@dataclass(slots=True, kw_only=True)
class Part:
    """One value of a form: its schema, what was proposed, and what stands in its input."""

    pointer: str
    name: str
    key: str
    control: Control
    shape: Shape = field(default_factory=dict)
    was: Value = MISSING
    now: Value = MISSING
    text: str | None = None  # what was typed; `None` if `now` still stands
    present: bool = True
    required: bool = False
    optional: bool = False
    fresh: bool = False
    answers: bool = False  # it is, or is part of, an answer: an empty text says nothing
    checked: bool = False
    picked: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    variants: tuple[Shape, ...] = ()
    chosen: str = ""
    unseen: bool = False  # the variant that is chosen was not on the page
    children: tuple[Part, ...] = ()
    origin: str | None = None
    extra: bool = False
    note: str | None = None
    twice: bool = False
    read: Value = MISSING  # a long JSON text is read once
    same: bool | None = None  # and compared once

    @property
    def read_only(self) -> bool:
        """Whether it can be seen and not changed."""
        return bool(self.shape.get("readOnly")) and self.was is not MISSING

    @property
    def starred(self) -> bool:
        """Whether it must be given."""
        return self.required and not self.optional


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a part stands, and what is there: proposed, and now."""

    pointer: str
    key: str = ""
    was: Value = MISSING
    now: Value = MISSING
    required: bool = True
    optional: bool = False
    fresh: bool = False
    depth: int = 0
    origin: str | None = None
    extra: bool = False
    asked: bool = False  # an answer: nothing is chosen until a person chooses


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a form is made from."""

    schema: object
    was: Value = MISSING
    now: Value = MISSING
    sent: Sent = field(default_factory=lambda: Sent(None))
    hidden: frozenset[str] = frozenset()
    root: str = ""  # `=` for an answer


def parts_of(taken: Taken) -> Part:
    """Return the part that holds all others.

    Raises:
        TooMany: what was sent would make more fields than a form can hold.
    """
    if taken.sent.too_much:
        raise TooMany
    answer = taken.root != ""
    place = Place(pointer=taken.root, was=taken.was, now=taken.now, fresh=answer, asked=answer)
    return _Parts(taken).part(taken.schema, place)


class _Parts:
    def __init__(self, taken: Taken) -> None:
        self._taken = taken
        self._sent = taken.sent
        self._shapes = Shapes(taken.schema)
        self._room = MOST_FIELDS
        self._made = 0
        self._choices = _MOST_CHOICES
        self._makers: dict[str, Callable[[Shape, Place], Part]] = {
            "object": self._object,
            "array": self._array,
            "boolean": self._switch,
            "string": self._text,
            "null": lambda shape, place: self._plain(place, shape, "null"),
            "number": lambda shape, place: self._plain(place, shape, "number"),
            "integer": lambda shape, place: self._plain(place, shape, "integer"),
        }

    def part(self, schema: object, place: Place) -> Part:
        """Return the part for one place."""
        self._made += 1
        if self._made > _MOST_PARTS:
            raise TooMany
        if place.depth == 1 and place.key in self._taken.hidden:
            return self._plain(place, {}, "secret")
        try:
            shape = self._shapes.of(schema)
            variants = self._shapes.variants(shape)
        except Unfit as error:
            described = schema if isinstance(schema, dict) else {}
            return self._json(place, _described(described), str(error))
        if variants is not None:
            return self._union(shape, tuple(variants), place)
        (only,) = self._only(shape)
        return self._shaped(only, place)

    def _only(self, shape: Shape) -> Iterable[Shape]:
        """A union of one is that one; what the union says about itself stays."""
        given = shape.get("anyOf") or shape.get("oneOf")
        if not given or "enum" in shape or "const" in shape:
            types = shape.get("type")
            return [{**shape, "type": types[0]} if isinstance(types, list) and types else shape]
        rest = {key: value for key, value in shape.items() if key not in {"anyOf", "oneOf"}}
        return [self._shapes.of({"allOf": [given[0], rest]})]

    def _begun(self, shape: Shape, place: Place) -> Place:
        """What is new begins with its default."""
        new = place.fresh or self._sent.marked("set", _name(place.pointer))
        if place.now is not MISSING or not new or "default" not in shape:
            return place
        return replace(place, now=shape["default"])

    def _shaped(self, shape: Shape, place: Place) -> Part:
        place = self._begun(shape, place)
        part = self._fitting(shape, place)
        if part.control != "json" and self._sent.marked("json", part.name):
            return self._json(place, shape, "it was edited as JSON before")
        return part

    def _fitting(self, shape: Shape, place: Place) -> Part:
        values = _values_of(shape)
        if values is not None and not self._may_choose(values):
            return self._json(place, shape, "it has more choices than a form can hold")
        if values is not None:
            return self._one_of(shape, values, place)
        # Not by what is there now: the next time it is sent, only the proposal is known.
        type_ = _type_of(shape, place.was)
        if place.now is not MISSING and not _takes(type_, place.now):
            return self._json(place, shape, "the value does not fit its schema")
        try:
            return self._typed(type_, shape, place)
        except Unfit as error:
            return self._json(place, shape, str(error))

    def _typed(self, type_: str, shape: Shape, place: Place) -> Part:
        if shape.get("readOnly") and type_ in {"array", "object"} and place.was is not MISSING:
            raise Unfit("it can be read and not changed")
        make = self._makers.get(type_)
        if make is None:
            raise Unfit("its schema does not say what it is")
        return make(shape, place)

    # --- values without parts -------------------------------------------------------------------

    def _plain(self, place: Place, shape: Shape, control: Control) -> Part:
        name = _name(place.pointer)
        texts = self._sent.all(name) if control in TYPED or control == "select" else ()
        text = texts[-1] if texts else None
        part = Part(
            pointer=place.pointer,
            name=name,
            key=place.key,
            control=control,
            shape=shape,
            was=place.was,
            now=place.now,
            text=text,
            required=place.required,
            optional=place.optional,
            fresh=place.fresh,
            answers=self._taken.root != "",
            origin=place.origin,
            extra=place.extra,
            twice=len(texts) > 1,
        )
        if part.read_only:
            part.text = None
        part.present = self._is_present(part, place, typed=bool(part.text))
        return part

    def _is_present(self, part: Part, place: Place, *, typed: bool = False) -> bool:
        if typed or (not part.optional and place.now is not MISSING):
            return True
        if self._sent.marked("unset", part.name):
            return False
        if self._sent.marked("set", part.name):
            return True
        # A value that was proposed without something it needs stays without, until it is given.
        is_tag = part.control == "const"
        return place.now is not MISSING or (place.fresh and (place.required or is_tag))

    def _json(self, place: Place, shape: Shape, why: str) -> Part:
        part = self._plain(place, shape, "json")
        part.note = why
        return part

    def _text(self, shape: Shape, place: Place) -> Part:
        text = place.now if isinstance(place.now, str) else ""
        if "\r" in text or hides(text):
            raise Unfit("it holds characters that cannot be seen, or that a browser would change")
        control = _FORMATS.get(shape.get("format", ""), "text")
        longest = shape.get("maxLength", 0)
        is_long = len(text) > 80 or "\n" in text or longest > 200 or _is_prose(shape, place)
        if is_long and ("\n" in text or control == "text"):
            control = "textarea"
        return self._plain(place, shape, control)

    def _switch(self, shape: Shape, place: Place) -> Part:
        name = _name(place.pointer)
        marked = self._sent.marked("set", name)
        if place.asked or (place.now is MISSING and not place.fresh and not marked):
            return self._one_of(shape, (True, False), place)
        part = self._plain(place, shape, "switch")
        ticked = bool(self._sent.all(name))
        part.checked = ticked if marked and not part.read_only else ticked or place.now is True
        part.present = self._is_present(part, place, typed=ticked)
        return part

    def _may_choose(self, values: tuple[Any, ...]) -> bool:
        """Whether there is room for these choices; many fields may refer to one long list."""
        if len(values) * _AROUND > self._choices:
            return False
        self._choices -= sum(_AROUND + len(canonical(value)) for value in values)
        return self._choices >= 0

    def _one_of(self, shape: Shape, values: Iterable[Any], place: Place) -> Part:
        """A value of a few: a select, or nothing to choose if there is one."""
        known = _named(values)
        now = _chosen(known, place.now)
        if place.now is not MISSING and now is None:
            return self._json(place, shape, "the value does not fit its schema")
        if len(known) == 1:
            part = self._plain(place, shape, "const")
        else:
            part = self._plain(place, shape, "select")
            sent = part.text
            part.picked = (sent,) if sent is not None else (now,) if now is not None else ()
            part.present = any(part.picked)
        part.values = known
        return part

    # --- values with parts ----------------------------------------------------------------------

    def _union(self, shape: Shape, variants: tuple[Shape, ...], place: Place) -> Part:
        name = _name(place.pointer)
        if self._sent.marked("json", name) and not self._sent.marked("variant", name):
            return self._json(place, shape, "it was edited as JSON before")
        place = self._begun(shape, place)
        fitting = _variant_of(variants, place.now)
        if place.now is not MISSING and fitting is None:
            return self._json(
                place, shape, "the value fits none of the forms that are allowed here"
            )
        part = self._plain(place, shape, "union")
        part.variants = variants
        lone = _lone(variants)
        part.chosen = self._choice(part, fitting, lone)
        part.present = part.chosen != ""
        shown = int(part.chosen) if part.chosen else lone
        if shown is not None and variants[shown].get("type") == "null" and lone is not None:
            shown = lone  # drawn empty, so that a text can be typed at once
        if shown is not None:
            same = str(shown) == ("" if fitting is None else str(fitting))
            inner = replace(place, optional=False, required=True, extra=False, origin=None)
            if not same:
                inner = replace(inner, was=MISSING, now=MISSING, fresh=True)
            part.children = (self._shaped(variants[shown], inner),)
        return part

    def _choice(self, part: Part, fitting: int | None, lone: int | None) -> str:
        """Which variant is meant: what was chosen, unless a text was typed where nothing was."""
        drawn = "" if fitting is None else str(fitting)
        sent = self._sent.text(f"variant:{part.name}")
        chosen = drawn if sent is None else sent
        known = {str(number) for number in range(len(part.variants))}
        if chosen not in known:
            chosen = ""
        told = self._sent.text(f"drawn:{part.name}")
        drawn = drawn if told is None else told
        empty = not chosen or part.variants[int(chosen)].get("type") == "null"
        part.unseen = chosen != drawn and not empty and lone is None
        if lone is not None and empty and chosen == drawn and self._sent.text(part.name):
            return str(lone)
        return chosen

    def _object(self, shape: Shape, place: Place) -> Part:
        part = self._plain(place, shape, "object")
        if not part.present:
            return part
        now: Mapping[str, Any] = place.now if isinstance(place.now, dict) else {}
        was: Mapping[str, Any] = place.was if isinstance(place.was, dict) else {}
        known = shape.get("properties", {})
        needed = [name for name in shape.get("required", ()) if isinstance(name, str)]
        hidden = self._taken.hidden if place.depth == 0 else ()
        extras = dict.fromkeys((*now, *self._sent.extras(place.pointer), *sorted(hidden)))
        names = [*_in_order(needed, known), *(name for name in extras if name not in known)]
        self._enter(place, len(names), names)
        others = shape.get("additionalProperties", True)
        part.children = tuple(
            self.part(
                known.get(name, others or {}),
                Place(
                    pointer=pointer_to(place.pointer, name),
                    key=name,
                    was=was.get(name, MISSING),
                    now=now.get(name, MISSING),
                    required=name in needed,
                    optional=name not in needed or (not place.fresh and name not in was),
                    fresh=(place.fresh or place.now is MISSING) and name not in now,
                    depth=place.depth + 1,
                    extra=name not in known,
                ),
            )
            for name in names
        )
        return part

    def _array(self, shape: Shape, place: Place) -> Part:
        now: list[Any] = place.now if isinstance(place.now, list) else []
        was: list[Any] = place.was if isinstance(place.was, list) else []
        rows = self._sent.rows(_name(place.pointer))
        few = self._few(shape, now) if rows is None or rows == [] else None
        if few is not None and self._may_choose(few):
            return self._checks(shape, few, place)
        if _weight(now, self._room) > self._room:
            raise Unfit(f"it would make more than {MOST_FIELDS} fields")
        part = self._plain(place, shape, "array")
        if not part.present:
            return part
        if rows is None:
            rows = [str(index) if index < len(was) else "" for index in range(len(now))]
        self._enter(place, len(now), ())
        # Drawn for the first time, or from JSON, a row stands where it stands.
        moved = bool(self._sent.rows(_name(place.pointer)))
        part.children = tuple(
            self._row(shape, place, index, origin, now if not moved else None)
            for index, origin in enumerate(rows)
        )
        return part

    def _row(
        self, shape: Shape, place: Place, index: int, origin: str, now: list[Any] | None
    ) -> Part:
        proposed: list[Any] = place.was if isinstance(place.was, list) else []
        known = origin.isascii() and origin.isdecimal() and len(origin) < 7
        source = int(origin) if known and int(origin) < len(proposed) else None
        was = MISSING if source is None else proposed[source]
        schema = shape.get("items", {})
        if was is MISSING and now is None and schema in ({}, True) and proposed:
            schema = inferred_schema({"": proposed[0]})["properties"][""]  # like the first one
        return self.part(
            schema,
            Place(
                pointer=pointer_to(place.pointer, index),
                key=str(index + 1),
                was=was,
                now=was if now is None else now[index],
                fresh=was is MISSING and now is None,
                depth=place.depth + 1,
                origin="" if source is None else str(source),
            ),
        )

    def _few(self, shape: Shape, now: list[Any]) -> tuple[Any, ...] | None:
        """The values of which several can be ticked; `None` if these are rows."""
        try:
            items = self._shapes.of(shape.get("items", {}))
        except Unfit:
            return None
        values = _values_of(items)
        if values is None or len(values) > 40:
            return None
        texts = list(map(canonical, now))
        known = set(map(canonical, values))
        return values if len(set(texts)) == len(texts) and known.issuperset(texts) else None

    def _checks(self, shape: Shape, values: tuple[Any, ...], place: Place) -> Part:
        part = self._plain(place, shape, "checks")
        part.values = _named(values)
        ticked = tuple(self._sent.all(part.name))
        if ticked or self._sent.marked("set", part.name):
            part.picked = ticked
        elif isinstance(place.now, list):
            part.picked = tuple(_chosen(part.values, value) or "" for value in place.now)
        if part.read_only:
            part.picked = tuple(_chosen(part.values, value) or "" for value in part.was)
        part.present = self._is_present(part, place, typed=bool(ticked))
        return part

    def _enter(self, place: Place, count: int, names: Iterable[str]) -> None:
        """Make sure that there is room for so many more fields.

        Raises:
            Unfit: there is not, or their names could not be sent by a browser.
        """
        if place.depth >= _DEEPEST:
            raise Unfit(f"it is nested more than {_DEEPEST} levels deep")
        if count > self._room:
            raise Unfit(f"it would make more than {MOST_FIELDS} fields")
        if any(char in name for name in names for char in "\r\n\0"):
            raise Unfit("the name of a field holds a line end")
        self._room -= count


def _name(pointer: str) -> str:
    return pointer or WHOLE


def _in_order(needed: list[str], known: Mapping[str, Any]) -> list[str]:
    # Canonical JSON sorts names; the list of required ones kept the order of the parameters.
    return list(dict.fromkeys((*(name for name in needed if name in known), *known)))


def _described(schema: Mapping[str, Any]) -> dict[str, Any]:
    words = ("title", "description", "readOnly")
    kinds = (str, str, bool)
    return {
        word: schema[word]
        for word, kind in zip(words, kinds, strict=True)
        if isinstance(schema.get(word), kind)
    }


def _type_of(shape: Shape, value: Value) -> str:
    """Which type a schema asks for; if it does not say, the type that is there."""
    if "type" in shape:
        return str(shape["type"])
    if "properties" in shape:
        return "object"
    if "items" in shape:
        return "array"
    return "" if value is None else _TYPES.get(type(value), "")


def _takes(type_: str, value: object) -> bool:
    kinds = _TAKES.get(type_)
    if kinds is None:
        return True
    return type(value) in kinds and not (
        type_ == "integer" and isinstance(value, float) and not value.is_integer()
    )


def _is_prose(shape: Shape, place: Place) -> bool:
    """A text that is asked for, with nothing said about it, may have several lines."""
    return place.asked and not ({"maxLength", "pattern", "format"} & set(shape))


def _values_of(shape: Shape) -> tuple[Any, ...] | None:
    if "const" in shape:
        return (shape["const"],)
    return tuple(shape["enum"]) if shape.get("enum") else None


def _named(values: Iterable[Any]) -> dict[str, Any]:
    """Return each value by what is sent for it: a text as it is, if all of them are plain texts."""
    known = list(values)
    plain = all(
        isinstance(value, str) and value and value.isprintable() and not hides(value)
        for value in known
    )
    return {value if plain else canonical(value): value for value in known}


def _chosen(known: Mapping[str, Any], value: Value) -> str | None:
    if value is MISSING:
        return None
    written = canonical(value)
    return next((name for name, one in known.items() if canonical(one) == written), None)


def _lone(variants: tuple[Shape, ...]) -> int | None:
    """Which variant is the only one beside null, if it is typed: then its input is always there."""
    others = [n for n, variant in enumerate(variants) if variant.get("type") != "null"]
    if len(others) != 1 or len(variants) != 2:
        return None
    variant = variants[others[0]]
    typed = variant.get("type") in {"string", "number", "integer"}
    return others[0] if typed and _values_of(variant) is None else None


def _variant_of(variants: tuple[Shape, ...], value: Value) -> int | None:
    if value is MISSING:
        return None
    return next((n for n, variant in enumerate(variants) if _fits(variant, value)), None)


def _fits(shape: Shape, value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a value looks like a variant, from the outside. The check proper is not for here."""
    values = _values_of(shape)
    if values is not None:
        return canonical(value) in set(map(canonical, values))
    type_ = _type_of(shape, MISSING)
    if not _takes(type_, value):
        return False
    if not isinstance(value, dict):
        return True
    known = shape.get("properties", {})
    if any(isinstance(name, str) and name not in value for name in shape.get("required", ())):
        return False
    if shape.get("additionalProperties") is False and not known.keys() >= value.keys():
        return False
    tags = ((name, known[name]) for name in value if isinstance(known.get(name), dict))
    return all(_tagged(tag, value[name]) for name, tag in tags)


def _tagged(schema: Mapping[str, Any], value: Any) -> bool:  # noqa: ANN401 - JSON
    values = (schema["const"],) if "const" in schema else schema.get("enum")
    if not isinstance(values, list | tuple):
        return True
    return canonical(value) in set(map(canonical, values))


def _weight(value: Any, most: int) -> int:  # noqa: ANN401 - JSON
    """Count the values in a value, and stop as soon as there are too many."""
    count, waiting = 0, [value]
    while waiting and count <= most:
        node = waiting.pop()
        inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        count += len(inner)
        if count <= most:
            waiting.extend(inner)
    return count
