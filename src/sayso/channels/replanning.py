"""Changing a plan at a terminal: one short command a line, and the plan is shown again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sayso.channels.card import step_lines
from sayso.channels.steps import Line, Step, read_line, read_steps, reworded, tools_of
from sayso.channels.talk import Talk
from sayso.channels.values import as_name
from sayso.errors import BadValue
from sayso.model.ask import Ask
from sayso.model.faults import violations
from sayso.model.text import one_line

_HOW = """\
  2 TEXT  reword step 2          + TEXT  add a step at the end
  d 3     drop step 3            m 3 1   move step 3 to place 1
  a 2     ask before step 2, or no longer
  u       undo                   q       leave the plan as it was
  Enter alone takes the plan as it stands; ? shows this again."""
_TOOLS = "  t 2 TOOL  name the tool of step 2 (none: t 2). There are: {}"
_COMMAND = re.compile(r"(?:(\d+)[.)]?|([a-z+]))\s*(.*)", re.IGNORECASE | re.DOTALL)


def replanned(ask: Ask, talk: Talk, earlier: list[Step] | None = None) -> list[Step] | None:
    """Let the person change the steps of a plan; `None` if they left it as it was.

    `earlier` is what they made of it before, which could not be taken.

    Raises:
        InputEnded: nobody will type any more.
    """
    plan = Replanning(ask, [ask.args["steps"], *([earlier] if earlier else [])])
    talk.show(*plan.how())
    shown: list[Step] | None = None
    while True:
        if plan.steps is not shown:
            shown = plan.steps
            talk.show("", *step_lines(shown))
        typed = talk.line("change: ").strip()
        if typed.lower() == "q":
            return None
        try:
            if not typed:
                return plan.taken()
            if typed == "?":
                talk.show(*plan.how())
            else:
                plan.do(typed)
        except BadValue as error:
            talk.say(str(error), "red")


@dataclass(slots=True)
class Replanning:
    """A plan under change: every version of it, the last one as it stands."""

    ask: Ask
    versions: list[list[Step]]

    @property
    def steps(self) -> list[Step]:
        """The plan as it stands."""
        return self.versions[-1]

    def how(self) -> list[str]:
        """Say which commands there are."""
        tools = ", ".join(map(as_name, tools_of(self.ask)))
        return [_HOW, *([_TOOLS.format(tools)] if tools else [])]

    def do(self, typed: str) -> None:
        """Follow a command.

        Raises:
            BadValue: it is none, or asks for what there is not.
        """
        if typed.lower() != "u":
            self.versions.append(changed(self.steps, typed, tools_of(self.ask)))
        elif len(self.versions) > 1:
            self.versions.pop()
        else:
            raise BadValue("There is nothing to undo.")

    def taken(self) -> list[Step] | None:
        """Return the plan to be approved; `None` if nothing was changed.

        Raises:
            BadValue: it cannot be taken; says why.
        """
        wrong = violations(dict(self.ask.proposal.schema), {"steps": self.steps})
        if wrong:
            said = "; ".join(f"{where}: {what}" for where, what in list(wrong.items())[:5])
            raise BadValue(f"The plan cannot be taken so: {said}")
        return None if self.steps == self.versions[0] else self.steps


def changed(steps: Sequence[Step], typed: str, tools: Sequence[str] = ()) -> list[Step]:
    """Return a plan as a command changes it.

    Raises:
        BadValue: it is no command, or asks for what there is not.
    """
    found = _COMMAND.fullmatch(typed.strip())
    number, letter, rest = found.groups() if found else (None, "", "")
    if number is not None:
        return _reword(steps, f"{number} {rest}", tools)
    act = _ACTS.get(letter.lower())
    if act is None or (letter != "+" and rest and not rest[0].isdigit()):
        raise BadValue(
            f"{one_line(typed, 40)!r} is no command. To add it as a step: + {one_line(typed, 40)}"
        )
    return act(list(steps), rest, tools)


def _reword(steps: Sequence[Step], rest: str, tools: Sequence[str]) -> list[Step]:
    """Give a step other words. What it was said to mean in detail no longer holds."""
    place, text = _place(steps, rest)
    if not text:
        raise BadValue(f"Say what step {place + 1} becomes: {place + 1} NEW TEXT")
    old, new = Line.of(steps[place]), read_line(text, tools)
    line = replace(new, tool=new.tool or old.tool, approval=new.approval or old.approval)
    return _with(steps, place, line, without=("detail",))


def _add(steps: list[Step], rest: str, tools: Sequence[str]) -> list[Step]:
    if not rest:
        raise BadValue("Say what is to be done: + NEW TEXT")
    return [*steps, *read_steps([rest], (), tools)]


def _drop(steps: list[Step], rest: str, _: Sequence[str]) -> list[Step]:
    places = {_place(steps, word)[0] for word in rest.split()} or {_place(steps, rest)[0]}
    if len(places) == len(steps):
        raise BadValue("A plan has at least one step. To stop the agent: q, then Cancel.")
    return [step for place, step in enumerate(steps) if place not in places]


def _move(steps: list[Step], rest: str, _: Sequence[str]) -> list[Step]:
    place, to = _place(steps, rest)
    goal, more = _place(steps, to)
    if more:
        raise BadValue("Move one step at a time: m 3 1")
    steps.insert(goal, steps.pop(place))
    return steps


def _approval(steps: list[Step], rest: str, _: Sequence[str]) -> list[Step]:
    place, more = _place(steps, rest)
    if more:
        raise BadValue("Name one step at a time: a 2")
    line = Line.of(steps[place])
    return _with(steps, place, replace(line, approval=not line.approval))


def _tool(steps: list[Step], rest: str, tools: Sequence[str]) -> list[Step]:
    place, tool = _place(steps, rest)
    if tool and tool not in tools:
        known = ", ".join(map(as_name, tools)) or "none"
        raise BadValue(f"There is no tool {one_line(tool, 60)!r}. There are: {known}.")
    return _with(steps, place, replace(Line.of(steps[place]), tool=tool or None))


_ACTS: Mapping[str, Callable[[list[Step], str, Sequence[str]], list[Step]]] = {
    "+": _add,
    "d": _drop,
    "m": _move,
    "a": _approval,
    "t": _tool,
}


def _with(
    steps: Sequence[Step], place: int, line: Line, *, without: Sequence[str] = ()
) -> list[Step]:
    """Return the steps with one of them saying what a line says."""
    step = steps[place]
    kept: Any = step
    if isinstance(step, dict):
        kept = {name: value for name, value in step.items() if name not in without}
    return [*steps[:place], reworded(kept, line), *steps[place + 1 :]]


def _place(steps: Sequence[Step], rest: str) -> tuple[int, str]:
    """Read the number of a step; return its place, and what follows.

    Raises:
        BadValue: there is no such step.
    """
    number, _, more = rest.strip().partition(" ")
    if not number.isdecimal() or not 1 <= int(number) <= len(steps):
        which = f"step {one_line(number, 20)}" if number else "step of no number"
        raise BadValue(f"There is no {which}: give a number from 1 to {len(steps)}.")
    return int(number) - 1, more.strip()
