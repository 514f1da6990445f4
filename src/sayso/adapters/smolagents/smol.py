"""`Smol`: an agent of smolagents that a desk can run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from sayso.adapters.base import Running, acting_as, check_host, hosted
from sayso.adapters.smolagents.terms import Terms
from sayso.adapters.smolagents.values import raw
from sayso.adapters.smolagents.watching import check_agent, watched
from sayso.errors import BadValue

OLDEST = "1.23.0"
FAILS: dict[str, str] = {}  # versions that a test of ours fails with, and what does not work


class Smol:
    """An agent of smolagents whose runs pause, go on in any process, and do nothing twice.

    ```python
    research = Smol("research", build, confirm=["send"], review=("plan",))
    run = desk.run(research, "Find out what changed", thread="7", wait=False)
    ```

    It is run again from the start whenever its run goes on: what its model replied and what its
    tools returned comes from the journal then. Tools run alone unless `confirm`, their risk or
    the policy of the desk want a person.

    Args:
        name: What people and the journal call it. Workers find its runs by this name.
        build: A function without arguments that returns the agent; or the agent itself, which
            then works on one run at a time.
        confirm: Names of tools and managed agents that ask first, whatever the policy allows;
            `True` for all.
        review: What people see before it counts: any of `"plan"`, `"code"` and `"answer"`.
        risk: The risk of tools by name: a word, or a function of the arguments.
        gates: What `sayso.tool` takes, by name of tool: `idempotent`, `verify`, `secret` and so on.
        depth: How many calls up the module is found that makes it.

    Raises:
        BadValue: an option makes no sense.
    """

    def __init__(
        self,
        name: str,
        build: Any,  # noqa: ANN401 - a MultiStepAgent, or what returns one
        *,
        confirm: Sequence[str] | Literal[True] = (),
        review: Sequence[str] = (),
        risk: Mapping[str, Any] | None = None,
        gates: Mapping[str, Mapping[str, Any]] | None = None,
        depth: int = 2,
    ) -> None:
        check_host("smolagents", OLDEST, FAILS)
        self.name = name
        self.terms = Terms.of(confirm, risk, review, gates)
        self._build: Callable[[], Any] = build if _builds(build) else lambda: build
        self._alone = threading.Lock() if not _builds(build) else None
        if self._alone is not None:
            check_agent(build, name, self.terms)

        def fn(run: Running, task: str, additional_args: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 - JSON
            return self._work(run, task, additional_args)

        self.__sayso_workflow__ = hosted(name, fn, depth=depth)

    @classmethod
    def agent(cls, name: str, **terms: Any) -> Callable[[Callable[[], Any]], Smol]:  # noqa: ANN401
        """Return a decorator that makes an agent of the function that builds it."""

        def made(build: Callable[[], Any]) -> Smol:
            return cls(name, build, depth=3, **terms)

        return made

    def __repr__(self) -> str:
        """Show which agent it is."""
        return f"<Smol {self.name}>"

    def _work(self, run: Running, task: str, args: dict[str, Any] | None) -> Any:  # noqa: ANN401
        if self._alone is None:
            return self._answer(run, task, args)
        with self._alone:
            return self._answer(run, task, args)

    def _answer(self, run: Running, task: str, args: dict[str, Any] | None) -> Any:  # noqa: ANN401
        agent = self._build()
        check_agent(agent, self.name, self.terms)
        with acting_as(run, self.name), watched(agent, run, self.name, self.terms) as answers:
            answer = raw(agent.run(task, additional_args=args, return_full_result=False))
            if "answer" in self.terms.review:
                answer = answers.settled(answer)
        return answer


def _builds(build: Any) -> bool:  # noqa: ANN401
    """Whether this makes agents. An agent can be called, too: by those it works for."""
    if hasattr(build, "managed_agents"):
        return False
    if not callable(build):
        raise BadValue(
            f"{type(build).__name__} is no agent of smolagents, and no function that builds one."
        )
    return True
