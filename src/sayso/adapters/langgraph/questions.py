"""Questions that a graph asks: whatever it says is shown, and answered in the way that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sayso import Option, Rejected, Running
from sayso.adapters.base import put_choice, put_question
from sayso.adapters.langgraph.raised import Earlier, Raised, written
from sayso.errors import BadValue

# A graph that asks by a text may want to hear a text, or JSON: `yes`, or `{"type": "accept"}`.
TEXT_OR_JSON: dict[str, Any] = {
    "anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array"}]
}
# Where programs say in words what they ask; the first text counts, and all the rest is shown.
PROSE = ("question", "prompt", "message", "query", "text", "instruction", "instructions", "title")
_TITLE = 200


@dataclass(frozen=True, slots=True)
class Question:
    """Any value: shown as it is, and answered with what its schema says, or anything."""

    raised: Raised
    schema: dict[str, Any] | None
    options: tuple[tuple[Option, Any], ...] = ()  # each with what the graph hears
    own: bool = True  # whether something that is no option may be answered

    @property
    def anew(self) -> bool:
        """Say if it may be asked again when the graph did not take the answer."""
        return True

    def put(
        self,
        run: Running,
        earlier: Earlier | None = None,
        **terms: Any,  # noqa: ANN401
    ) -> list[Any]:
        """Ask; if it was asked before, about that and with what is to be said of it."""
        facts, more = self._facts, dict(terms)
        if earlier is not None:
            more |= {"about": earlier.ask, "why": earlier.why}
            facts = earlier.facts(facts)
        later = self._choice(run, facts, more)
        if later is None:
            later = put_question(run, self._title, self._type, facts=facts, **more)
        return [later]

    def _choice(
        self, run: Running, facts: Mapping[str, Any] | None, more: Mapping[str, Any]
    ) -> Any:  # noqa: ANN401 - a later
        if not self.options:
            return None
        listed, own = [option for option, _ in self.options], self._type if self.own else None
        try:
            return put_choice(run, self._title, listed, own, facts=facts, **more)
        except BadValue:  # more than fit on buttons, or two that nobody could tell apart
            return None

    def reply(self, laters: Sequence[Any]) -> Any:  # noqa: ANN401 - the answer
        """Return the answer.

        Raises:
            Rejected: there is none, and a graph cannot go on without.
        """
        (later,) = laters
        answer, decision = later.result(), later.ask.decision
        if decision.verdict == "approve":
            return next(heard for option, heard in self.options if option == answer)
        if decision.verdict != "respond":
            raise Rejected(later.ask)
        return answer

    @property
    def _prose(self) -> str | None:
        """The field of the payload that says what is asked."""
        value = self.raised.value
        if not isinstance(value, dict):
            return None
        return next((name for name in PROSE if _is_title(value.get(name))), None)

    @property
    def _title(self) -> str:
        value, prose = self.raised.value, self._prose
        if _is_title(value):
            return str(value)
        if prose is not None:
            return str(value[prose])
        texts = value.values() if isinstance(value, dict) else [value]
        said = next((one for one in texts if isinstance(one, str) and one.strip()), "")
        line = " ".join(said[:_TITLE].split())
        return f"{self.raised.node} asks: {line}" if line else f"{self.raised.node} asks"

    @property
    def _facts(self) -> dict[str, Any] | None:
        value, prose = self.raised.value, self._prose
        if _is_title(value):
            return None
        if not isinstance(value, dict) or not value:
            return {"": written(value)}
        return {name: one for name, one in value.items() if name != prose} or None

    @property
    def _type(self) -> dict[str, Any]:
        if self.schema is not None:
            return self.schema
        text = isinstance(self.raised.value, str) and self.raised.value.strip()
        return TEXT_OR_JSON if text else {}


def _is_title(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= _TITLE
