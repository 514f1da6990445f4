"""A desk behind a service, an agent of the test's own who asks, and people with browsers.

All tests of a module share a service. What a test opens comes from an agent that no other test
has, and its windows look at `/inbox?agent=NAME`: nobody sees what others do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count
from typing import Any

from playwright.sync_api import expect

from sayso import Ask, Desk
from sayso.access.sessions import make_link, open_session
from sayso.testing import FakeClock
from tests.browser.window import Window
from tests.web.house import PASSWORD, House

_numbers = count(1)


class Office:
    """What a test needs: `open` asks, `window` to look at them, `later` to let time pass."""

    def __init__(
        self, house: House, clock: FakeClock | None, opener: Callable[..., Window]
    ) -> None:
        self.house = house
        self.clock = clock
        self.agent = f"agent-{next(_numbers)}"
        self._opener = opener

    @property
    def desk(self) -> Desk:
        return self.house.desk

    @property
    def queue(self) -> str:
        """The address of the inbox with this test's asks only."""
        return f"/inbox?agent={self.agent}"

    def path(self, ask: Ask | str) -> str:
        """The address of an ask, in the inbox with this test's asks only."""
        return f"/inbox/{ask if isinstance(ask, str) else ask.id}?agent={self.agent}"

    # --- asks ---

    def open(self, tool: str = "refund", args: dict[str, Any] | None = None, **terms: Any) -> Ask:
        """Ask for a call; another one each time, unless the arguments are given."""
        given = {"order": next(_numbers), "amount": 40} if args is None else args
        return self.desk.open(tool, given, agent=self.agent, **terms)

    def several(self, number: int, **terms: Any) -> list[Ask]:
        """Ask for as many calls, each another one."""
        return [self.open(**terms) for _ in range(number)]

    def put(self, verb: str, *given: Any, **terms: Any) -> Ask:
        """Open an ask with one of the verbs, and do not wait for the answer."""
        form = getattr(self.desk.forms, verb)(*given, agent=self.agent, **terms)
        return self.desk.put(form.content)

    def now(self, ask: Ask | str) -> Ask:
        """The ask as it stands."""
        return self.desk.get(ask if isinstance(ask, str) else ask.id)

    def later(self, seconds: float = 9.0) -> None:
        """Let time pass, and happen what is due by then."""
        assert self.clock is not None
        self.clock.advance(seconds)
        self.desk.sweep()

    def decided(self, ask: Ask | str) -> Any:
        """Let the hold run out, and return the decision that counts."""
        self.later()
        decision = self.now(ask).decision
        assert decision is not None, f"{self.now(ask).status}: nobody decided it"
        return decision

    # --- people ---

    def window(self, who: str | None = None, **given: Any) -> Window:
        """A window in which somebody is signed in; nobody by name sits at this machine."""
        return self._opener(self.house.url, cookies=[self._cookie(who)], **given)

    def stranger(self, **given: Any) -> Window:
        """A window in which nobody is signed in."""
        return self._opener(self.house.url, **given)

    def _cookie(self, who: str | None) -> dict[str, str]:
        _, secret = open_session(
            self.desk.store, who, how="test", address="127.0.0.1", agent_string="chromium"
        )
        return {"name": self.house.cookie, "value": secret, "url": self.house.url}

    def comes_by_link(self, window: Window) -> Window:
        """Sign in as people do at their own machine."""
        return window.visit(f"/?t={make_link(self.desk.store)}")

    def comes_by_password(self, window: Window, name: str, path: str = "/") -> Window:
        """Sign in as people of a team do: wherever they go, the form is in between."""
        window.page.goto(path)
        expect(window.page).to_have_url(re.compile("/sign-in"))
        window.page.get_by_label("Name").fill(name)
        window.page.get_by_label("Password").fill(PASSWORD)
        window.page.get_by_role("button", name="Sign in", exact=True).click()
        return window.ready()

    @property
    def somebody(self) -> str | None:
        """Somebody who may decide, for what a test needs decided before it begins."""
        return None if self.desk.people.solo else "anna"
