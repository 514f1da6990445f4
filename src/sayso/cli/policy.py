"""`sayso policy`: what the rules say, whether they make sense, and why an ask asked whom."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.text import Text

from sayso.asks.law import law_of
from sayso.asks.own_policy import (
    FILE,
    VARIABLE,
    default_policy,
    read_policy,
    speaks_of_policy,
)
from sayso.asks.trusting import could_earn
from sayso.channels.fence import Row
from sayso.cli.desks import address, desk_name, desk_option, named, open_desk, policy_option
from sayso.cli.ids import id_argument
from sayso.cli.policy_asks import explained, explanation
from sayso.cli.policy_calls import simulated
from sayso.cli.printing import columns, emit, examples, json_option, say, screen, show
from sayso.cli.publishing import COMMANDS
from sayso.errors import BadPolicy, BadValue, StoreError
from sayso.insight.called import called
from sayso.model.actor import Roster
from sayso.model.span import aware
from sayso.model.text import one_line, visible
from sayso.model.unreadable import undecodable
from sayso.policy.cases import Difference, differences, read_cases
from sayso.policy.checking import Problem, problems
from sayso.policy.facts import Facts
from sayso.policy.naming import Called, unknown
from sayso.policy.rules import Policy
from sayso.policy.trying import trial_record, tried
from sayso.policy.words import (
    earning_told,
    pace_told,
    paced,
    policy_record,
    problem_record,
    sentence,
    tier_told,
    written,
)
from sayso.store import SystemClock

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sayso.desk import Desk

T = TypeVar("T")

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group(
    epilog=examples(
        "sayso policy check",
        "sayso policy test --cases cases.toml",
        "sayso policy simulate refund --args '{\"amount\": 40}' --risk high",
        "sayso policy explain a-7f3k",
        "sayso policy publish",
        "sayso policy log",
    )
)
@desk_option
@policy_option
def policy() -> None:
    """Who must say yes to what: check the rules, try them, put them in force, ask why."""


for command in COMMANDS:
    policy.add_command(command)


def _found(file: Path | None) -> Policy:
    """Return the policy that is meant: a file that is named, that of this folder, or the desk's."""
    named = file or os.environ.get(VARIABLE) or None
    if named is not None or speaks_of_policy(Path(FILE)):
        return read_policy(Path(named or FILE))
    found, _ = _looked_at(lambda desk: desk.policy, default_policy())
    return found


def _headline(found: Policy) -> str:
    usual = len(set(found.rules) & set(default_policy().rules))
    own = len(found.rules) - usual
    if found is default_policy():
        return f"policy: the default one (no {FILE} here has another), {usual} rules"
    kept = f" and {usual} of the default policy" if usual else ", none of the default policy"
    return f"policy: {found.source}, version {found.version}, {_many(own, 'rule')} of its own{kept}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _people() -> tuple[Roster, str]:
    """Return the people of the desk, and a line that says which desk that is.

    A policy can be checked where there is no desk; then there are no people to check it against.
    """
    return _looked_at(lambda desk: desk.store.register(), Roster({}))


def _people_and_calls() -> tuple[Roster, Called, str]:
    """Return the people of the desk, the tools that were called there, and a line about the desk."""
    nothing: tuple[Roster, Called] = Roster({}), {}

    def look(desk: Desk) -> tuple[Roster, Called]:
        declared = law_of(desk.store).names()
        calls = called(desk.store)
        every = {name: calls.get(name, frozenset()) for name in {*calls, *declared}}
        known = {name: args | declared.get(name, frozenset()) for name, args in every.items()}
        return desk.store.register(), known

    (roster, calls), where = _looked_at(look, nothing)
    return roster, calls, where


def _looked_at(look: Callable[[Desk], T], nothing: T) -> tuple[T, str]:
    """Return what is read from the desk, if there is one, and a line that says which it is."""
    where = address()
    if not where.there:
        return nothing, f"desk: none at {named(where.url)}, so no people to check against"
    try:
        with open_desk() as desk:
            found = look(desk)
            count = len(desk.store.register().people)  # under any policy, fitting or not
            name = desk_name(desk)
    except StoreError as error:
        return nothing, f"desk: no people to check against: {error}"
    return found, f"desk: {name}, {count} {'person' if count == 1 else 'people'}"


# --- check ---


@policy.command(
    "check",
    epilog=examples(
        "sayso policy check", "sayso policy check strict.toml", "sayso policy check --strict"
    ),
)
@click.argument("file", type=_FILE, required=False)
@click.option("--strict", is_flag=True, help="Fail for names that nobody ever used, too.")
@desk_option
@json_option
def check(file: Path | None, *, strict: bool, as_json: bool) -> None:
    """Say what the rules mean, and what is wrong with them.

    FILE is SAYSO_POLICY, else sayso.toml of this folder, else what the desk goes by, unless given. Requirements are checked against the people
    of the desk too, and names of tools and arguments against the calls in its journal. Exit 1 if
    anything is wrong.
    """
    found = _found(file)
    roster, calls, where = _people_and_calls()
    for name, declared in found.declared.items():
        if name in calls:
            calls = {**calls, name: calls[name] | set(declared.arguments)}
    names = unknown(found, calls, strict=strict) if calls else []
    wrong = [*problems(found, roster), *names]
    fatal = any(problem.fatal for problem in wrong)
    if as_json:
        told = [problem_record(problem) for problem in wrong]
        said = {"ok": not fatal, "policy": policy_record(found), "problems": told}
        emit(said | {"compared": len(calls)})
    else:
        say(_headline(found), "dim")
        say(where, "dim")
        say(_compared(calls), "dim")
        show(*_described(found), *_problems(wrong))
        if not wrong:
            say("Nothing is wrong with it.", "green")
    if fatal:
        click.get_current_context().exit(1)


def _compared(calls: Called) -> str:
    if not calls:
        return "names: no tool was called here yet, so tools and arguments cannot be compared"
    return f"names: compared with {_many(len(calls), 'tool')} in the journal"


def _described(found: Policy) -> Iterator[RenderableType]:
    yield Text("")
    yield Text("Tiers", style="bold")
    width = max(map(len, found.tiers)) + 4
    for name in found.order:
        yield Row(f"  {name}", Text(tier_told(found.tiers[name])), width)
    yield Text("")
    yield Text("Rules, each added to what the others say", style="bold")
    usual = set(default_policy().rules)
    for rule in found.rules:
        from_where = "default" if rule in usual else f"line {rule.line}"
        yield Row("  ", Text.assemble((rule.name, "bold"), (f"  ({from_where})", "dim")), 2)
        yield Row("    ", Text(sentence(found, rule)), 4)
        if (code := written(rule)) is not None:
            yield Row("    ", Text(f"when {code}", style="dim"), 4)
    if not found.rules:
        yield Text("  none")
    yield from _gathered("Groups", found.groups, "{}: {}")
    yield from _gathered("Roles by name", found.roles, "{}: {}")
    yield from _gathered("Who counts as what", found.implied, "{} counts as {}")
    yield from _paces(found)
    yield Text("")
    yield Text("What agents can earn to run alone", style="bold")
    yield Row("  ", Text(earning_told(found.earning)), 2)
    yield Text("")


def _gathered(head: str, lists: Any, form: str) -> Iterator[Text]:  # noqa: ANN401 - names by name
    if lists:
        yield Text("")
        yield Text(head, style="bold")
    for name, names in lists.items():
        yield Text(f"  {form.format(name, ', '.join(names) or 'nothing')}")


def _paces(found: Policy) -> Iterator[Text]:
    yield Text("")
    yield Text("How fast agents may ask", style="bold")
    for name in paced(found):
        who = one_line(name, 64) if name else "each agent"
        yield Text(f"  {who}: {pace_told(found.pace(name))}")


def _problems(wrong: Sequence[Problem]) -> Iterator[RenderableType]:
    for problem in wrong:
        level, style = ("fail", "bold red") if problem.fatal else ("warn", "yellow")
        line = f", line {problem.line}" if problem.line else ""
        said = f"{problem.about}{line}: {visible(problem.reason)}"
        yield Row("", Text.assemble((f"{level}  ", style), said), 0)


# --- test ---


@policy.command(
    "test",
    epilog=examples(
        "sayso policy test --cases cases.toml", "sayso policy test strict.toml --cases cases.toml"
    ),
)
@click.argument("file", type=_FILE, required=False)
@click.option("--cases", type=_FILE, required=True, help="The calls, and what is expected of them.")
@desk_option
@json_option
def test(file: Path | None, *, cases: Path, as_json: bool) -> None:
    """Compare what the policy says to calls with what you expect.

    FILE is SAYSO_POLICY, else sayso.toml of this folder, else what the desk goes by, unless given. Exit 1 if anything differs.
    """
    found = _found(file)
    try:
        listed = read_cases(cases.read_text("utf-8"), str(cases))
    except (OSError, UnicodeDecodeError) as error:
        raise BadPolicy(f"The cases cannot be read: {error}") from error
    differing = [(case, differences(found, case)) for case in listed]
    failed = [(case, told) for case, told in differing if told]
    if as_json:
        records = [
            {"name": case.name, "line": case.line, "differences": [_difference(d) for d in told]}
            for case, told in failed
        ]
        emit({"ok": not failed, "cases": len(listed), "failed": records})
    else:
        say(_headline(found), "dim")
        rows = [
            (
                one_line(case.name, 40),
                each.what,
                one_line(each.expected, 60),
                one_line(each.found, 200),
            )
            for case, told in failed
            for each in told
        ]
        if rows:
            show("", *columns(("CASE", "WHAT", "EXPECTED", "FOUND"), rows, screen().width), "")
        good = len(listed) - len(failed)
        style = "red" if failed else "green"
        say(f"{good} of {len(listed)} cases are as expected.", style)
    if failed:
        click.get_current_context().exit(1)


def _difference(each: Difference) -> dict[str, str]:
    return {"what": each.what, "expected": each.expected, "found": each.found}


# --- simulate ---


def _number(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and value != value:  # click takes NaN for something from 0 to 1
        raise click.BadParameter("nan is not in the range 0<=x<=1.")
    return value


@policy.command(
    "simulate",
    epilog=examples(
        "sayso policy simulate refund --args '{\"amount\": 40}' --risk high",
        "sayso policy simulate deploy --agent ci --at 2025-01-01T03:00:00Z",
    ),
)
@click.argument("tool")
@click.option("--args", "args_json", metavar="JSON", default="{}", help="Its arguments.")
@click.option(
    "--policy",
    "file",
    type=_FILE,
    help="The policy.  [default: SAYSO_POLICY, else sayso.toml, else that of the desk]",
)
@click.option("--risk", help="The risk it declares.")
@click.option("--agent", default="", help="Who asks.")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1),
    callback=_number,
    help="How sure the agent says it is.",
)
@click.option("--reversible/--irreversible", default=None, help="Whether it can be undone.")
@click.option("--affects", help="Whom it affects.")
@click.option("--conflict", is_flag=True, help="The agent names contradictory information.")
@click.option("--unseen", is_flag=True, help="Nothing like it was approved before.")
@click.option("--tag", "tags", multiple=True, help="A tag; repeat for more.")
@click.option("--kind", default="action", help="What is asked for, an action unless given.")
@click.option("--gated", is_flag=True, help="Behind a gate that declares no risk.")
@click.option("--at", metavar="TIME", help="When, such as 2025-01-01T03:00:00Z.  [default: now]")
@desk_option
@json_option
def simulate(
    tool: str,
    *,
    args_json: str,
    file: Path | None,
    at: str | None,
    gated: bool,
    as_json: bool,
    **facts: Any,  # noqa: ANN401 - the other options, named as the facts are
) -> None:
    """Say what the policy would do with one call. Nothing is opened.

    Which rules, why, and who on the desk would be asked.
    """
    moment = _moment(at)
    found = _found(file)
    args = _args(args_json)
    call = Facts(tool=tool, args=args, always=gated, unreadable=bool(undecodable(args)), **facts)
    people, where = _people()
    trial = tried(found, call, moment, people)
    earned = could_earn(found, call, trial.ruling)
    if as_json:
        emit(trial_record(trial) | earned)
        return
    say(_headline(found), "dim")
    say(where, "dim")
    show("", *simulated(found, trial, earned))


def _args(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise BadValue(f"--args is no JSON: {error}. Write it like '{{\"amount\": 40}}'.") from None
    if not isinstance(given, dict):
        raise BadValue("--args is an object of names and values, such as '{\"amount\": 40}'.")
    return given


def _moment(text: str | None) -> datetime:
    if text is None:
        return SystemClock().now()
    try:
        return aware(datetime.fromisoformat(text), "--at")
    except ValueError:
        raise BadValue(
            f"--at {one_line(text, 40)!r} is no time; write it like 2025-01-01T03:00:00Z."
        ) from None


# --- explain ---


@policy.command("explain", epilog=examples("sayso policy explain a-7f3k"))
@id_argument
@desk_option
@json_option
def explain(ask_id: str, *, as_json: bool) -> None:
    """Say why an ask asked whom: the rules, the people, the votes."""
    with open_desk() as desk:
        ask = desk.get(ask_id)
        roster = desk.store.roster().within(ask.content.team)
        name = desk_name(desk)
    if as_json:
        emit(explained(ask, roster))
        return
    say(f"desk: {name}", "dim")
    show(*explanation(ask, roster))
