"""Where a thread stands, as its checkpointer says, and whether that is where we left it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from langgraph.types import StateSnapshot

from sayso.adapters.langgraph.driver import Driver
from sayso.adapters.langgraph.raised import Raised, cut, plain
from sayso.adapters.langgraph.stops import Stops

TAG = "sayso"  # the key in a checkpoint's metadata that says which turn of which run made it
_MOST = 400_000  # characters of all values together; a turn's result holds them


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a thread: its checkpoint, the nodes to run next, what they ask."""

    at: str | None
    tag: str | None
    nodes: tuple[str, ...]
    raised: tuple[Raised, ...]
    idle: tuple[str, ...]  # those of the nodes that neither ask nor are held at a stop
    stops: tuple[str, ...]  # where the graph was compiled to stop
    ahead: tuple[str, ...]  # the nodes behind those stops that nobody has allowed yet
    behind: tuple[str, ...]  # the ids of what is shown as asked and was answered
    paused: bool = False  # a verb in a node waits for people
    refused: Mapping[str, str] = field(default_factory=dict)  # what was said to answers, by id
    # The interrupts at which a node asked something else than before, with those that they stand for.
    renewed: Mapping[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, driver: Driver, state: StateSnapshot, passed: Iterable[str] = ()) -> Position:
        """Read it from a snapshot of the thread, with its subgraphs.

        Args:
            driver: The way to call the graph.
            state: The snapshot.
            passed: The stops that people have allowed to be passed.
        """
        asking = [(task, one) for task in state.tasks for one in task.interrupts]
        most = _MOST // max(len(asking), 1)
        raised = [
            _raised(one, _deepest(task.name, task.state), most)
            for task, one in asking
            if one.id in {known.id for known in state.interrupts}
        ]
        stops = Stops(driver, state, frozenset(passed))
        # A process may die when the tasks of a step are done and the step is not: nothing is next
        # then, and yet the graph has to go on.
        between = () if state.next else tuple(task.name for task in state.tasks)
        metadata: Mapping[str, Any] = state.metadata or {}
        return cls(
            at=state.config.get("configurable", {}).get("checkpoint_id"),
            tag=metadata.get(TAG),
            nodes=tuple(state.next) or between,
            raised=tuple(raised),
            idle=stops.idle or between,
            stops=stops.every,
            ahead=stops.ahead,
            behind=stops.behind,
        )

    @classmethod
    def read(cls, kept: Any) -> Position | None:  # noqa: ANN401 - JSON
        """Return what `kept` wrote; `None` if it is something else, such as a person's answer."""
        if not isinstance(kept, dict) or kept.keys() != cls.__dataclass_fields__.keys():
            return None
        listed = {name: tuple(one) for name, one in kept.items() if isinstance(one, list)}
        raised = tuple(Raised(**{**one, "chain": tuple(one["chain"])}) for one in kept["raised"])
        return cls(**{**kept, **listed, "raised": raised})

    @property
    def kept(self) -> dict[str, Any]:
        """It as JSON, for the journal."""
        made = asdict(self)
        return {name: list(one) if isinstance(one, tuple) else one for name, one in made.items()}

    @property
    def done(self) -> bool:
        """Whether the graph has ended."""
        return not self.nodes

    @property
    def settled(self) -> bool:
        """Whether nothing can be done but to answer, or nothing at all."""
        return not self.idle

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all that is asked."""
        return frozenset(one.id for one in self.raised)

    def same(self, other: Position) -> bool:
        """Whether nothing has happened in between: the same is asked at the same place."""
        return self._place == other._place

    def ahead_of(self, before: Position) -> bool:
        """Whether this is the same step of the graph with fewer of its tasks left to do."""
        fewer = not Counter(self.nodes) - Counter(before.nodes)
        return self.at == before.at and fewer and not self.same(before)

    def refusing(self, refused: Mapping[str, str]) -> Position:
        """Return it as one at which the graph did not take some answers."""
        return replace(self, refused=refused)

    def chained(self, chains: Mapping[str, tuple[str, ...]]) -> Position:
        """Return it with the agents through which its interrupts came, as far as they are known."""
        raised = [replace(one, chain=chains.get(one.id, one.chain)) for one in self.raised]
        return replace(self, raised=tuple(raised))

    def renewing(self, renewed: Mapping[str, list[str]]) -> Position:
        """Return it as one at which a node asks something else than what people answered."""
        return replace(self, renewed=renewed)

    def waiting(self) -> Position:
        """Return it as one at which a verb in a node waits for people."""
        return replace(self, paused=True)

    @property
    def _place(self) -> tuple[object, ...]:
        return self.at, self.nodes, self.stops, self._payloads

    @property
    def _payloads(self) -> dict[str, str]:
        return {one.id: one.digest for one in self.raised}

    def differs_from(self, before: Position, nodes: Mapping[str, object]) -> str | None:
        """Say why a decision made at another position must not be used here; `None` if it may."""
        if self.same(before):
            return None
        gone = sorted({name for name in before.nodes if name not in nodes})
        if self.at is None:
            return (
                "The checkpointer has lost the thread: it knows no checkpoint of it. A saver in "
                "memory keeps threads only as long as its process. Bring the checkpoints back."
            )
        if gone:
            return (
                f"The graph changed: the thread waits in {', '.join(gone)}, which it no longer "
                "has. Bring the node back."
            )
        changed = [one for one in self.raised if before._payloads.get(one.id, "") != one.digest]
        if self.at == before.at and changed and self.ids == before.ids:
            return (
                f"{changed[0].node} now asks something else under the same id, and the answer was "
                "given to the old question. Somebody else has run the thread, or the graph changed."
            )
        return (
            f"Somebody else went on with the thread: it stands at {_told(self)}, and was left at "
            f"{_told(before)}. Leave the threads of runs to sayso."
        )


def _told(position: Position) -> str:
    where = ", ".join(position.nodes) or "the end"
    return f"{where} (checkpoint {position.at})"


def _raised(interrupt: Any, node: str, most: int) -> Raised:  # noqa: ANN401 - an Interrupt
    value = plain(interrupt.value)
    schema = getattr(interrupt, "response_schema", None)
    return Raised(
        id=interrupt.id,
        node=node,
        value=(shown := cut(value, most)),
        schema=plain(schema) if isinstance(schema, dict) else None,
        digest=digest_of(value, schema),
        whole=shown is value,
    )


def digest_of(value: Any, schema: object) -> str:  # noqa: ANN401 - JSON
    """Return what tells one payload from another: the value as JSON and the schema with it."""
    made = json.dumps([value, schema], sort_keys=True, default=str)
    return hashlib.sha256(made.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _deepest(name: str, state: object) -> str:
    """Return the node that asks: of a subgraph, the one inside it."""
    asking = [t for t in state.tasks if t.interrupts] if isinstance(state, StateSnapshot) else []
    return _deepest(asking[0].name, asking[0].state) if len(asking) == 1 else name
