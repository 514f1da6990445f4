"""What a condition is made of, as the library that evaluates it has read it.

It gives its reading away as a protocol buffer (`cel.expr.CheckedExpr`). The few fields that matter are
read here, so that nothing of ours ever reads a condition in another way than it is evaluated.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_SIGN = 1 << 63


class UnknownPart(ValueError):
    """Something in a condition that is none of the parts below."""


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written out."""

    value: str | float | bool | None


@dataclass(frozen=True, slots=True)
class Member:
    """`of.name`, or whether there is one: `has(of.name)`."""

    of: Part
    name: str
    has: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator, such as `_&&_`; what stands before a dot is given first."""

    name: str
    given: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Several:
    """A list that is written out."""

    items: tuple[Part, ...]


Part = Name | Literal | Member | Call | Several
_Field = tuple[int, int | bytes]


def parts_of(compiled: bytes) -> Part:
    """Return what a compiled condition is made of.

    Raises:
        UnknownPart: something in it is nothing of what is known here.
    """
    try:
        (checked,) = (value for number, value in _fields(compiled) if number == 2)
        (whole,) = (value for number, value in _fields(_bytes(checked)) if number == 4)
        return _part(_bytes(whole))
    except (IndexError, UnicodeDecodeError, ValueError, struct.error) as error:
        raise UnknownPart(str(error)) from None


def parts_in(part: Part) -> Iterator[Part]:
    """Yield a part and all that it is made of."""
    yield part
    match part:
        case Member(of=inner):
            yield from parts_in(inner)
        case Call(given=several) | Several(items=several):
            for inner in several:
                yield from parts_in(inner)
        case _:
            return


def _part(data: bytes) -> Part:
    (found,) = ((number, value) for number, value in _fields(data) if number != 2)  # 2 is its id
    match found:
        case 3, bytes(said):
            return Literal(_literal(said))
        case 4, bytes(said):
            ((_, name),) = _fields(said)
            return Name(_text(name))
        case 5, bytes(said):
            fields = dict(_fields(said))
            return Member(_part(_bytes(fields[1])), _text(fields[2]), has=bool(fields.get(3)))
        case 6, bytes(said):
            return _call(list(_fields(said)))
        case 7, bytes(said):
            return Several(tuple(_part(_only(1, one)) for one in _fields(said)))
        case _:
            raise UnknownPart(f"an expression of kind {found[0]}")


def _call(fields: list[_Field]) -> Call:
    (name,) = (_text(value) for number, value in fields if number == 2)
    target = [value for number, value in fields if number == 1]
    given = [value for number, value in fields if number == 3]
    return Call(name, tuple(_part(_bytes(value)) for value in (*target, *given)))


def _literal(data: bytes) -> str | float | bool | None:
    (found,) = _fields(data)
    match found:
        case 1, int():
            return None
        case 2, int(said):
            return bool(said)
        case 3, int(said):
            return said - 2 * _SIGN if said & _SIGN else said
        case 4, int(said):
            return said
        case 5, bytes(said):
            (number,) = struct.unpack("<d", said)
            return float(number)
        case 6, bytes(said):
            return said.decode()
        case _:
            raise UnknownPart(f"a value of kind {found[0]}")


# --- the wire ---


def _fields(data: bytes) -> Iterator[_Field]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        match key & 7:
            case 0:
                value, at = _varint(data, at)
                yield key >> 3, value
                continue
            case 1:
                size = 8
            case 2:
                size, at = _varint(data, at)
            case other:
                raise UnknownPart(f"a field of type {other}")
        if at + size > len(data):
            raise UnknownPart("a field that ends too early")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        if data[at] < 0x80:
            return value, at + 1
        at, shift = at + 1, shift + 7


def _only(number: int, field: _Field) -> bytes:
    if field[0] != number:
        raise UnknownPart(f"a field {field[0]}")
    return _bytes(field[1])


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise UnknownPart("a number where a message was expected")
    return value


def _text(value: int | bytes) -> str:
    return _bytes(value).decode()
