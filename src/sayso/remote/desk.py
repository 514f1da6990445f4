"""The desk behind HTTP, with the verbs of every desk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, Self

from sayso.asks.asking import Asking
from sayso.asks.docket import Docket, StoredDocket
from sayso.asks.forms import Forms
from sayso.asks.lawbook import Lawbook
from sayso.asks.leases import Heartbeat
from sayso.asks.listening import Ears
from sayso.asks.reviewing import id_of
from sayso.asks.standing_in import standing_in
from sayso.asks.trust import Trust
from sayso.asks.vouching import incident
from sayso.channels.console import Console
from sayso.errors import BadValue, Misuse
from sayso.gate import Gates
from sayso.model.actor import Origin
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.span import Span, span
from sayso.remote.address import Address
from sayso.remote.docket import UNNAMED, RemoteDocket
from sayso.remote.line import Line
from sayso.remote.runs import RemoteRuns
from sayso.remote.trust import RemoteTrust
from sayso.store import Store, SystemClock
from sayso.store.contract import Lease

if TYPE_CHECKING:
    from sayso.asks.carrying import Gated
    from sayso.insight.metrics import By

# What a desk on a database has, and a server does not hand out.
_ONLY_THERE = frozenset(
    {
        "store",
        "law",
        "policy",
        "policies",
        "people",
        "crew",
        "flows",
        "sweep",
        "cases",
        "preferences",
    }
    | {
        "verify",
        "seal",
        "erase",
        "decisions",
        "workflow",
        "run",
        "resume",
        "work",
        "thread",
        "tools",
    }
)
LEASE_SECONDS = 30.0
_TESTED = Origin("python", "test@localhost")


class RemoteDesk(Asking, Gates, RemoteRuns):
    """A desk that a server keeps: `Desk("https://...")` is one of these.

    Who asks, and who decides, is who the token names. Nothing is sent before it is used, and it
    may be shared between threads and carried across a fork.

    Args:
        url: The address of the server.
        token: The token to show there; `SAYSO_TOKEN` unless given.
        agent: The name of whoever asks; of an agent's token, its own name and no other.
        lease: How long this program may be silent before people see that it has gone.
        insecure: Whether http:// may leave this machine.
        team: The team its asks belong to; of an agent's token, its own and no other.
        **others: What only a desk on a database takes.

    Raises:
        BadValue, Misuse: the address, the token or an option cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        agent: str | None = None,
        lease: Span = LEASE_SECONDS,
        insecure: bool = False,
        team: str | None = None,
        **others: object,
    ) -> None:
        for name, value in others.items():
            if value is not None and value != 0:
                raise BadValue(f"{name}= is for a desk on a database; the server has its own.")
        address = Address.of(url, token, insecure=insecure)
        self.url = address.url
        self._line = Line(address)
        self._there = RemoteDocket(self._line)
        self._here: dict[Store, StoredDocket] = {}
        self.forms = Forms(agent or UNNAMED, self._there.now, team=team)
        # Of a token, and of no code: a server knows what it said when it was made.
        self.forms.version = lambda _: "" if standing_in() else self._there.version
        self.lease = span(lease).total_seconds()
        self.heartbeat = Heartbeat(self._renew, self.lease, SystemClock())
        self.console = Console(now=self._there.now)
        self.ears = Ears(_Journal(self))

    @property
    def docket(self) -> Docket:  # type: ignore[override]
        """The asks at the server; in tests those of the database that stands in for it."""
        other = standing_in()
        if other is None:
            return self._there
        store = other.store
        law = Lawbook(None, people=store.register)
        return self._here.setdefault(store, StoredDocket(lambda: store, _TESTED, law))

    def _renew(self, lease: Lease) -> None:
        self.docket.renew(lease)

    def __repr__(self) -> str:
        """Show which desk it is, without its token."""
        return f"Desk({self.url!r})"

    def __enter__(self) -> Self:
        """Use the desk for a block, and let go of its connections afterwards."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of connections and threads."""
        self.close()

    def close(self) -> None:
        """Let go of connections and threads. The desk opens them again if it is used again."""
        self.ears.close()
        self._line.close()

    def __getattr__(self, name: str) -> NoReturn:
        """Say of what a server does not hand out where it is to be had."""
        if name in _ONLY_THERE:
            raise Misuse(
                f"desk.{name} needs the database itself, and this desk is behind {self.url}. Use it "
                "on the server, with a desk on its database."
            )
        raise AttributeError(f"{type(self).__name__!r} has no {name!r}")

    def metrics(
        self,
        *,
        days: float = 30,
        agent: str | None = None,
        tool: str | None = None,
        tier: str | None = None,
        by: By | None = None,
    ) -> dict[str, Any]:
        """Return how people and agents got on in the last days, as `desk.metrics` everywhere."""
        found: dict[str, Any] = self._line.get(
            "/metrics", days=days, agent=agent, tool=tool, tier=tier, by=by
        )
        if by is None:
            found.pop("by", None)
        return found

    def staffing(
        self, *, days: float = 7, within: float = 60, people: int | None = None
    ) -> dict[str, Any]:
        """Say whether people can keep up with what is asked, as `desk.staffing` everywhere."""
        found: dict[str, Any] = self._line.get("/staffing", days=days, within=within, people=people)
        return found

    def calibration(
        self, *, agent: str | None = None, tool: str | None = None
    ) -> list[dict[str, Any]]:
        """Return how far stated confidences can be relied upon, as `desk.calibration` everywhere."""
        found: dict[str, Any] = self._line.get("/calibration", agent=agent, tool=tool)
        return list(found["calibrations"])

    def outlook(self) -> dict[str, Any]:
        """Return how everything stands now, as `desk.outlook` everywhere."""
        found: dict[str, Any] = self._line.get("/outlook")
        return found

    @property
    def trust(self) -> Trust | RemoteTrust:
        """Which agents have earned to run what alone, as `desk.trust` everywhere."""
        other = standing_in()
        if other is None:
            return RemoteTrust(self._line, self._there.check_by)
        return Trust(lambda: other.store, _TESTED)

    def incident(self, effect: Ask | str, harm: str, *, by: str | None = None) -> Ask:
        """Report that a call which was carried out did harm, as `desk.incident` everywhere."""
        other = standing_in()
        if other is None:
            return self._there.incident(id_of(effect), harm, by=by)
        return incident(other.store, id_of(effect), harm, by=by, origin=_TESTED)

    def registered(self, gate: Gated) -> None:
        """Declare nothing: a token is no word on a tool. The server goes by its own policy."""

    def opened(self, ask: Ask) -> None:
        """Let a stand-in for people, in tests, answer at once; else the server tells them."""
        other = standing_in()
        if other is not None:
            other.opened(self, ask)

    def tell(self, ask: Ask) -> None:
        """Say in a line on stderr that an ask waits, and where."""
        self.console.announce_at(ask, self.url)

    def settle(self, ask: Ask) -> Ask:
        """Block until the ask is closed."""
        self._tell_once(ask)
        return self.docket.wait(ask.id)

    async def settle_async(self, ask: Ask) -> Ask:
        """Wait as `settle` does without blocking the event loop."""
        self._tell_once(ask)
        return await self.docket.wait_async(ask.id)

    def _tell_once(self, ask: Ask) -> None:
        if ask.open and standing_in() is None:
            self.tell(ask)


class _Journal:
    """The events of whatever the desk uses when somebody begins to listen."""

    def __init__(self, desk: RemoteDesk) -> None:
        self._desk = desk

    def tip(self) -> str:
        """Return the cursor of the last event there is."""
        return self._desk.docket.tip()

    def follow(self, after: str | None, stop: threading.Event) -> Iterator[Event]:
        """Yield events after a cursor, then wait for more, until `stop` is set."""
        return self._desk.docket.follow(after, stop)

    def wake(self) -> None:
        """Let whoever follows look whether to stop."""
        self._desk.docket.wake()
