"""`sayso tools`: what the desk knows of each tool, what was called and never declared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
from rich.text import Text

from sayso.asks.tools import ToolRecord
from sayso.channels.fence import Row
from sayso.cli.desks import address, desk_name, desk_option, named, open_desk
from sayso.cli.listing import Group
from sayso.cli.printing import emit, examples, json_option, say, show
from sayso.cli.who import as_option, decider
from sayso.model.declaration import COMPUTED, POLICY, Declaration
from sayso.model.text import one_line
from sayso.policy.words import arguments_told

if TYPE_CHECKING:
    from rich.console import RenderableType

_GUTTER = 12
_SHOWN = 5  # changes, of the latest
_POLICY = "the policy"


@click.group(
    cls=Group,
    epilog=examples(
        "sayso tools",
        "sayso tools show refund",
        "sayso tools sketch refund",
        "sayso tools forget refund --from /srv/shop.py:refund",
    ),
)
@desk_option
def tools() -> None:
    """Tools that the desk knows, and those that it does not. Alone it lists."""


# --- list --------------------------------------------------------------------------------------


@tools.command("list", epilog=examples("sayso tools list", "sayso tools list --undeclared"))
@click.option("--undeclared", is_flag=True, help="Only tools that nothing declares.")
@desk_option
@json_option
def list_tools(*, undeclared: bool, as_json: bool) -> None:
    """List tools: those that nothing declares first, then by name."""
    found: list[ToolRecord] = []
    where = named(address().url)
    if address().there:
        with open_desk() as desk:
            found, where = list(desk.tools), desk_name(desk)
    wanted = [tool for tool in found if not (undeclared and tool.declared)]
    if as_json:
        emit({"desk": where, "tools": [tool.to_json() for tool in wanted]})
        return
    missing = sum(not tool.declared for tool in found)
    count = f"{len(found)} tool{'' if len(found) == 1 else 's'}, {missing} of them undeclared"
    say(f"desk: {where}, {count}", "dim")
    if not found:
        say("None yet: code declares a tool with @desk.gate, and the policy under [tools].")
    for tool in wanted:
        show("", *_row(tool))
    if missing and wanted:
        say("")
        say("No undeclared tool runs alone. Declare it: sayso tools sketch NAME")


def _row(tool: ToolRecord) -> Iterator[RenderableType]:
    name = one_line(tool.name, 60)
    if not tool.declared:
        yield Text.assemble((name, "bold"), ("  nothing declares it", "yellow"))
    else:
        risk = _risk(tool)
        args = ", ".join(_argument(one) for one in _arguments(tool)) or "no arguments"
        yield Text.assemble((name, "bold"), f"  {risk}  ", (f"({one_line(args, 120)})", "dim"))
        yield Row("", Text(f"declared by {_sources(tool.declared)}"), 2)
    if tool.differs:
        yield Row(
            "", Text(f"They differ in {_listed(tool.differs)}: the stricter counts.", "yellow"), 2
        )
    yield Row("", Text(_called(tool), style="dim"), 2)


def _risk(tool: ToolRecord) -> str:
    if tool.tier is not None:
        return f"tier {tool.tier}"
    risk = None if tool.joined is None else tool.joined.risk
    if risk == COMPUTED:
        return "risk by its arguments"
    return f"risk {risk}" if risk is not None else "no risk"


def _arguments(tool: ToolRecord) -> tuple[str, ...]:
    return () if tool.joined is None else tool.joined.arguments


def _argument(name: str) -> str:
    return one_line(name, 40)


def _sources(declared: tuple[Declaration, ...]) -> str:
    return _listed(tuple(_source(one.source) for one in declared))


def _source(source: str) -> str:
    return _POLICY if source == POLICY else one_line(source, 200)


def _listed(words: tuple[str, ...]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _called(tool: ToolRecord) -> str:
    if not tool.called:
        return "never called"
    parts = [(tool.asked, "asked of people"), (tool.alone, "ran alone by a rule"),
             (tool.granted, "ran alone by a grant")]  # fmt: skip
    told = ", ".join(f"{count:,} {words}" for count, words in parts if count)
    times = "once" if tool.called == 1 else f"{tool.called:,} times"
    return f"called {times}{': ' if told else ''}{told}"


# --- show --------------------------------------------------------------------------------------


@tools.command("show", epilog=examples("sayso tools show refund"))
@click.argument("name")
@desk_option
@json_option
def show_tool(name: str, *, as_json: bool) -> None:
    """Show one tool: what each source declares, what that changed, what lets it run alone."""
    with open_desk() as desk:
        tool = desk.tools.get(name)
    if as_json:
        emit(tool.to_json())
        return
    show(*_row(tool), *_details(tool))


def _details(tool: ToolRecord) -> Iterator[RenderableType]:
    for one in tool.declared:
        yield Text("")
        yield Text(_source(one.source), style="bold")
        for label, text in _lines(one):
            yield Row(f"  {label}", Text(text), _GUTTER + 2)
    if tool.rules or tool.keys:
        yield Text("")
        yield Row(
            "Alone by",
            Text(", ".join((*(f"rule {name!r}" for name in tool.rules), *tool.keys))),
            _GUTTER,
        )
    if tool.changes:
        yield Text("")
        yield Text("Declarations", style="bold")
    for change in tool.changes[:_SHOWN]:
        said = one_line("; ".join(change.said), 300)
        yield Row("  ", Text(f"{change.at:%Y-%m-%d %H:%M} {_source(change.source)}: {said}"), 2)


def _lines(one: Declaration) -> Iterator[tuple[str, str]]:
    yield from arguments_told(one)
    if one.risk is not None:
        yield "risk", "by its arguments" if one.risk == COMPUTED else one.risk
    if one.reversible is not None:
        yield "undone", "can be undone" if one.reversible else "cannot be undone"
    for label, text in (("affects", one.affects), ("secret", ", ".join(one.secret)),
                        ("matters", ", ".join(one.matters or ()))):  # fmt: skip
        if text:
            yield label, one_line(text, 200)
    if one.asks:
        yield "asks", "people are asked for each call"
    if one.bucket:
        yield "sorted", "its code sorts its calls into kinds"


# --- sketch, forget ----------------------------------------------------------------------------


@tools.command("sketch", epilog=examples("sayso tools sketch refund >> sayso.toml"))
@click.argument("name")
@desk_option
def sketch(name: str) -> None:
    """Write a declaration for the policy from how a tool was called before.

    Look it over: it allows any number and any text that is of the type which was seen.
    """
    with open_desk() as desk:
        click.echo(desk.tools.sketch(name), nl=False)


@tools.command("forget", epilog=examples("sayso tools forget refund --from /srv/shop.py:refund"))
@click.argument("name")
@click.argument("note", required=False)
@click.option(
    "--from", "source", required=True, help="What declares it, as `sayso tools` shows it."
)
@as_option
@desk_option
@json_option
def forget(name: str, note: str | None, *, source: str, person: str | None, as_json: bool) -> None:
    """Take back what code declares of a tool, because the code is gone. For administrators.

    Code that still runs says it again when it starts the next time.
    """
    with open_desk() as desk:
        desk.tools.forget(name, source, note, by=decider(desk, person))
    if as_json:
        emit({"tool": name, "forgotten": source})
        return
    say(f"{one_line(name, 60)}: {one_line(source, 200)} declares it no longer.", "green")
