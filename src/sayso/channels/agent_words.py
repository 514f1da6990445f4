"""What the journal says of an agent, in words: what its model said, and the calls it made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text

from sayso.channels.values import as_json, as_name, clipped
from sayso.model.text import one_line

Said = Mapping[str, Any]
_NOT_MADE = ("UnknownTool", "BadArguments", "RejectedBefore", "WaitsAlready", "TooMany")


def named(said: Said) -> str:
    """Return the name of a step, without the function it was defined in."""
    return one_line(str(said.get("name", "")).rpartition("<locals>.")[2], 60)


def call_text(tool: str, args: Mapping[str, Any] | None) -> str:
    """Write a call on one line, safe to print."""
    given = (f"{as_name(name)}={as_json(value)}" for name, value in (args or {}).items())
    return f"{as_name(tool)}({', '.join(given)})"


def call_begun(said: Said, width: int) -> Text:
    """Tell that a call which needs nobody's approval is about to be carried out."""
    by = f" in {one_line(str(said['worker']), 60)}" if said.get("worker") else ""
    again = f", attempt {said['attempt']}" if said.get("attempt", 1) > 1 else ""
    return Text.assemble(_call(said, width), f" began{by}{again}")


def call_failed(said: Said, words: str, width: int) -> Text:
    """Tell that a call failed, or was none that could be made."""
    kind = (said.get("error") or {}).get("kind")
    was = "was not made" if kind in _NOT_MADE else "failed"
    return Text.assemble(_call(said, width), (f" {was}: {words}", "red"))


def _call(said: Said, width: int) -> Text:
    """Write the call of a tool; with its arguments, where they are known."""
    tool = str(said.get("name", ""))
    name = as_name(tool)
    if said.get("args") is None:
        return Text(clipped(name, 60), "cyan")
    given = call_text(tool, said["args"]).removeprefix(name)
    return Text.assemble((clipped(name, 60), "cyan"), clipped(given, width))


def _called(said: Said, width: int) -> Text:
    result = said.get("result")
    came = "" if result is None else f": {clipped(as_json(result), width)}"
    return Text.assemble(_call(said, width), came)


def _replied(said: Said, width: int) -> Text:
    """Tell what a model said: its words, the calls it wants made, what that took."""
    reply = said.get("result") or {}
    calls, text = reply.get("calls") or [], str(reply.get("text") or "")
    usage = reply.get("usage") or {}
    tokens = usage.get("input", 0) + usage.get("output", 0)
    parts = [f'says "{one_line(text, width)}"'] if text else []
    parts += [f"wants {', '.join(_wanted(call, width) for call in calls)}"] if calls else []
    return Text.assemble(
        (named(said), "magenta"),
        f" {' and '.join(parts) or 'says nothing'}",
        (f"  {tokens:,} tokens" if tokens else "", "dim"),
    )


def reply_line(said: Said) -> str:
    """Say that a model replied and which tools it wants called; its own words stand elsewhere."""
    reply = said.get("result") or {}
    tools = dict.fromkeys(as_name(str(call.get("tool", ""))) for call in reply.get("calls") or [])
    wants = f" and wants {', '.join(tools)}" if tools else ""
    return f"{named(said)} replied{clipped(wants, 200)}"


def _wanted(call: Said, width: int) -> str:
    args = call.get("args") or {}
    tool, steps = str(call.get("tool", "")), args.get("steps")
    if tool == "plan" and isinstance(steps, list):
        return f"a plan reviewed, {len(steps)} step{'' if len(steps) == 1 else 's'}"
    if call.get("broken") is not None:
        return f"{as_name(tool)}({one_line(str(call['broken']), 60)})"
    return clipped(call_text(tool, args), width)


def _told(said: Said, width: int) -> Text:
    wanted = said.get("result")
    if wanted is None:
        return Text(f"told {named(said)}", "dim")
    return Text(f'told {named(said)}, which wants a review: "{one_line(str(wanted), width)}"')


def _queued(said: Said, _: int) -> Text:
    return Text.assemble(_call(said, 0), (" waits in the queue, and the model goes on", "dim"))


def _news(said: Said, _: int) -> Text:
    count = len(said.get("result") or ())
    if not count:
        return Text("looked at what waits in the queue: nothing new", "dim")
    what = "a call that waited" if count == 1 else f"{count} calls that waited"
    return Text(f"told the model what came of {what}", "dim")


AGENT_STEPS: Mapping[str, Callable[[Said, int], Text]] = {
    "model": _replied,
    "call": _called,
    "told": _told,
    "queued": _queued,
    "news": _news,
}
