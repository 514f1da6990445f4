"""An agent: a model, tools, and what of it a person has to see. It is a workflow like any other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from sayso.agent.kit import kit_of
from sayso.agent.limits import Limits
from sayso.agent.loop import work
from sayso.agent.messages import Model
from sayso.agent.models import model_of
from sayso.agent.profile import Profile
from sayso.agent.telling import Callback, callbacks_of
from sayso.agent.voice import voice_of
from sayso.asks.carrying import gated
from sayso.errors import BadValue, Misuse
from sayso.model.content import check_word
from sayso.model.money import say_dollars
from sayso.model.span import Span
from sayso.runs.here import running
from sayso.runs.running import Running
from sayso.runs.workflow import acting, check_agent


class Agent:
    """A model with tools that works on a task until it has an answer.

    ```python
    agent = sayso.Agent("growth", model="openai:...", tools=[search, send], confirm=["send"],
                        plan_every=5)
    run = desk.run(agent, "Tell the customers")
    ```

    Everything it does is in the journal of its run, so that it can be stopped anywhere and
    goes on in any process. Plain functions among its tools run alone; those that declare a
    risk, those behind a gate, and those named in `confirm` ask a person first.

    Args:
        name: What people and the journal call it. Workers find its runs by this name.
        model: `"provider:name"`, or an object with one method `reply` (see `Model`).
        tools: Functions with type annotations and a docstring.
        instructions: What it should know and heed, for every task.
        confirm: Names of tools that ask first whatever they declare; `True` for all.
        plan_every: Make a plan before the first step and anew after so many; a person
            reviews each. `None`: no plans.
        max_steps: How many turns it may take; then a person decides whether it goes on.
        max_tokens: How many tokens it may use.
        max_cost: How many dollars it may cost.
        max_time: How long it may work. Waiting for people does not count.
        price: What a million tokens cost in dollars, read and written; else as the model says.
        learn: Recall before each task what people prefer of it, what they called bad in tasks like
            this one, and how they decided on calls like it.
        explain: Have the model state with each call why, how sure it is and what contradicts it.
        unseen: Look for past cases of each call of a tool that does not say so itself: `True`,
            or the score from 0 to 1 that one of them must reach.
        together: Carry out approved calls of a turn only when all of them are decided.
        on_step: Called after a step is recorded: a function, or one for each type of step.
            It may return a sentence to have a person review the step.
        on_text: Called with what the model writes, while it writes it.
        verbosity: 0 says nothing, 1 a line a step on standard error, 2 also what the model writes.
        version: Which one it is, where its model, instructions and tools do not tell: what it has
            earned to run alone, it has earned as that.
    """

    def __init__(
        self,
        name: str,
        model: str | Model,
        tools: Sequence[Callable[..., Any]] = (),
        *,
        instructions: str = "",
        confirm: Sequence[str] | Literal[True] = (),
        plan_every: int | None = None,
        max_steps: int = 20,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        max_time: Span | None = None,
        price: tuple[float, float] | None = None,
        learn: bool = False,
        explain: bool = False,
        unseen: bool | float = False,
        together: bool = False,
        on_step: Callback | Mapping[type, Callback] | None = None,
        on_text: Callable[[str], object] | None = None,
        verbosity: int = 0,
        version: str | None = None,
    ) -> None:
        if plan_every is not None and (type(plan_every) is not int or plan_every < 1):
            raise BadValue(f"plan_every={plan_every!r}: give a whole number above 0, or None.")
        if isinstance(confirm, str):
            raise BadValue(f"confirm={confirm!r}: give a list of names: [{confirm!r}].")
        if price is not None and not _is_price(price):
            raise BadValue(
                f"price={price!r}: give two numbers, dollars for a million tokens in and out."
            )
        if type(verbosity) is not int or verbosity not in (0, 1, 2):
            raise BadValue(f"verbosity={verbosity!r}: it is 0, 1 or 2.")
        self.name = name = check_agent(name)
        self.profile = Profile(
            name=name,
            model=model_of(model),
            kit=kit_of(tools, confirm, agent=name, explain=explain, unseen=unseen),
            limits=Limits.of(max_steps, max_tokens, max_cost, max_time),
            on_step=callbacks_of(on_step),
            find_voice=voice_of(verbosity),
            instructions=instructions,
            plan_every=plan_every,
            price=price,
            together=together,
            learn=learn,
            explain=explain,
            on_text=on_text,
            declared=check_word(version, "version") or "",
        )

        def fn(run: Running, task: str) -> str:
            return work(self.profile, run, task)

        module = sys._getframe(1).f_globals["__name__"]  # noqa: SLF001
        self.__sayso_workflow__ = acting(name, module, fn)

    def __repr__(self) -> str:
        """Show which agent it is."""
        return f"<Agent {self.name}>"

    def as_tool(
        self, description: str | None = None, *, name: str | None = None
    ) -> Callable[[str], str]:
        """Return it as a tool for another agent, or for a workflow.

        What it asks reaches people with the whole chain of who works for whom.

        Args:
            description: What the model of the other agent is told it is good for.
            name: The name of the tool; the agent's own, if it is left out.
        """
        called = name or self.name

        def ask(task: str) -> str:
            run = running()
            if run is None:
                raise Misuse(
                    f"{called}(...) works inside a run: give it to another agent as a tool, or call "
                    "it in a workflow. By itself: desk.run(agent, task)."
                )
            return work(self.profile, run, task)

        ask.__name__ = ask.__qualname__ = called
        ask.__doc__ = (
            description or self.profile.instructions or f"Give a task to the agent {self.name}."
        )
        ask.__sayso_gate__ = gated(ask, name=called, asks=True)  # type: ignore[attr-defined]
        return ask

    def describe(self) -> str:
        """Return in words what it may do alone, and what asks a person first."""
        kit = self.profile.kit.values()
        asks = [f"{held.name} ({held.why})" for held in kit if held.asks() and not held.later]
        later = [f"{held.name} ({held.why})" for held in kit if held.asks() and held.later]
        inner = [held.name for held in kit if held.gate.rules.asks]
        alone = [held.name for held in kit if not held.asks() and held.name not in inner]
        limits = self.profile.limits
        bounds = [f"{limits.steps} steps"]
        bounds += [f"{limits.tokens:,} tokens"] if limits.tokens is not None else []
        bounds += [say_dollars(limits.cost)] if limits.cost is not None else []
        bounds += [f"{limits.seconds:g} s of work"] if limits.seconds is not None else []
        every = self.profile.plan_every
        plans = "none" if every is None else f"before the first step and every {every}; reviewed"
        return "\n".join(
            [
                f"{self.name}",
                f"  runs alone: {', '.join(alone) or 'nothing'}",
                f"  asks first: {', '.join(asks) or 'nothing'}",
                *([f"  asks later: {', '.join(later)}"] if later else []),
                *([f"  asks while it works: {', '.join(inner)}"] if inner else []),
                f"  plans: {plans}",
                f"  at most: {', '.join(bounds)}",
            ]
        )


def _is_price(price: object) -> bool:
    if not isinstance(price, tuple | list) or len(price) != 2:
        return False
    return all(isinstance(part, int | float) and part >= 0 for part in price)
