"""Making something until nobody calls it bad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from sayso.asks.forms import Feedback, Form
from sayso.insight.reminding import again
from sayso.runs.journal import Entry
from sayso.runs.lanes import Lane
from sayso.runs.work import Passage
from sayso.runs.workflow import Runnable, workflow_of

Make = Callable[[str | None], Any] | Runnable


class Improver(Protocol):
    """What it needs of its run."""

    def entry(self, key: str, verb: str, name: str, *, holds: bool = False) -> Entry | None:
        """Return what the journal has at this place."""
        ...

    def stepping(
        self, key: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
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
    made, said = None, None
    for _ in range(tries):
        place = inner.next()
        if flow is not None:
            given = task if said is None else again(task, made, said)
            made = yield from run.nesting(lane, place, flow.fn, (run, given), {})
        else:
            made = yield from run.stepping(place, make, (said,), {})  # type: ignore[arg-type]
        feedback = yield from run.asking(lane, inner.next(), form_of(made))
        if feedback is None or feedback.rating != "bad":
            return made
        said = feedback.comment or ""
    return None
