"""An answer that is not needed yet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from sayso.asks.forms import Form
from sayso.model.ask import Ask

T = TypeVar("T")


class Later(Generic[T]):
    """A question that was put and need not be waited for. Its ask outlives this program."""

    def __init__(
        self,
        form: Form[T],
        put: Callable[[Form[T]], Ask],
        wait: Callable[[Ask, float | None], Ask],
        wait_async: Callable[[Ask, float | None], Awaitable[Ask]],
    ) -> None:
        self._form = form
        self._put = put
        self._wait = wait
        self._wait_async = wait_async
        self.ask = put(form)

    @property
    def id(self) -> str:
        """The id of the ask that waits now: a draft sent back is asked about anew."""
        return self.ask.id

    def result(self, timeout: float | None = None) -> T:
        """Block until people have answered, and return what the verb returns.

        Without a `timeout` it asks as the verb itself does: at this terminal, if nobody else can.

        Raises:
            StillOpen: `timeout` seconds passed; call again later.
        """
        while True:
            outcome = self._read(self._wait(self.ask, timeout))
            if not isinstance(outcome, Form):
                return outcome

    async def result_async(self, timeout: float | None = None) -> T:  # noqa: ASYNC109 - as `result`
        """Wait as `result` does, without holding a thread."""
        import asyncio

        while True:
            closed = await self._wait_async(self.ask, timeout)
            outcome = await asyncio.to_thread(self._read, closed)
            if not isinstance(outcome, Form):
                return outcome

    def _read(self, closed: Ask) -> T | Form[T]:
        outcome = self._form.outcome(closed)
        if isinstance(outcome, Form):
            # Remembered, so that whoever asks again after a timeout waits for the newest version.
            self._form, self.ask = outcome, self._put(outcome)
        return outcome
