"""Random schemas as pydantic, people and agents write them, each with values that fit."""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import strategies as st

from sayso.model.digest import canonical

Pair: TypeAlias = tuple[dict[str, Any], st.SearchStrategy[Any]]

ODD = ["a/b", "m~n", "~1", 'qu"ote', "it's", "<b>", "🙂", "", " ", "a b", "é", "set:/x", "\n", "0"]
names = st.one_of(
    st.sampled_from(["amount", "to", "items", "note", "from", "tab", "json"]),
    st.sampled_from(ODD),
    st.text(max_size=4),
)
texts = st.one_of(
    st.sampled_from(["", "5", "true", "null", " x ", "a\nb", "\n", "a\r\nb", "\r", "[U+202E X]"]),
    st.sampled_from(["a\u202eb", "\x00", "\x7f", "<script>", '"', "\ufffe", "e\u0301", "x" * 300]),
    st.text(max_size=20),
)
numbers = st.one_of(
    st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([10**40, -0.0])
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)
words: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}), st.fixed_dictionaries({"title": texts, "description": texts})
)


def _enum(values: list[Any]) -> Pair:
    return {"enum": values}, st.sampled_from(values)


distinct = st.lists(scalars, min_size=1, max_size=4, unique_by=canonical)
plain: st.SearchStrategy[Pair] = st.one_of(
    st.just(({"type": "string"}, texts)),
    st.just(({"type": "string", "maxLength": 500}, texts)),
    st.just(({"type": "integer"}, st.integers())),
    st.just(({"type": "integer", "minimum": 0}, st.integers(min_value=0))),
    st.just(({"type": "number"}, numbers)),
    st.just(({"type": "boolean"}, st.booleans())),
    st.just(({"type": "null"}, st.none())),
    st.just(({"type": "string", "format": "date"}, st.dates().map(str))),
    st.just(({"type": "string", "format": "time"}, st.times().map(str))),
    st.just(
        ({"type": "string", "format": "date-time"}, st.datetimes().map(lambda at: at.isoformat()))
    ),
    st.just(({"type": "string", "format": "email"}, st.sampled_from(["a@b.c", "ä@ü.de", " a@b "]))),
    st.just(({"type": "string", "format": "uri"}, st.sampled_from(["https://x.y", " ", "é"]))),
    distinct.map(_enum),
    scalars.map(lambda value: ({"const": value}, st.just(value))),
    st.just(({}, anything)),
    st.just(({"type": "object"}, st.dictionaries(names, anything, max_size=3))),
    st.just(({"type": "array"}, st.lists(anything, max_size=3))),
    st.just(({"type": ["string", "null"]}, st.one_of(st.none(), texts))),
    st.just(({"type": "string", "sparkles": 1}, texts)),
    st.just(({"prefixItems": [{"type": "string"}]}, st.lists(texts, max_size=2))),
    st.just(({"type": "object", "patternProperties": {"^a": {}}}, st.just({"a": 1, "b": "2"}))),
    st.just(({"type": "string", "readOnly": True}, texts)),
    st.just(({"type": "string", "writeOnly": True}, texts)),
)


@st.composite
def _object(draw: st.DrawFn, inner: st.SearchStrategy[Pair]) -> Pair:
    fields = draw(st.dictionaries(names, inner, max_size=4))
    needed = [name for name in fields if draw(st.booleans())]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: pair[0] for name, pair in fields.items()},
        "required": needed,
    }
    more = draw(st.sampled_from([None, False, True, "numbers"]))
    extra: st.SearchStrategy[dict[str, Any]] = st.just({})
    if more == "numbers":
        schema["additionalProperties"] = {"type": "number"}
        extra = st.dictionaries(names, numbers, max_size=2)
    elif more is not None:
        schema["additionalProperties"] = more
    known = st.fixed_dictionaries(
        {name: fields[name][1] for name in needed},
        optional={name: pair[1] for name, pair in fields.items() if name not in needed},
    )
    return schema, st.builds(
        lambda some, rest: {**rest, **some},
        known,
        extra.map(lambda rest: {name: value for name, value in rest.items() if name not in fields}),
    )


def _list(pair: Pair) -> Pair:
    return {"type": "array", "items": pair[0]}, st.lists(pair[1], max_size=3)


def _few(values: list[Any]) -> Pair:
    some = st.lists(st.sampled_from(values), unique_by=canonical)
    return {"type": "array", "items": {"enum": values}}, some


def _union(pairs: list[Pair]) -> Pair:
    return {"anyOf": [pair[0] for pair in pairs]}, st.one_of([pair[1] for pair in pairs])


def _nullable(pair: Pair) -> Pair:
    schema = {"anyOf": [pair[0], {"type": "null"}], "default": None}
    return schema, st.one_of(st.none(), pair[1])


@st.composite
def _described(draw: st.DrawFn, inner: st.SearchStrategy[Pair]) -> Pair:
    schema, values = draw(inner)
    return {**schema, **draw(words)}, values


pairs: st.SearchStrategy[Pair] = st.recursive(
    _described(plain),
    lambda inner: st.one_of(
        _object(inner),
        inner.map(_list),
        distinct.map(_few),
        st.lists(inner, min_size=1, max_size=3).map(_union),
        inner.map(_nullable),
        inner.map(lambda pair: ({"allOf": [pair[0]]}, pair[1])),
    ),
    max_leaves=8,
)


@st.composite
def arguments(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema of arguments, with definitions referred to, and arguments that fit it."""
    schema, values = draw(_object(pairs))
    if draw(st.booleans()):
        known = schema["properties"]
        schema["$defs"] = {str(n): inner for n, inner in enumerate(known.values())}
        schema["properties"] = {name: {"$ref": f"#/$defs/{n}"} for n, name in enumerate(known)}
    return schema, draw(values)
