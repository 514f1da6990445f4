"""Making something until nobody calls it bad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from sayso.asks.forms import Feedback, Form
from sayso.insight.reminding import again
from sayso.model.content import pairs
from sayso.runs.journal import Entry
from sayso.runs.lanes import Lane
from sayso.runs.work import Passage
from sayso.runs.workflow import Runnable, workflow_of

_LONGEST = 20_000  # characters of what was said to the tries before the last
Make = Callable[[str | None], Any] | Runnable


class Improver(Protocol):
    """What it needs of its run."""

    def entry(self, key: str, verb: str, name: str, *, holds: bool = False) -> Entry | None:
        """Return what the journal has at this place."""
        ...

    def stepping(
        self,
        key: str,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        check: Callable[[Any], object] = ...,
    ) -> Passage:
        """Run a step."""
        ...

    def nesting(
        self,
        lane: Lane,
        key: str,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Passage:
        """Run a workflow inside."""
        ...

    def asking(self, lane: Lane, key: str, form: Form[Any]) -> Passage:
        """Put a form to people."""
        ...


def improve_passage(
    run: Improver,
    lane: Lane,
    key: str,
    make: Make,
    task: str,
    tries: int,
    form_of: Callable[[Any], Form[Feedback | None]],
) -> Passage:
    """Show what was made; while it is called bad, make it again with what people said."""
    flow = workflow_of(make)
    name = flow.name if flow is not None else getattr(make, "__qualname__", type(make).__name__)
    run.entry(key, "improve", name, holds=True)
    inner = Lane(run, key)
    made: Any = None
    said: list[str] = []
    for _ in range(tries):
        place = inner.next()
        if flow is not None:
            given = again(task, made, said) if said else task
            made = yield from run.nesting(lane, place, flow.fn, (run, given), {})
        else:
            fits = partial(_check_size, task)
            made = yield from run.stepping(place, make, (_guidance(said),), {}, fits)  # type: ignore[arg-type]
        feedback = yield from run.asking(lane, inner.next(), form_of(made))
        if feedback is None or feedback.rating != "bad":
            return made
        said.append(feedback.comment or "")
    return None


def _guidance(said: Sequence[str]) -> str | None:
    """Return what people said to all tries, the newest last; the oldest go if it is too much."""
    if not said:
        return None
    kept, size = [said[-1]], len(said[-1])
    for words in reversed(said[:-1]):
        size += len(words)
        if size > _LONGEST:
            break
        kept.append(words)
    return "\n\n".join(words for words in reversed(kept) if words.strip())


def _check_size(task: str, made: object) -> None:
    pairs({"task": task, "result": made}, "result")
