"""The verbs as people write them: blocking, or returning at once with a `Later`.

What each verb shows and returns is written once, in `asks.forms`; here are only
the two ways to wait for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar, Unpack

from sayso.asks.forms import Feedback, Form, Forms, Maker, PlanMaker, Reaction, Step, Terms
from sayso.asks.later import Later
from sayso.model.ask import Ask, Decision
from sayso.model.content import Content

T = TypeVar("T")


class Verbs(ABC):
    """Questions that block until somebody answered."""

    forms: Forms

    @abstractmethod
    def _ask(self, form: Form[T]) -> T:
        """Put a form to people and return its outcome."""

    def confirm(
        self, text: str, facts: Mapping[str, Any] | None = None, **terms: Unpack[Terms]
    ) -> Decision:
        """Block until somebody says yes or no; the decision is truthy only for a yes."""
        return self._ask(self.forms.confirm(text, facts, **terms))

    def question(
        self,
        text: str,
        type: object = str,  # noqa: A002
        facts: Mapping[str, Any] | None = None,
        **terms: Unpack[Terms],
    ) -> Any:  # noqa: ANN401
        """Block until somebody answers, with a value of `type`; `None` if nobody will."""
        return self._ask(self.forms.question(text, type, facts, **terms))

    def choose(
        self, text: str, options: Sequence[object], own: object = None, **terms: Unpack[Terms]
    ) -> Any:  # noqa: ANN401 - one of the options
        """Block until somebody chooses an option; `None` for none. `own=True` allows other text."""
        return self._ask(self.forms.choose(text, options, own, **terms))

    def draft(
        self,
        text: str | Maker,
        *,
        title: str = "Draft",
        optional: bool = False,
        **terms: Unpack[Terms],
    ) -> str | None:
        """Block until somebody approves or edits the text; `None` if it is dropped.

        A function instead of a text is called with `None`, and again with the
        reviewer's guidance when they want it written anew. An `optional` review does not
        block: the text comes back at once, and what people say within a day is feedback.
        """
        return self._ask(self.forms.draft(text, title=title, optional=optional, **terms))

    def plan(
        self, steps: Sequence[Step] | PlanMaker, *, title: str = "Plan", **terms: Unpack[Terms]
    ) -> list[Step]:
        """Block until somebody approves or modifies the plan, and return its steps.

        Raises:
            Rejected: the plan was cancelled; do nothing.
        """
        return self._ask(self.forms.plan(steps, title=title, **terms))

    def notice(
        self, text: str, facts: Mapping[str, Any] | None = None, **terms: Unpack[Terms]
    ) -> Reaction:
        """Block until somebody says `"respond"` or `"ignore"`; their words are in its `text`."""
        return self._ask(self.forms.notice(text, facts, **terms))

    def feedback(
        self,
        result: object,
        *,
        task: str | None = None,
        title: str = "How good is this?",
        of: str | None = None,
        **terms: Unpack[Terms],
    ) -> Feedback | None:
        """Block until somebody rates the result; `None` once its time (`within=`) is over.

        What they say is remembered for tasks like `task` of the agent that made it: `agent=`,
        unless it is the one that asks. `of` is the id of the ask whose call made the result: a
        rating that calls it harmful is then an incident of that call.
        """
        return self._ask(self.forms.feedback(result, task=task, title=title, of=of, **terms))


class LaterVerbs:
    """The verbs of a desk, returning at once with a `Later`."""

    def __init__(
        self,
        forms: Forms,
        put: Callable[[Content], Ask],
        wait: Callable[[Ask, float | None], Ask],
        wait_async: Callable[[Ask, float | None], Awaitable[Ask]],
    ) -> None:
        self._forms = forms
        self._open = put
        self._wait = wait
        self._wait_async = wait_async

    def confirm(
        self, text: str, facts: Mapping[str, Any] | None = None, **terms: Unpack[Terms]
    ) -> Later[Decision]:
        """Ask for a yes or no."""
        return self._put(self._forms.confirm(text, facts, **terms))

    def question(
        self,
        text: str,
        type: object = str,  # noqa: A002
        facts: Mapping[str, Any] | None = None,
        **terms: Unpack[Terms],
    ) -> Later[Any]:
        """Ask for an answer of a type."""
        return self._put(self._forms.question(text, type, facts, **terms))

    def choose(
        self, text: str, options: Sequence[object], own: object = None, **terms: Unpack[Terms]
    ) -> Later[Any]:
        """Ask for a choice."""
        return self._put(self._forms.choose(text, options, own, **terms))

    def draft(
        self, text: str | Maker, *, title: str = "Draft", **terms: Unpack[Terms]
    ) -> Later[str | None]:
        """Ask for a review of a text."""
        return self._put(self._forms.draft(text, title=title, **terms))

    def plan(
        self, steps: Sequence[Step] | PlanMaker, *, title: str = "Plan", **terms: Unpack[Terms]
    ) -> Later[list[Step]]:
        """Ask for a review of a plan."""
        return self._put(self._forms.plan(steps, title=title, **terms))

    def notice(
        self, text: str, facts: Mapping[str, Any] | None = None, **terms: Unpack[Terms]
    ) -> Later[Reaction]:
        """Tell people of something."""
        return self._put(self._forms.notice(text, facts, **terms))

    def feedback(
        self,
        result: object,
        *,
        task: str | None = None,
        title: str = "How good is this?",
        of: str | None = None,
        **terms: Unpack[Terms],
    ) -> Later[Feedback | None]:
        """Ask what people think of a result."""
        return self._put(self._forms.feedback(result, task=task, title=title, of=of, **terms))

    def _put(self, form: Form[T]) -> Later[T]:
        return Later(form, lambda asked: self._open(asked.content), self._wait, self._wait_async)
