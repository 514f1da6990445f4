"""The final answer: approved, changed or sent back by people before anybody else sees it."""

from __future__ import annotations

from typing import Any

from sayso import Ask
from sayso.adapters.base import Running, review_draft
from sayso.adapters.smolagents.values import raw
from sayso.errors import BadValue, Rejected

_TITLE = "The answer of {}"
_SCHEMA = {
    "type": "object",
    "properties": {"answer": {}},
    "required": ["answer"],
    "additionalProperties": False,
}


class SentBack(Exception):
    """An answer that people do not want like this. The model reads why."""


class Answers:
    """Reviews what an agent answers: one of its `final_answer_checks`."""

    __name__ = "the review of your answer"  # by this name smolagents tells the model of it

    def __init__(self, run: Running, name: str) -> None:
        self._run = run
        self._name = name
        self._approved: list[Any] = []

    def __call__(self, final_answer: Any, memory: Any, agent: Any = None) -> bool:  # noqa: ANN401 - as smolagents calls it
        """Have an answer reviewed.

        Raises:
            SentBack: the agent has to go on.
        """
        ask = self._asked(raw(final_answer), back=True)
        decision = ask.decision
        if decision is None or not decision:
            said = "" if decision is None else decision.text or decision.note or ""
            who = "somebody" if decision is None else decision.by.id
            raise SentBack(f"{who} sent it back: {said or 'no reason was given'}")
        self._approved = [_answer(ask)]
        return True

    def settled(self, answer: Any) -> Any:  # noqa: ANN401 - whatever it answered
        """Return the answer as it was approved.

        When an agent has used up its steps, smolagents lets it answer unchecked: then it is
        reviewed here, and nobody can go on with it any more.

        Raises:
            Rejected: people did not want it.
        """
        if not self._approved:
            ask = self._asked(answer, back=False)
            if not ask.decision:
                raise Rejected(ask)
            self._approved = [_answer(ask)]
        return self._approved[0]

    def _asked(self, answer: Any, *, back: bool) -> Ask:  # noqa: ANN401
        title = _TITLE.format(self._name)
        if isinstance(answer, str) and answer.strip():
            why = None if back else "It has used up its steps, so this is its last word."
            return review_draft(self._run, answer, title=title, why=why)
        try:
            ask: Ask = self._run.propose(
                "final_answer", {"answer": answer}, schema=_SCHEMA, title=title
            )
        except BadValue as error:
            raise SentBack(
                f"an answer that is {type(answer).__name__} cannot be shown to people ({error}). "
                "Answer with text, numbers, lists or dictionaries."
            ) from error
        return ask


def _answer(ask: Ask) -> Any:  # noqa: ANN401 - JSON
    return ask.args["text"] if ask.kind == "draft" else ask.args["answer"]
