"""What tools are given and return, as the journal keeps it, and back again.

Plain JSON stays as it is. What JSON does not have (tuples, sets, dates, arrays, images) is kept in
a form of its own, wherever in a value it stands, and comes back as the type that it was. Anything
else has no form: it would come back as something else, and code would go another way at a replay.
"""

from __future__ import annotations

import base64
import datetime as dt
import io
import json
import math
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import PIL.Image
from smolagents.agent_types import AgentType

_KEPT = "smolagents"
_SHOWN = "shown"  # beside the form of what nobody can read, a word on what it is
_NUMERIC = "biufcSUMm"  # kinds of numbers and texts that are their bytes, and nothing more


class NoForm(Exception):
    """A value that could not be read back as what it is."""

    def __init__(self, value: object) -> None:
        super().__init__(f"a value of the type {type(value).__name__}")
        self.value = value


def raw(value: Any) -> Any:  # noqa: ANN401 - whatever a tool returns
    """Return a value without what smolagents wraps around it."""
    return value.to_raw() if isinstance(value, AgentType) else value


def kept(value: Any) -> Any:  # noqa: ANN401 - whatever a tool returns; JSON, if that is possible
    """Return a result as the journal keeps it. What has no form makes the journal say so."""
    try:
        return written(value)
    except NoForm as error:
        kind = type(error.value).__name__  # not the value: a subclass of dict would pass for one
        return type(kind, (), {})()


def written(value: Any) -> Any:  # noqa: ANN401 - whatever code has; JSON
    """Return a value in the form that `read` reads.

    Raises:
        NoForm: it has none, or something in it.
    """
    try:
        return _written(raw(value))
    except RecursionError as error:  # a list that is in itself
        raise NoForm(value) from error


def _written(value: Any) -> Any:  # noqa: ANN401
    kind = type(value)
    if value is None or kind in (str, int, bool) or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [written(item) for item in value]
    if kind is dict and _KEPT not in value and all(type(name) is str for name in value):
        return {name: written(item) for name, item in value.items()}
    return _marked(value)


def read(stored: Any) -> Any:  # noqa: ANN401 - JSON in, what it was out
    """Return a value from the form that `written` gave it."""
    if isinstance(stored, list):
        return [read(item) for item in stored]
    match stored:
        case {"smolagents": [str() as name, form]} if name in _READ:
            return _READ[name](form)
        case Mapping():
            return {name: read(item) for name, item in stored.items()}
        case _:
            return stored


def formed(stored: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether something in it is not the JSON that it seems to be."""
    if isinstance(stored, list):
        return any(map(formed, stored))
    if not isinstance(stored, Mapping):
        return False
    return _KEPT in stored or any(map(formed, stored.values()))


def _marked(value: Any) -> dict[str, Any]:  # noqa: ANN401
    if type(value) in _WRITE:
        name, write = _WRITE[type(value)]
        shown = {_SHOWN: f"{len(value)} bytes"} if name == "bytes" else {}
        return {_KEPT: [name, write(value)], **shown}
    if isinstance(value, PIL.Image.Image):
        size = f"{value.width} x {value.height}"
        return {_KEPT: ["image", _image(value)], _SHOWN: f"an image ({value.mode}, {size})"}
    np = sys.modules.get("numpy")
    if np is not None and (type(value) is np.ndarray or isinstance(value, np.generic)):
        if value.dtype.kind not in _NUMERIC:
            raise NoForm(value)
        form = [value.dtype.str, list(value.shape), _encoded(value.tobytes())]
        name = "array" if type(value) is np.ndarray else "number"
        return {_KEPT: [name, form], _SHOWN: " ".join(str(value).split())[:200]}
    raise NoForm(value)


def _image(value: PIL.Image.Image) -> str:
    into = io.BytesIO()
    try:
        value.save(into, format="PNG")
        same = PIL.Image.open(into)
        if (same.mode, same.tobytes()) != (value.mode, value.tobytes()):
            raise NoForm(value)
    except (OSError, ValueError) as error:  # a mode that the format does not have
        raise NoForm(value) from error
    return _encoded(into.getvalue())


def _read_image(form: str) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(base64.b64decode(form))).copy()


def _array(form: list[Any]) -> Any:  # noqa: ANN401 - an array of numpy
    import numpy as np  # only agents that have arrays need it

    kind, shape, data = form
    return np.frombuffer(base64.b64decode(data), kind).reshape(shape).copy()


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _items(value: Any) -> list[Any]:  # noqa: ANN401
    return [written(item) for item in value]


def _sorted(value: Any) -> list[Any]:  # noqa: ANN401
    """Return the items of a set in an order that is the same in every process."""
    return sorted(_items(value), key=lambda item: json.dumps(item, sort_keys=True))


def _pairs(value: Any) -> list[Any]:  # noqa: ANN401
    return [[written(name), written(item)] for name, item in value.items()]


def _is(kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda form: kind(read(form))


_WRITE: dict[type, tuple[str, Callable[[Any], Any]]] = {
    tuple: ("tuple", _items),
    set: ("set", _sorted),
    frozenset: ("frozenset", _sorted),
    dict: ("dict", _pairs),
    bytes: ("bytes", _encoded),
    float: ("float", str),
    complex: ("complex", str),
    Decimal: ("decimal", str),
    dt.datetime: ("datetime", dt.datetime.isoformat),
    dt.date: ("date", dt.date.isoformat),
    dt.time: ("time", dt.time.isoformat),
    dt.timedelta: ("timedelta", lambda span: [span.days, span.seconds, span.microseconds]),
    type(Path()): ("path", str),
}
_READ: dict[str, Callable[[Any], Any]] = {
    "tuple": _is(tuple),
    "set": _is(set),
    "frozenset": _is(frozenset),
    "dict": _is(dict),
    "bytes": base64.b64decode,
    "float": float,
    "complex": complex,
    "decimal": Decimal,
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda form: dt.timedelta(*form),
    "path": Path,
    "image": _read_image,
    "array": _array,
    "number": lambda form: _array(form)[()],
}
