"""Editing a form without a script: rows added, dropped and moved, values set and left out.

What was sent is sent back, renamed where rows have moved. Nothing that was typed elsewhere changes.
"""

from __future__ import annotations

from collections.abc import Callable

from sayso.web.forms.parts import MOST_FIELDS
from sayso.web.forms.sent import MARKS, Posted, Sent, pointer_to

_LONGEST_KEY = 200


def edit(_schema: object, posted: Posted, do: str) -> Posted:
    """Return what was sent after one operation on it, such as `add:/items` or `up:/items/1`.

    What was sent says where there are lists and keys, also where the schema leaves it open. An
    operation that leads nowhere changes nothing; `variant:/pay` does not either, because the
    variant that is chosen was sent.
    """
    verb, _, name = do.partition(":")
    act = _ACTS.get(verb)
    return posted if act is None else act(posted, name)


def _add(posted: Posted, name: str) -> Posted:
    if f"new:{name}" in posted:
        return _add_key(posted, name)
    rows = Sent(posted).rows(name)
    if rows is None or len(rows) >= MOST_FIELDS:
        return posted
    return {**posted, f"set:{name}": ["1"], f"from:{name}/{len(rows)}": [""]}


def _add_key(posted: Posted, name: str) -> Posted:
    key = Sent(posted).text(f"new:{name}") or ""
    pointer = pointer_to(name, key)
    known = any(_split(sent)[1] == pointer for sent in posted)
    if not key or known or len(key) > _LONGEST_KEY or not key.isprintable():
        return posted
    kept = {sent: texts for sent, texts in posted.items() if sent != f"new:{name}"}
    return {**kept, f"extra:{pointer}": ["1"], f"set:{pointer}": ["1"]}


def _drop(posted: Posted, name: str) -> Posted:
    def without(order: list[int], row: int) -> list[int]:
        return [*order[:row], *order[row + 1 :]]

    return _rearranged(posted, name, without)


def _up(posted: Posted, name: str) -> Posted:
    def raised(order: list[int], row: int) -> list[int]:
        above = max(row - 1, 0)
        order[above], order[row] = order[row], order[above]
        return order

    return _rearranged(posted, name, raised)


def _down(posted: Posted, name: str) -> Posted:
    def lowered(order: list[int], row: int) -> list[int]:
        below = min(row + 1, len(order) - 1)
        order[below], order[row] = order[row], order[below]
        return order

    return _rearranged(posted, name, lowered)


def _rearranged(
    posted: Posted, name: str, rearrange: Callable[[list[int], int], list[int]]
) -> Posted:
    """Return what was sent with the rows of a list in another order, under their new numbers."""
    parent, _, number = name.rpartition("/")
    rows = Sent(posted).rows(parent) or []
    if number not in map(str, range(len(rows))):
        return posted
    order = rearrange(list(range(len(rows))), int(number))
    places = {str(before): after for after, before in enumerate(order)}
    moved = {f"set:{parent}": ["1"]}
    for sent, texts in posted.items():
        mark, pointer = _split(sent)
        if not pointer.startswith(f"{parent}/"):
            moved[sent] = list(texts)
            continue
        row, slash, rest = pointer.removeprefix(f"{parent}/").partition("/")
        if row in places:
            moved[f"{mark}{parent}/{places[row]}{slash}{rest}"] = list(texts)
    return moved


def _set(posted: Posted, name: str) -> Posted:
    kept = {sent: texts for sent, texts in posted.items() if sent != f"unset:{name}"}
    return {**kept, f"set:{name}": ["1"]}


def _unset(posted: Posted, name: str) -> Posted:
    return {**_revert(posted, name), f"unset:{name}": ["1"]}


def _revert(posted: Posted, name: str) -> Posted:
    """Forget what was sent about a value: then it is as it was proposed."""

    def is_about(sent: str) -> bool:
        mark, pointer = _split(sent)
        return pointer.startswith(f"{name}/") or (pointer == name and mark != "from:")

    return {sent: texts for sent, texts in posted.items() if not is_about(sent)}


def _split(sent: str) -> tuple[str, str]:
    """Return the mark, with its colon, and the pointer of a name that was sent."""
    mark, colon, pointer = sent.partition(":")
    return (mark + colon, pointer) if colon and mark in MARKS else ("", sent)


_ACTS: dict[str, Callable[[Posted, str], Posted]] = {
    "add": _add,
    "drop": _drop,
    "up": _up,
    "down": _down,
    "set": _set,
    "unset": _unset,
    "revert": _revert,
}
