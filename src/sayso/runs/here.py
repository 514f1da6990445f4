"""The verbs as module functions, on the run that is being carried on here.

For tools that ask people in the middle (`@sayso.tool(asks=True)`), which know
nothing of the run that calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from sayso.asks.forms import Terms
from sayso.errors import Misuse
from sayso.insight.bounds import NEAR
from sayso.runs.lanes import INSIDE, LANE


def running() -> Any:  # noqa: ANN401 - a Running; a program that runs nothing need not load it
    """Return the run that is being carried on here, or `None`."""
    lane = LANE.get()
    return None if lane is None else lane.run


def _here(verb: str) -> Any:  # noqa: ANN401 - a Running, whose verbs may be awaitable
    run = running()
    if run is None:
        does = verb in ("step", "effect")
        instead = "call the function itself" if does else f"ask on a desk: desk.{verb}(...)"
        raise Misuse(f"sayso.{verb}() works inside a run. Elsewhere {instead}.")
    return run


def inside_effect() -> str | None:
    """Return the name of the step or effect that runs here, in which nothing can be asked."""
    return INSIDE.get()


def step(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    """Run a function once in the current run, and record what it returns."""
    return _here("step").step(fn, *args, **kwargs)


def effect(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    """Carry out a call in the current run that needs nobody's approval, never twice in silence."""
    return _here("effect").effect(fn, *args, **kwargs)


def question(
    text: str,
    type: object = str,  # noqa: A002
    facts: Mapping[str, Any] | None = None,
    **terms: Unpack[Terms],
) -> Any:  # noqa: ANN401
    """Ask for an answer in the current run."""
    return _here("question").question(text, type, facts, **terms)


def cases(text: str, *, tool: str | None = None, limit: int = 5, least: float = NEAR) -> Any:  # noqa: ANN401
    """Look in the current run for what people decided before on things like this."""
    return _here("cases").cases(text, tool=tool, limit=limit, least=least)


def confirm(text: str, facts: Mapping[str, Any] | None = None, **terms: Unpack[Terms]) -> Any:  # noqa: ANN401
    """Ask for a yes or no in the current run."""
    return _here("confirm").confirm(text, facts, **terms)


def choose(text: str, options: Sequence[object], own: object = None, **terms: Unpack[Terms]) -> Any:  # noqa: ANN401
    """Ask for a choice in the current run."""
    return _here("choose").choose(text, options, own, **terms)
