"""One call of the model as a verb: recorded when it replied, tried again when it could not.

What is recorded is never asked for again. A provider that stays down, or refuses,
parks the run: nothing is lost, and `sayso runs retry` asks the same again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Set
from dataclasses import dataclass, replace

from sayso.agent.limits import priced
from sayso.agent.messages import Prompt, Reply, ToolCall, Usage
from sayso.agent.profile import Profile
from sayso.asks.carrying import Pause
from sayso.errors import BadValue, ModelFailed, ModelUnavailable
from sayso.model.content import LIMIT
from sayso.model.digest import frozen
from sayso.model.text import one_line
from sayso.runs.failures import text_of
from sayso.runs.running import Running
from sayso.runs.stops import Parked
from sayso.runs.work import Passage
from sayso.runs.work import Step as Work

_log = logging.getLogger("sayso.agent")
_TRIES = 6
_LONGEST_PAUSE = 60.0
_LARGEST = 16 * LIMIT


@dataclass(frozen=True, slots=True)
class Replied:
    """A reply, and how long it took."""

    reply: Reply
    took: float


def modelled(
    run: Running,
    key: str,
    agent: Profile,
    prompt: Callable[[], Prompt],
    digest: str,
    used: Set[str],
) -> Passage:
    """Ask the model, or return what it replied; `used` are the ids of earlier calls.

    The prompt is made only when it is needed: a replay reads nothing but the journal.
    """
    entry = run.entry(key, "model", agent.name)
    if entry is not None:
        if entry.said.get("input") != digest:
            _log.warning("%s: the model was shown something else at step %s", run.id, key)
        try:
            return Replied(Reply.of(entry.said["result"]), entry.said.get("took", 0.0))
        except BadValue as error:
            raise Parked(str(error)) from error
    run.journal.flush()
    began = time.monotonic()
    said: Reply = yield from _asked(run, agent, prompt())
    took = round(time.monotonic() - began, 3)
    try:
        reply = _tidied(said, used)
        reply = replace(reply, usage=priced(_counted(reply.usage), agent.price))
        kept = frozen(reply.json, limit=_LARGEST, what="reply")
    except (BadValue, TypeError, ValueError, AttributeError) as error:
        raise Parked(
            f"the model of {agent.name} returned a reply that cannot be used: "
            f"{one_line(text_of(error), 500)}"
        ) from error
    run.journal.record(key, "model", agent.name, result=kept, input=digest, took=took)
    return Replied(reply, took)


def _asked(run: Running, agent: Profile, prompt: Prompt) -> Passage:
    """Ask until there is a reply, waiting longer each time. Other failures park the run."""
    for attempt in range(1, _TRIES + 1):
        run.journal.doing = "thinking"
        agent.voice.thinking(agent.name)
        try:
            reply = yield Work(f"the model of {agent.name}", agent.model.reply, (prompt,))
        except ModelUnavailable as error:
            if attempt == _TRIES:
                raise Parked(
                    f"the model of {agent.name} did not reply, {_TRIES} times: "
                    f"{one_line(str(error), 500)}"
                ) from error
            after = 2.0 ** (attempt - 1) * agent.pause if error.after is None else error.after
            pause = min(after, _LONGEST_PAUSE)
            _log.warning("%s: %s; trying again in %.1f s", run.id, error, pause)
            agent.voice.waiting(str(error), pause)
            yield Pause(pause)
        except ModelFailed as error:
            raise Parked(
                f"the model of {agent.name} failed: {one_line(str(error), 500)}"
            ) from error
        except Exception as error:
            raise Parked(
                f"the model of {agent.name} raised {one_line(text_of(error), 500)}"
            ) from error
        else:
            if not isinstance(reply, Reply):
                raise Parked(
                    f"the model of {agent.name} returned {type(reply).__name__}, no Reply."
                )
            agent.voice.replied(agent.name, reply)
            return reply
        finally:
            run.journal.doing = None
    raise AssertionError("unreachable: the last try returns or raises")


def _tidied(reply: Reply, used: Set[str]) -> Reply:
    """Return the reply with ids of its own for its calls, and nothing that cannot be stored."""
    calls, taken = [], set[str]()
    for number, call in enumerate(reply.calls, start=1):
        id_ = _clean(call.id) if isinstance(call.id, str) else ""
        while not id_ or id_ in taken or id_ in used:
            id_ = f"{id_}+" if id_ else f"call-{len(used) + number}"
        taken.add(id_)
        calls.append(_storable(replace(call, id=id_, tool=_clean(str(call.tool)))))
    return replace(reply, text=_clean(reply.text or ""), calls=tuple(calls))


def _counted(usage: Usage) -> Usage:
    return replace(usage, input=max(0, int(usage.input)), output=max(0, int(usage.output)))


def _storable(call: ToolCall) -> ToolCall:
    if call.broken is not None:
        return replace(call, args={}, broken=_clean(call.broken)[:2000])
    try:
        return replace(call, args=frozen(dict(call.args), limit=LIMIT, what="arguments"))
    except (BadValue, TypeError, ValueError) as error:
        return replace(call, args={}, broken=_clean(str(error))[:2000])


def _clean(text: str) -> str:
    """Return a text that every database keeps: no half characters, no zero bytes."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")
