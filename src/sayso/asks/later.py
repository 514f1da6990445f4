"""An answer that is not needed yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sayso.asks.forms import Form
from sayso.model.ask import Ask

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Later(Generic[T]):
    """A question that was put and need not be waited for. Its ask outlives this program."""

    ask: Ask
    _form: Form[T]
    _open: Callable[[Form[T]], Ask]
    _wait: Callable[[str, float | None], Ask]

    @property
    def id(self) -> str:
        """The id of the ask."""
        return self.ask.id

    def result(self, timeout: float | None = None) -> T:
        """Block until people have answered, and return what the verb returns.

        Raises:
            StillOpen: `timeout` seconds passed; call again later.
        """
        form, ask = self._form, self.ask
        while True:
            outcome = form.outcome(self._wait(ask.id, timeout))
            if not isinstance(outcome, Form):
                return outcome
            form, ask = outcome, self._open(outcome)
