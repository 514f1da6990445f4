"""One call of an agent: asked for if it must be, carried out once, told as it came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from smolagents import FinalAnswerTool, MultiStepAgent, UserInputTool

from sayso import Ask
from sayso.adapters.base import Running, made_plain, prepared, told
from sayso.adapters.smolagents.questions import UNANSWERED
from sayso.adapters.smolagents.terms import Terms, schema_of
from sayso.adapters.smolagents.values import kept, read
from sayso.errors import Answered, BadValue, InvalidEdit, Outcome, Rejected, SaysoError, StepFailed

_WHY = 2000  # of what a model writes, that much goes on a card


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a call: a value, or the reason why there is none."""

    value: Any = None
    error: SaysoError | None = None
    edited: Mapping[str, Any] | None = None  # its arguments, if a person changed them
    by: str = ""

    @property
    def text(self) -> str:
        """What the model is told of a call without a result."""
        return "" if self.error is None else told(self.error)


@dataclass(frozen=True, slots=True)
class Opened:
    """A call that people know of, if they must. `came` carries it out, or waits for them."""

    came: Callable[[], Came]
    ask: Ask | None = None
    hands_over: bool = False  # another agent does it, who may ask people itself

    def check_ended(self) -> None:
        """Stop here if a person ended the run: then no call beside this one is made either."""
        if self.ask is not None and self.ask.decision is not None and self.ask.decision.end:
            self.came()


class Calls:
    """The calls of one agent in a run."""

    def __init__(self, run: Running, name: str, terms: Terms, live: Callable[[], None]) -> None:
        self.run = run
        self.name = name
        self.terms = terms
        self._live = live

    def open(self, tool: Any, args: Mapping[str, Any], why: str) -> Opened:  # noqa: ANN401 - a Tool, or an agent
        """Ask for a call, if somebody must be asked. Nothing is carried out yet."""
        if isinstance(tool, MultiStepAgent):
            return self._handed_over(tool, args, why)
        if isinstance(tool, UserInputTool):
            return Opened(lambda: self._question(args))
        if type(tool) is FinalAnswerTool:
            return Opened(lambda: Came(tool(**args)))
        return self._gated(tool, args, why)

    def _gated(self, tool: Any, args: Mapping[str, Any], why: str) -> Opened:  # noqa: ANN401
        def carry_out(**given: Any) -> Any:  # noqa: ANN401 - whatever the tool takes and returns
            self._live()
            hidden = self.terms.hidden(tool.name)
            read_back = {n: v if n in hidden else read(v) for n, v in given.items()}
            return kept(tool(**read_back))

        try:
            frozen = self.terms.frozen(tool, args)
            gate = self.terms.gate(tool, carry_out, frozen, _reason(why))
            later = prepared(self.run, gate, frozen, always=self.terms.asks(tool.name))
        except BadValue as error:
            refused = Came(error=_for_the_model(tool, error))
            return Opened(lambda: refused)

        def came() -> Came:
            edit, by = _edit(later.ask, args)
            try:
                return Came(read(later.result()), edited=edit, by=by)
            except (Outcome, StepFailed, InvalidEdit) as error:
                return Came(error=error, edited=edit, by=by)

        return Opened(came, later.ask)

    def _question(self, args: Mapping[str, Any]) -> Came:
        try:
            answer = self.run.question(str(args["question"]))
        except Rejected:  # withdrawn
            answer = None
        return Came(UNANSWERED if answer is None else str(answer))

    def _handed_over(self, agent: Any, args: Mapping[str, Any], why: str) -> Opened:  # noqa: ANN401
        """Hand a task to another agent, which works in a place of its own."""
        name = agent.name

        def work(given: Mapping[str, Any], **how: Any) -> Came:  # noqa: ANN401
            try:
                with self.run.seats().at(name, agent=made_plain("agent", name)):
                    return Came(agent(**given), **how)
            except (Outcome, StepFailed) as error:
                return Came(error=error, **how)
            except Exception as error:  # noqa: BLE001 - as the host, which tells its chief of any
                _raise_ours(error)
                return Came(error=StepFailed(name, type(error).__name__, str(error)), **how)

        if not self.terms.asks(name) and name not in self.terms.risk:
            return Opened(lambda: work(args), hands_over=True)
        schema = {"type": "object", **schema_of(agent.inputs)}
        try:
            later = self.run.later.propose(
                made_plain("tool", name),
                dict(args),
                title=name,
                schema=schema,
                why=_reason(why),
                risk=self.terms.risk.get(name),
            )
        except BadValue as error:
            refused = Came(error=error)
            return Opened(lambda: refused)

        def came() -> Came:
            try:
                ask = later.result()
            except (Rejected, StepFailed) as unmade:  # withdrawn, or denied by the policy
                return Came(error=unmade)
            if not ask.decision:
                no = Answered(ask) if ask.decision.verdict == "respond" else Rejected(ask)
                return Came(error=no)
            edit, by = _edit(ask, args)
            return work(ask.args, edited=edit, by=by)

        return Opened(came, later.ask, hands_over=True)


def _reason(why: str) -> str | None:
    return why.strip()[:_WHY] or None


def _raise_ours(error: BaseException) -> None:
    """Raise what no agent may go on from, which the host may have wrapped in an error of its own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, SaysoError) and not isinstance(cause, Outcome | StepFailed):
            raise cause
        cause = cause.__cause__


def _for_the_model(tool: Any, error: BadValue) -> BadValue:  # noqa: ANN401 - a Tool
    """Return why a call cannot be stored without what only its developer could do about it."""
    if not isinstance(error.__cause__, BadValue):
        return error
    return BadValue(f"{tool.name} was not called, for an argument of it. {error.__cause__}")


def _edit(ask: Ask | None, given: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str]:
    """Return the arguments as a person changed them, in the order in which the model gave them."""
    if ask is None or ask.original is None or not ask.decision:
        return None, ""
    names = [
        *(name for name in given if name in ask.args),
        *(n for n in ask.args if n not in given),
    ]
    hidden = ask.content.hidden  # a model never hears of these
    now = {
        n: given[n] if n in given and ask.args[n] == ask.original.get(n) else read(ask.args[n])
        for n in names
        if n not in hidden
    }
    return now, ask.decision.by.id
