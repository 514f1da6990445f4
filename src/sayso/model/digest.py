"""Canonical JSON, and the digests by which people and programs name what they saw.

A proposal is frozen when its ask opens: written once as canonical JSON, hashed,
shown, and checked again before it is carried out. That only holds if the same
value always gives the same text, and the text gives back the same value. What
JSON would silently change (the key `1` into `"1"`) or cannot hold (NaN, sets,
dates) is therefore refused here, with its place and with what to do instead.

Converting richer Python types is the job of `schema`.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any, TypeAlias, overload

from sayso.errors import BadValue
from sayso.model.text import one_line

Json: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None

# Fixed, rather than left to the interpreter's stack: what is stored from a shallow
# stack must be readable from a deep one. What comes from outside is given a limit and
# may nest half as deep as what we wrap it in, so that it still fits once it is wrapped.
MAX_DEPTH = 64
_MAX_DEPTH_WRAPPED = 2 * MAX_DEPTH

_ENCODER = json.JSONEncoder(
    sort_keys=True,
    ensure_ascii=False,
    allow_nan=False,
    separators=(",", ":"),
    check_circular=False,  # a loop then ends in a RecursionError, which costs nobody else anything
)
_DECODER = json.JSONDecoder()
_PLAIN = 2**63  # integers below it are short
_FRAME = struct.Struct(">Q").pack  # the length of a part, in eight bytes


def _encoding() -> Callable[[object], str]:
    """Return how to encode: with the C encoder made once, where there is one.

    `JSONEncoder.encode` makes it anew at every call, which takes as long as the encoding itself.
    """
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    text: Any = getattr(json.encoder, "encode_basestring", None)
    try:
        encode = make(None, _ENCODER.default, text, None, ":", ",", True, False, False)  # noqa: FBT003
    except TypeError:  # another Python: the plain way is right everywhere
        return _ENCODER.encode
    return lambda value: "".join(encode(value, 0))


_encode = _encoding()


def canonical(value: object, *, limit: int | None = None, what: str = "value") -> str:
    """Write a value as JSON in the one form that is hashed and stored.

    Keys are sorted by code point, integers are exact, `1` and `1.0` stay
    different, tuples become lists, and enums of text or numbers their value.

    Args:
        value: Plain data.
        limit: The most bytes of UTF-8 the text may have. Give one for whatever
            comes from outside; it then may also nest at most `MAX_DEPTH` levels.
        what: How an error names the value.

    Raises:
        BadValue: JSON cannot hold it as it is; `error.path` says where.
    """
    return _checked(value, limit, what)[0]


def written(plain: Json, *, what: str = "value") -> str:
    """Write what was read from JSON, or put together from checked parts, as `canonical` would.

    Its keys are known to be text, so what was written is not read back: half the time.

    Raises:
        BadValue: a text in it holds half a character, or it is no JSON after all.
    """
    try:
        text = _encode(plain)
        text.encode()  # refuses half a character
    except (TypeError, ValueError, RecursionError):
        return canonical(plain, what=what)  # which says where it is wrong
    return text


def quoted(text: str) -> str:
    """Return a text as JSON has it, in the one form that `canonical` writes."""
    return encode_basestring(text)


def read(text: str) -> Any:  # noqa: ANN401 - JSON is what it is
    """Read what `canonical` or `written` wrote.

    Raises:
        ValueError: it is not JSON, has blanks around it, or nests deeper than anything either writes.
    """
    try:
        plain, end = _DECODER.raw_decode(text)
    except RecursionError as error:
        raise ValueError("it nests too deep to be read") from error
    if end != len(text):
        raise ValueError(f"there is more after the JSON that ends at {end}")
    return plain


@overload
def frozen(
    value: dict[str, Any], *, limit: int | None = ..., what: str = ...
) -> dict[str, Any]: ...
@overload
def frozen(value: object, *, limit: int | None = ..., what: str = ...) -> Json: ...
def frozen(value: object, *, limit: int | None = None, what: str = "value") -> Json:
    """Return a deep, plain copy: nothing the caller does later can change it.

    Raises:
        BadValue: as `canonical`.
    """
    if _is_plain(value, limit):
        return value  # type: ignore[return-value]
    return _checked(value, limit, what)[1]


def _is_plain(value: object, limit: int | None) -> bool:
    """Whether this is its own copy: nearly all arguments and results are, and need no writing."""
    if type(value) is str:
        # Escaped in JSON, a plain character takes six bytes at most.
        return value.isascii() and (limit is None or 6 * len(value) + 2 <= limit)
    if type(value) is int:
        return -_PLAIN < value < _PLAIN
    return value is None or value is True or value is False


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical JSON, in hexadecimal.

    Raises:
        BadValue: as `canonical`.
    """
    return text_digest(canonical(value))


class Decoded(Mapping[str, Any]):
    """A JSON object that is decoded only if somebody looks at it."""

    __slots__ = ("_text", "_values")

    def __init__(self, text: str) -> None:
        self._text = text
        self._values: dict[str, Any] | None = None

    def _read(self) -> dict[str, Any]:
        if self._values is None:
            self._values = read(self._text)
        return self._values

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - JSON
        """Return one of its values."""
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._read())

    def __len__(self) -> int:
        """How many values it has."""
        return len(self._read())

    def __repr__(self) -> str:
        """Show it as the dict that it stands for."""
        return repr(self._read())


def text_digest(text: str) -> str:
    """Return the digest of a value that is canonical JSON already."""
    return hashlib.sha256(text.encode()).hexdigest()


def sha256(*parts: bytes) -> bytes:
    """Hash several parts as one, so that `(b"ab", b"c")` is not `(b"a", b"bc")`."""
    return hashlib.sha256(b"".join([_FRAME(len(part)) + part for part in parts])).digest()


def path_text(path: Iterable[str | int]) -> str:
    """Write the way to a place inside a value: `items[2].amount`, `prices["per hour"]`."""
    return "".join(_step(part) for part in path).removeprefix(".")


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    if part.isidentifier():
        return "." + one_line(part, 80)
    return f"[{one_line(json.dumps(part, ensure_ascii=False), 80)}]"


def check_size(text: str, limit: int | None, what: str) -> None:
    """Refuse a text of more than so many bytes.

    Raises:
        BadValue: it is too large; `what` names it.
        UnicodeEncodeError: it holds half a character, which no file could.
    """
    size = len(text.encode())
    if limit is not None and size > limit:
        raise BadValue(
            f"The {what} would take {size:,} bytes as JSON; at most {limit:,} are allowed. "
            "Store the data elsewhere and pass a reference and its digest."
        )


_SCALARS = (str, int, bool, type(None))  # what they are written as can only be read as them


def _checked(value: object, limit: int | None, what: str) -> tuple[str, Json]:
    """Return the canonical text and what it reads back as."""
    depth = _MAX_DEPTH_WRAPPED if limit is None else MAX_DEPTH
    try:
        text = _encode(value)
        # Before reading back: the limit is the guard against values of many megabytes.
        check_size(text, limit, what)
        if type(value) in _SCALARS:
            return text, value  # type: ignore[return-value]
        plain: Json = read(text)
    except (TypeError, ValueError, RecursionError) as error:
        _explain(value, what, depth)
        reason = one_line(str(error), 200)
        raise BadValue(f"The {what} cannot be written as JSON: {reason}") from None

    # Reading back is the cheap way to catch keys that JSON turned into text. Tuples
    # come back as lists, which is harmless: then the walk finds nothing.
    if plain != value or _is_deeper(text, plain, depth):
        _explain(value, what, depth)
    return text, plain


def _is_deeper(text: str, plain: Json, depth: int) -> bool:
    # Nearly every value has fewer brackets than levels allowed; counting them is quick.
    if text.count("[") + text.count("{") <= depth:
        return False
    level = _containers([plain])
    for _ in range(depth):
        level = [inner for node in level for inner in _containers(node)]
    return bool(level)


def _containers(node: list[Any] | dict[str, Any]) -> list[Any]:
    children = node.values() if isinstance(node, dict) else node
    return [child for child in children if isinstance(child, dict | list)]


def _explain(value: object, what: str, depth: int) -> None:
    """Walk a value and raise `BadValue` for the first thing JSON cannot hold, if any."""
    for path, trouble in _troubles(value, (), (), depth):
        where = path_text(path)
        raise BadValue(f"The {what} cannot be stored: {where or 'it'} {trouble}", path=where)


_Path: TypeAlias = tuple[str | int, ...]


def _troubles(
    value: object, path: _Path, inside: tuple[int, ...], depth: int
) -> Iterator[tuple[_Path, str]]:
    if not isinstance(value, dict | list | tuple):
        if trouble := _scalar_trouble(value):
            yield path, trouble
        return
    if id(value) in inside:
        yield path, "contains itself. Pass a copy without the loop."
        return
    if len(inside) >= depth:
        yield path, f"is nested more than {depth} levels deep. Flatten it, or pass it as text."
        return

    inside = (*inside, id(value))
    if isinstance(value, dict):
        if trouble := _key_trouble(value):
            yield path, trouble
            return
        for key, child in value.items():
            yield from _troubles(child, (*path, key), inside, depth)
    else:
        for index, child in enumerate(value):
            yield from _troubles(child, (*path, index), inside, depth)


def _key_trouble(value: dict[object, object]) -> str | None:
    seen = set()
    for key in value:
        if not isinstance(key, str):
            return (
                f"has the key {one_line(repr(key), 80)} of type {type(key).__name__}; "
                "keys in JSON are text. Use str(key)."
            )
        if trouble := _scalar_trouble(key):
            return f"has a key that {trouble}"
        # A subclass of str with an equality of its own can be two keys here, one in JSON.
        plain = str.__str__(key)
        if plain in seen:
            return f"has the key {one_line(repr(plain), 80)} twice. Rename one of them."
        seen.add(plain)
    return None


def _scalar_trouble(value: object) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _text_trouble(value)
    if isinstance(value, int):
        return _int_trouble(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return None
        return f"is {float.__repr__(value)}, which JSON cannot hold. Use None, or leave it out."
    return f"is of type {type(value).__name__}, which JSON cannot hold. {_advice(value)}"


def _text_trouble(value: str) -> str | None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        return (
            f"has half a character (a lone surrogate) at position {error.start}. "
            'Decode the bytes again, or clean it: text.encode("utf-8", "replace").decode().'
        )
    return None


def _int_trouble(value: int) -> str | None:
    try:
        int.__repr__(value)
    except ValueError:
        return "is an integer of too many digits for Python to write. Pass it as hexadecimal text."
    return None


def _advice(value: object) -> str:
    if isinstance(value, set | frozenset):
        return "Sort it into a list: sorted(value)."
    if isinstance(value, bytes | bytearray | memoryview):
        return "Pass text (base64), or a reference and its digest."
    if hasattr(value, "isoformat"):
        return (
            "Pass ISO text: value.isoformat(), or annotate the parameter in the signature "
            "and it is converted both ways."
        )
    return (
        "Pass plain data, such as str(value) or a dict of its fields, or annotate the parameter "
        "with a Pydantic type and it is converted both ways."
    )
