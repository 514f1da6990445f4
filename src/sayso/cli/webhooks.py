"""`sayso webhooks`: which receivers are told of events, and what became of the messages."""

from __future__ import annotations

from typing import Any, get_args

import click

from sayso.channels.webhooks import (
    KINDS,
    Delivery,
    Outcome,
    Webhook,
    delivery_record,
    webhook_record,
)
from sayso.cli.desks import address, desk_name, desk_option, named, open_desk
from sayso.cli.numbers import Whole
from sayso.cli.printing import columns, emit, examples, json_option, say, screen, show
from sayso.model.text import one_line
from sayso.store.outbox import Status


@click.group(
    epilog=examples(
        "sayso webhooks add https://example.com/hook",
        "sayso webhooks test w-7f3k2a",
        "sayso webhooks deliveries --status dead",
    )
)
@desk_option
def webhooks() -> None:
    """Which receivers are told of events, and what became of the messages."""


@webhooks.command(
    "add",
    epilog=examples(
        "sayso webhooks add https://example.com/hook",
        "sayso webhooks add https://example.com/hook --kind ask.opened --team billing",
    ),
)
@click.argument("url")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    help="A kind of event, such as ask.opened, ask.* or '*'; repeat for more.  [default: "
    + ", ".join(KINDS)
    + "]",
)
@click.option("--team", help="Only asks and runs of this team.")
@click.option("--full", is_flag=True, help="Say everything, arguments and answers too.")
@click.option("--allow-private", is_flag=True, help="It may be an address of this network.")
@desk_option
@json_option
def add(
    url: str,
    *,
    kinds: tuple[str, ...],
    team: str | None,
    full: bool,
    allow_private: bool,
    as_json: bool,
) -> None:
    """Tell a receiver of events from now on. Its secret is shown once."""
    with open_desk(create=True) as desk:
        given = {"team": team, "full": full, "allow_private": allow_private}
        hook = desk.webhooks.add(url, kinds or KINDS, **given)  # type: ignore[arg-type]
        if as_json:
            emit({**webhook_record(hook), "secret": hook.secret})
            return
        say(f"{hook.id} is told of {', '.join(hook.kinds)}.", "green")
        say(f"Its secret, shown this once: {hook.secret}")
        say(f"Send it a ping: sayso webhooks test {hook.id}")


@webhooks.command("list", epilog=examples("sayso webhooks list"))
@desk_option
@json_option
def list_webhooks(*, as_json: bool) -> None:
    """List the receivers."""
    if not address().there:
        _listed(named(address().url), [], as_json=as_json)
        return
    with open_desk() as desk:
        _listed(desk_name(desk), list(desk.webhooks), as_json=as_json)


def _listed(where: str, found: list[Webhook], *, as_json: bool) -> None:
    if as_json:
        emit({"desk": where, "webhooks": [webhook_record(hook) for hook in found]})
        return
    say(f"desk: {where}, {len(found)} webhook{'' if len(found) == 1 else 's'}", "dim")
    if not found:
        say("Nobody is told of events. Add a receiver: sayso webhooks add URL")
        return
    rows = [
        (hook.id, _state(hook), hook.team or "-", one_line(hook.url, 40), ", ".join(hook.kinds))
        for hook in found
    ]
    show("", *columns(("ID", "STATE", "TEAM", "URL", "KINDS"), rows, screen().width))


def _state(hook: Webhook) -> str:
    if not hook.active:
        return "disabled"
    return f"failing ({hook.failures})" if hook.failures else "ok"


@webhooks.command("remove", epilog=examples("sayso webhooks remove w-7f3k2a"))
@click.argument("webhook", metavar="ID")
@desk_option
@json_option
def remove(webhook: str, *, as_json: bool) -> None:
    """Tell a receiver nothing more, and forget what was on its way to it."""
    with open_desk() as desk:
        desk.webhooks.remove(webhook)
        if as_json:
            emit({"id": webhook})
        else:
            say(f"{webhook} is told nothing more.", "green")


@webhooks.command("test", epilog=examples("sayso webhooks test w-7f3k2a"))
@click.argument("webhook", metavar="ID")
@desk_option
@json_option
def test(webhook: str, *, as_json: bool) -> None:
    """Send a ping now, and say what came of it. Exit 1 if the receiver did not take it."""
    with open_desk() as desk:
        outcome = desk.webhooks.test(webhook)
    if as_json:
        emit({"id": webhook, "ok": outcome.ok, **_outcome(outcome)})
    elif outcome.ok:
        say(f"{webhook} answered {outcome.code} after {outcome.took} ms.", "green")
    else:
        say(f"{webhook} did not take it: {outcome.error}", "red")
    if not outcome.ok:
        click.get_current_context().exit(1)


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {"code": outcome.code, "error": outcome.error, "took": outcome.took}


@webhooks.command("deliveries", epilog=examples("sayso webhooks deliveries --status dead"))
@click.option("--status", type=click.Choice(get_args(Status)), help="Only these.")
@click.option("--webhook", metavar="ID", help="Only to this webhook.")
@click.option("--limit", type=Whole(1, 1000), default=50, help="How many.")
@desk_option
@json_option
def deliveries(*, status: Status | None, webhook: str | None, limit: int, as_json: bool) -> None:
    """List messages, the newest first: waiting, delivered, or dead after ten attempts."""
    with open_desk() as desk:
        found = desk.webhooks.deliveries(status, webhook=webhook, limit=limit)
        if as_json:
            emit({"desk": desk_name(desk), "deliveries": [delivery_record(one) for one in found]})
            return
        say(f"desk: {desk_name(desk)}, {len(found)} deliveries", "dim")
        rows = [
            (one.id, one.webhook, one.status, str(one.attempts), one.about, one.kind, _said(one))
            for one in found
        ]
        head = ("ID", "WEBHOOK", "STATUS", "TRIED", "ABOUT", "KIND", "LAST")
        if rows:
            show("", *columns(head, rows, screen().width))


def _said(delivery: Delivery) -> str:
    return one_line(delivery.error or str(delivery.code or "-"), 200)


@webhooks.command("redeliver", epilog=examples("sayso webhooks redeliver d-7f3k2a9c8b1x0m5n"))
@click.argument("delivery", metavar="ID")
@desk_option
@json_option
def redeliver(delivery: str, *, as_json: bool) -> None:
    """Send a message again, under the same id. The next courier takes it along."""
    with open_desk() as desk:
        again = desk.webhooks.redeliver(delivery)
        if as_json:
            emit(delivery_record(again))
        else:
            say(
                f"{again.id} is due again: whoever carries messages of this desk sends it.", "green"
            )
