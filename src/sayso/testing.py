"""For your tests: a clock you steer, a reviewer who follows a script, a fixture for pytest.

```python
pytest_plugins = ["sayso.testing"]      # in conftest.py

def test_the_refund_is_paid(reviewer):
    reviewer.approve("refund")
    assert pay_back(order=7) == "paid"
```

While the fixture is in use every desk of the process, however it was made,
keeps its asks in a temporary file, and the script answers each the moment it
opens. An ask without a rule fails the test instead of waiting for ever.

(PYTEST_DONT_REWRITE: nothing here asserts, and a conftest may import it too.)
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sayso.asks.standing_in import StandIn, stand_in
from sayso.desk import Desk
from sayso.errors import Misuse
from sayso.model.ask import Ask
from sayso.model.span import span
from sayso.model.verdicts import RejectKind
from sayso.store import Clock, open_store

_START = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)

Match = str | Callable[[Ask], bool]
Reply = Callable[[Desk, Ask], object]


class FakeClock:
    """A clock that stands still until you move it."""

    steered = True

    def __init__(self, start: datetime = _START) -> None:
        self._now = start
        self._lock = threading.Lock()
        self._watchers: list[Callable[[], None]] = []

    def now(self) -> datetime:
        """Return the time it was set to."""
        with self._lock:
            return self._now

    def watch(self, moved: Callable[[], None]) -> None:
        """Call back whenever the time is moved."""
        self._watchers.append(moved)

    def advance(self, by: str | float | timedelta) -> datetime:
        """Move on, by `"15m"`, seconds or a timedelta, and wake whoever waits for a deadline."""
        with self._lock:
            self._now += span(by)
            now = self._now
        for moved in tuple(self._watchers):
            moved()
        return now


@dataclass(frozen=True, slots=True)
class _Rule:
    matches: Callable[[Ask], bool]
    reply: Reply


@dataclass(slots=True)
class ScriptedReviewer:
    """Somebody who answers by rules: the first that matches counts, the last added is first.

    A rule matches a tool's name, an ask's title or kind, or whatever a function says.
    """

    by: str | None = None
    seen: list[Ask] = field(default_factory=list)
    _rules: list[_Rule] = field(default_factory=list)

    def approve(self, what: Match = "*", *, option: str | None = None) -> ScriptedReviewer:
        """Say yes."""
        return self._rule(what, lambda desk, ask: desk.approve(ask, option=option, by=self.by))

    def edit(self, what: Match, changes: object) -> ScriptedReviewer:
        """Say yes with changes."""
        return self._rule(what, lambda desk, ask: desk.edit(ask, changes, by=self.by))

    def reject(
        self,
        what: Match = "*",
        note: str | None = None,
        *,
        kind: RejectKind | None = None,
        end: bool = False,
    ) -> ScriptedReviewer:
        """Say no; with `end`, to the whole run."""
        return self._rule(
            what, lambda desk, ask: desk.reject(ask, note, kind=kind, end=end, by=self.by)
        )

    def respond(self, what: Match, answer: object) -> ScriptedReviewer:
        """Answer."""
        return self._rule(what, lambda desk, ask: desk.respond(ask, answer, by=self.by))

    def _rule(self, what: Match, reply: Reply) -> ScriptedReviewer:
        self._rules.insert(0, _Rule(_matcher(what), reply))
        return self

    def review(self, desk: Desk, ask: Ask) -> Ask:
        """Answer one ask, and return it as it stands afterwards.

        Raises:
            Misuse: no rule matches, so the program would wait for ever.
        """
        self.seen.append(ask)
        rule = next((rule for rule in self._rules if rule.matches(ask)), None)
        if rule is None:
            name = ask.tool or ask.title
            raise Misuse(
                f'The script has no answer to {ask.id} "{ask.label}" (kind {ask.kind}). '
                f"Add a rule, such as reviewer.approve({name!r})."
            )
        rule.reply(desk, ask)
        return desk.get(ask.id)


def _matcher(what: Match) -> Callable[[Ask], bool]:
    if callable(what):
        return what
    return lambda ask: what in ("*", ask.tool, ask.title, ask.kind)


@contextmanager
def scripted(
    reviewer: ScriptedReviewer | None = None, *, clock: Clock | None = None
) -> Iterator[ScriptedReviewer]:
    """Answer every ask of this process by a script, in a temporary database, for a block."""
    script = reviewer or ScriptedReviewer()
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'test.db'}", clock)
        try:
            with stand_in(StandIn(store, script.review)):
                yield script
        finally:
            store.close()


try:
    import pytest
except ImportError:  # the rest of this module works without pytest
    pass
else:

    @pytest.fixture
    def reviewer() -> Iterator[ScriptedReviewer]:
        """Answer every gate and verb of this test by a script."""
        with scripted() as script:
            yield script
