"""What differs between two values, as pieces that a terminal, a page or a mail can draw.

Texts are compared by words, lists by what was added, removed and moved, everything else as old
and new with its type visible. Texts are as they came; whoever draws them makes them visible.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import Match, SequenceMatcher
from functools import partial
from itertools import accumulate, islice
from typing import Any, Literal

from sayso.channels.steps import Step, more_of, step_line
from sayso.model.digest import canonical

PieceKind = Literal["same", "out", "in"]
How = Literal["changed", "added", "removed", "moved"]

MOST_TOKENS = 2_000
MOST_STEPS = 2_000_000  # of comparing, in all texts and lists of one edit; some tenths of a second
_MOST_CHANGES = 500
_MOST_COUNTED = 5000
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MISSING: Any = object()
_ESCAPED = str.maketrans({"~": "~0", "/": "~1"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that stayed, went out, or came in."""

    kind: PieceKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One value that differs. `where` is its JSON Pointer; of a list, `how` says what happened."""

    where: str
    name: str
    how: How = "changed"
    pieces: tuple[Piece, ...] = ()


@dataclass(slots=True)
class Work:
    """How many steps of comparing are left."""

    left: int = MOST_STEPS


def words(before: str, after: str, work: Work | None = None) -> tuple[Piece, ...]:
    """Return what differs between two texts, word by word; line by line if they are long.

    When no work is left, what is not compared yet goes out and comes in as it is.
    """
    if before == after:
        return (Piece("same", before),) if before else ()
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if max(len(old), len(new)) > MOST_TOKENS:
        old, new = _LINE.findall(before), _LINE.findall(after)
    return tuple(_pieces(old, new, work or Work()))


def _pieces(old: Sequence[str], new: Sequence[str], work: Work) -> Iterator[Piece]:
    for how, i, j, k, m in _opcodes(old, new, work):
        if how == "equal":
            yield Piece("same", "".join(old[i:j]))
            continue
        if i < j:
            yield Piece("out", "".join(old[i:j]))
        if k < m:
            yield Piece("in", "".join(new[k:m]))


def _opcodes(
    old: Sequence[str], new: Sequence[str], work: Work
) -> list[tuple[str, int, int, int, int]]:
    """Return how one list becomes the other, in bounded time.

    Where both ends are the same they are not compared; what is common is taken for junk in long
    lists, or one word a thousand times over would cost a minute.
    """
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    middle, other = old[head : len(old) - tail], new[head : len(new) - tail]
    found = [("equal", 0, head, 0, head)] if head else []
    if max(len(middle), len(other)) > MOST_TOKENS:
        found.append(("replace", head, head + len(middle), head, head + len(other)))
    else:
        matcher = _Matcher(middle, other, work)
        found += [
            (how, i + head, j + head, k + head, m + head)
            for how, i, j, k, m in matcher.get_opcodes()
        ]
    if tail:
        found.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return found


class _Matcher(SequenceMatcher[str]):
    """Compares until no work is left; from then on nothing more is the same."""

    a: Sequence[str]
    b2j: dict[str, list[int]]

    def __init__(self, old: Sequence[str], new: Sequence[str], work: Work) -> None:
        super().__init__(None, old, new)
        self._work = work
        # Each place in the old list is held against every one that is the same in the new.
        self._costs = [0, *accumulate(1 + len(self.b2j.get(one, ())) for one in old)]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """Return the longest match, or none when it would take more work than is left."""
        end = len(self.a) if ahi is None else ahi
        cost = self._costs[end] - self._costs[alo]
        if cost > self._work.left:
            return Match(alo, blo, 0)
        self._work.left -= cost
        return super().find_longest_match(alo, ahi, blo, bhi)


def common(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many pieces, or characters, two begin with alike."""
    return next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )


# --- nested values -----------------------------------------------------------------------------


def changes(
    before: Mapping[str, Any], after: Mapping[str, Any], *, plan: bool = False
) -> tuple[Change, ...]:
    """Return what differs between two sets of arguments, by JSON Pointer.

    With `plan`, the items of `steps` are steps, and are written on their lines. More differences
    than anybody reads are counted in a last one, and not compared; nobody counts for ever.
    """
    differences = _Differences(plan=plan).between(dict(before), dict(after), _Place())
    found = tuple(difference.drawn() for difference in islice(differences, _MOST_CHANGES))
    left = sum(1 for _ in islice(differences, _MOST_COUNTED + 1))
    if not left:
        return found
    counted = f"{left:,}" if left <= _MOST_COUNTED else f"over {_MOST_COUNTED:,}"
    return (*found, Change(where="", name=f"and {counted} changes more"))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: for programs, and for people, who count from one."""

    pointer: str = ""
    name: str = ""

    def key(self, name: str) -> _Place:
        pointer = f"{self.pointer}/{name.translate(_ESCAPED)}"
        return _Place(pointer, f"{self.name}.{name}" if self.name else name)

    def item(self, number: int) -> _Place:
        return _Place(f"{self.pointer}/{number}", f"{self.name} {number + 1}".strip())

    def moved(self, old: int, new: int) -> _Place:
        name = f"{self.name} {old + 1} to {new + 1}".strip()
        return _Place(f"{self.pointer}/{new}", name)


@dataclass(frozen=True, slots=True)
class _Difference:
    """One difference that was found, and how its pieces are made when somebody looks."""

    at: _Place
    how: How
    pieces: Callable[[], tuple[Piece, ...]]

    def drawn(self) -> Change:
        return Change(where=self.at.pointer, name=self.at.name, how=self.how, pieces=self.pieces())


@dataclass(frozen=True, slots=True)
class _Differences:
    plan: bool
    work: Work = field(default_factory=Work)

    def between(self, old: Any, new: Any, at: _Place) -> Iterator[_Difference]:  # noqa: ANN401 - JSON
        if old is _MISSING:
            yield _Difference(at, "added", partial(self._one, "in", new, at))
        elif new is _MISSING:
            yield _Difference(at, "removed", partial(self._one, "out", old, at))
        elif canonical(old) == canonical(new):  # 1 and 1.0, and True and 1, are not the same
            return
        elif self._is_step(at):
            yield from self._steps(old, new, at)
        elif isinstance(old, dict) and isinstance(new, dict):
            yield from self._objects(old, new, at)
        elif isinstance(old, list) and isinstance(new, list):
            yield from self._lists(old, new, at)
        else:
            yield _Difference(at, "changed", partial(self._scalar, old, new))

    def _objects(
        self, old: Mapping[str, Any], new: Mapping[str, Any], at: _Place
    ) -> Iterator[_Difference]:
        for name in dict.fromkeys((*old, *new)):
            yield from self.between(old.get(name, _MISSING), new.get(name, _MISSING), at.key(name))

    def _steps(self, old: Step, new: Step, at: _Place) -> Iterator[_Difference]:
        """Yield how the line of a step changed, then what else it says."""
        was, now = step_line(old), step_line(new)
        more, other = more_of(old), more_of(new)
        if was != now:
            yield _Difference(at, "changed", partial(words, was, now, self.work))
        elif more == other:  # a step that says the same in another way
            yield _Difference(at, "changed", partial(self._scalar, old, new))
        yield from self._objects(more, other, at)

    def _lists(self, old: list[Any], new: list[Any], at: _Place) -> Iterator[_Difference]:
        """Yield what became of the items, in their new order."""
        was, now = [canonical(item) for item in old], [canonical(item) for item in new]
        gone: dict[str, deque[int]] = {}
        blocks = [code for code in _opcodes(was, now, self.work) if code[0] != "equal"]
        for _, i, j, _, _ in blocks:
            for number in range(i, j):
                gone.setdefault(was[number], deque()).append(number)
        moved = {
            number: gone[now[number]].popleft()
            for *_, k, m in blocks
            for number in range(k, m)
            if gone.get(now[number])
        }
        left = set(moved.values())
        for _, i, j, k, m in blocks:
            olds = deque(number for number in range(i, j) if number not in left)
            for number in range(k, m):
                if number in moved:
                    here = partial(self._one, "same", new[number], at.item(number))
                    yield _Difference(at.moved(moved[number], number), "moved", here)
                else:
                    before = old[olds.popleft()] if olds else _MISSING
                    yield from self.between(before, new[number], at.item(number))
            for number in olds:
                yield from self.between(old[number], _MISSING, at.item(number))

    def _one(self, kind: PieceKind, value: Any, at: _Place) -> tuple[Piece, ...]:  # noqa: ANN401 - JSON
        return (Piece(kind, step_line(value) if self._is_step(at) else _typed(value)),)

    def _scalar(self, old: object, new: object) -> tuple[Piece, ...]:
        if isinstance(old, str) and isinstance(new, str) and _by_words(old, new):
            return words(old, new, self.work)
        return Piece("out", _typed(old)), Piece("in", _typed(new))

    def _is_step(self, at: _Place) -> bool:
        return self.plan and re.fullmatch(r"/steps/\d+", at.pointer) is not None


def _typed(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _by_words(old: str, new: str) -> bool:
    """Whether two texts are read as words; not if their blanks differ, or one looks like a number."""
    return old.split() != new.split() and not any(map(reads_otherwise, (old, new)))


def reads_otherwise(text: str) -> bool:
    """Whether a text without its quotes would be taken for a number, a yes, or nothing at all."""
    if not text.strip() or text != text.strip() or text[0] == '"':
        return True
    if len(text) > 400:
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
