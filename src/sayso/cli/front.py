"""`sayso`: the commands together, and how their errors look."""

from __future__ import annotations

from typing import Any

import click

import sayso
from sayso.cli.audit import audit
from sayso.cli.calibration import calibration
from sayso.cli.cases import cases
from sayso.cli.db import db
from sayso.cli.demo import demo
from sayso.cli.desks import desk_option
from sayso.cli.doctor import doctor
from sayso.cli.inbox import inbox
from sayso.cli.meant import like, within
from sayso.cli.metrics import metrics
from sayso.cli.people import people
from sayso.cli.policy import policy
from sayso.cli.preferences import preferences
from sayso.cli.printing import examples, failure, wants_json
from sayso.cli.run import run
from sayso.cli.runs import runs
from sayso.cli.serve import serve
from sayso.cli.tokens import tokens
from sayso.cli.tools import tools
from sayso.cli.top import top
from sayso.cli.trust import incident, trust
from sayso.cli.webhooks import webhooks
from sayso.cli.worker import worker
from sayso.errors import SaysoError, UnknownAsk, UnknownRun


class Front(click.Group):
    """The top of the command line: turns our errors into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order people need them, not by the alphabet."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of one that stands in a group, say in which."""
        meant = [] if args[0] in self.commands else within(self.commands, args[0])
        if meant:
            ctx.fail(f"No such command {args[0]!r}. Did you mean: {', '.join(meant)}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - whatever the command returns
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (UnknownAsk, UnknownRun) as error:
            failure(error.code, f"{error}{like(error)}", as_json=wants_json(ctx))
            ctx.exit(1)
        except SaysoError as error:
            failure(error.code, str(error), as_json=wants_json(ctx))
            ctx.exit(1)
        except click.UsageError as error:
            if not wants_json(ctx):
                raise
            failure("usage", error.format_message(), as_json=True)
            ctx.exit(2)


@click.group(
    cls=Front,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "sayso demo                      see it work, in your browser",
        'sayso run app:agent "TASK"      an agent, with you as its person',
        "sayso inbox                     what waits for you",
        "sayso inbox show a-7f3k         all about one ask",
        "sayso inbox approve a-7f3k      look, then say yes",
        "sayso runs show r-7f3k2a        what a run did, and how it stands",
        "sayso worker app:desk           carry runs on",
        "sayso serve                     for a browser, and for agents elsewhere",
        "sayso top                       all of it, live",
    ),
)
@desk_option
@click.version_option(sayso.__version__, prog_name="sayso")
def front() -> None:
    """Human oversight for AI agents: nothing leaves without your say-so."""


_COMMANDS = (
    *(run, inbox, runs, top, worker, serve, people, tokens, webhooks, policy, tools),
    *(trust, incident, cases, preferences, metrics, calibration, audit, db, doctor, demo),
)
for command in _COMMANDS:
    front.add_command(command)
