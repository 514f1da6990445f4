"""`sayso serve`: the desk for agents and people on other machines, and for a browser here."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from sayso.cli.apps import App, find_app
from sayso.cli.browser import shown_in_browser
from sayso.cli.desks import (
    begin_to_rule,
    desk_argument,
    desk_name,
    desk_option,
    open_desk,
    policy_option,
)
from sayso.cli.numbers import Whole
from sayso.cli.printing import examples, say, typed
from sayso.cli.serve_settings import ServeCommand, provider
from sayso.desk import Desk
from sayso.errors import Misuse
from sayso.web.doors import HOST, PORT, Door, check_door, listen

if TYPE_CHECKING:  # the server is loaded by those who serve
    from urllib.request import OpenerDirector

    from sayso.web.provider import Provider
    from sayso.web.settings import Settings
    from sayso.web.stops import Tour

_FILE = click.Path(dir_okay=False, path_type=Path)
_ANSWERS_WITHIN = 3.0


@click.command(
    "serve",
    cls=ServeCommand,
    epilog=examples(
        "sayso serve                     this machine, in a browser",
        "sayso serve app:desk            with workers for the runs of app",
        "sayso serve --url               another link, from another terminal",
        "sayso serve --host 10.0.0.7 --tls desk.pem desk.key",
        "sayso serve --public-url https://desk.example.org --proxy 10.0.0.5",
    ),
)
@click.argument("target", metavar="[APP[:DESK]]", required=False, envvar="SAYSO_APP")
@click.option(
    "--host", default=HOST, show_default=True, envvar="SAYSO_HOST", help="Where to listen."
)
@click.option(
    "--port",
    type=Whole(0, 65535),
    default=PORT,
    show_default=True,
    envvar="SAYSO_PORT",
    help="The port; 0 takes any that is free.",
)
@click.option(
    "--tls",
    nargs=2,
    type=_FILE,
    metavar="CERT KEY",
    envvar="SAYSO_TLS",
    help="Certificate and private key, for https.",
)
@click.option(
    "--public-url",
    metavar="URL",
    envvar="SAYSO_PUBLIC_URL",
    help="The address people use, if it is another one: that of a proxy, or a name.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    envvar="SAYSO_PROXY",
    help="A proxy whose forwarded headers are believed. Repeatable.",
)
@click.option(
    "--workers",
    type=Whole(0, 1000),
    default=4,
    show_default=True,
    envvar="SAYSO_WORKERS",
    help="How many runs of APP at once.",
)
@click.option(
    "--log",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    envvar="SAYSO_LOG",
    help="What the lines on stderr look like.",
)
@click.option(
    "--insecure",
    is_flag=True,
    envvar="SAYSO_INSECURE",
    help="Let other machines come over plain http.",
)
@click.option(
    "--open-metrics",
    is_flag=True,
    envvar="SAYSO_OPEN_METRICS",
    help="Let programs on this machine read /metrics without a token.",
)
@click.option("--url", "another", is_flag=True, help="Print another link to the one that runs.")
@click.option("--no-open", is_flag=True, help="Open no browser.")
@desk_option
@policy_option
def serve(target: str | None, *, workers: int, **given: Any) -> None:  # noqa: ANN401
    """Serve the desk over HTTP: the API for agents, and the page for people.

    Without people on the desk it is for this machine alone: whoever opens the link that it prints
    decides. With people on it they sign in, and it may be reached from other machines over https.
    With APP, its runs are carried on here too, as `sayso worker` does. Ctrl-C and SIGTERM end it
    once what is being answered is answered; a second Ctrl-C ends it at once.
    """
    certificate, key = given["tls"] or (None, None)
    door = Door(
        host=given["host"],
        port=given["port"],
        certificate=certificate,
        key=key,
        public_url=given["public_url"],
        proxies=tuple(given["proxies"]),
        insecure=given["insecure"],
    )
    app = App("", open_desk(create=not given["another"])) if target is None else find_app(target)
    with app.desk as desk:
        desk.store.register()  # a database that is not there is told now, not in a log
        if given["another"]:
            _print_link(desk, door)
        else:
            serve_app(
                app,
                door,
                workers,
                style=given["style"],
                browser=not given["no_open"],
                named=desk_argument(),
                open_metrics=given["open_metrics"],
            )


def serve_app(
    app: App,
    door: Door,
    workers: int,
    *,
    style: Literal["text", "json"],
    browser: bool,
    named: str | None,
    quiet: bool = False,
    tour: Tour | None = None,
    open_metrics: bool = False,
) -> None:
    """Serve a desk, and carry its runs on, until a signal says to stop.

    `named` is the desk as commands we suggest must name it, if they must. `quiet` logs only what is
    wrong, so that what was said first stays on the screen.
    """
    from sayso.web.app import make_app
    from sayso.web.logbook import Logbook, keep_log
    from sayso.web.serving import serve as run

    desk, oidc = app.desk, provider()
    begin_to_rule(desk)
    check_door(door, people=not desk.people.solo)
    sockets = listen(door)
    port = sockets[0].getsockname()[1]
    again = _again(door, port, named)
    keep_log(style, desk.store.now, quiet=quiet)
    settings = replace(
        _settings(desk, door, port, oidc), another_link=again, tour=tour, open_metrics=open_metrics
    )
    web = make_app(desk, settings)
    with ExitStack() as hops:
        run(
            Logbook(web),
            desk,
            door,
            sockets,
            workers=workers,
            ready=lambda: _introduce(
                app,
                door,
                port,
                workers,
                hops if browser else None,
                again=again,
                tour=tour,
            ),
            stopping=web.state.service.stop,
        )
    say("Ended; every run is let go.", "dim")


def _settings(desk: Desk, door: Door, port: int, oidc: Provider | None) -> Settings:
    from sayso.web.settings import Settings
    from sayso.web.sign_in import cookie_name

    url = door.url(port)
    return Settings(
        public_url=url,
        mode="local" if desk.people.solo else "team",
        cookie=cookie_name(url, port),
        oidc=oidc,
    )


def _introduce(
    app: App,
    door: Door,
    port: int,
    workers: int,
    hops: ExitStack | None,
    *,
    again: str,
    tour: Tour | None,
) -> None:
    """Say what is served and where; in local mode with a link, opened if there is a screen."""
    desk, url = app.desk, door.url(port)
    say(f"desk: {desk_name(desk)}, {desk.inbox(limit=1).counted} open", "dim")
    _warn_of_the_policy(desk)
    if app.name and desk.flows:
        say(f"{app.name} serves {', '.join(sorted(desk.flows))}; {workers} threads")
    if desk.people.solo:
        link = _link(desk, url)
        say(f"Open {link}", "bold")
        say(f"It works once, for five minutes. Another one: {again}", "dim")
        if hops is not None:
            hops.enter_context(shown_in_browser(link))
    else:
        say(f"People sign in at {url}/sign-in", "bold")
        _warn_of_nobody(desk)
    if tour is not None:
        say("In a second terminal, moving in step with the page:")
        for command, _ in tour.commands[:2]:
            say(f"  {command}")
    say("Ctrl-C ends it", "dim")


def _warn_of_the_policy(desk: Desk) -> None:
    """Say so if no policy can be used: nobody would look for that while nothing is asked."""
    broken = desk.law.broken
    if broken is not None:
        say(f"No policy can be used, so every ask is refused until it is mended. {broken}", "red")
        say(f"See what is wrong: {typed()} policy check", "red")
        return
    unmet = desk.law.unmet
    if unmet is not None:
        say(f"What needs those who are missing is refused. {unmet}", "yellow")


def _warn_of_nobody(desk: Desk) -> None:
    """Say so if nobody could sign in."""
    named = [person.name for person in desk.people]
    if provider() is None and not any(desk.store.password(name) for name in named):
        say(
            f"Nobody has a password yet, so nobody can sign in: sayso people password {named[0]}",
            "yellow",
        )


def _link(desk: Desk, url: str) -> str:
    from sayso.access.sessions import make_link
    from sayso.web.sign_in import LINK

    return f"{url}/?{LINK}={make_link(desk.store, origin=desk.origin)}"


def _again(door: Door, port: int, named: str | None) -> str:
    """Return the command that prints another link to this very service."""
    words = [f"{typed()} serve --url"]
    if named is not None:
        words.append(f"--desk {shlex.quote(named)}")
    if port != PORT:
        words.append(f"--port {port}")
    if door.host != HOST:
        words.append(f"--host {door.host}")
    return " ".join(words)


def _print_link(desk: Desk, door: Door) -> None:
    """Print a link to the service that runs already; nothing else on stdout, for scripts."""
    from sayso.access.secrets import digest_of

    url, near = door.url(door.port), f"{door.scheme}://{door.host}:{door.port}"
    if _said(f"{near}/api/v1/about").get("name") != "sayso":
        raise Misuse(
            f"No sayso answers at {url}. Start it (sayso serve), or name its address with the same "
            "--host, --port and --public-url."
        )
    link = _link(desk, url)
    digest = digest_of(link.rpartition("=")[2]).hex()
    stands = _said(f"{near}/ready?link={digest}").get("status")
    if stands != "ok":
        raise Misuse(
            f"No link to {url} can work: {_WHY.get(str(stands), f'it is not ready ({stands})')}. "
            "Start it again on the desk you mean, or name its desk: --desk."
        )
    say(link)
    say("It works once, for five minutes.", "dim", err=True)


_WHY = {
    "unknown-link": "it serves another database than this one",
    "store-unavailable": "its database is gone",
}


def _said(url: str) -> dict[str, Any]:
    """Return what answers there, as JSON. Nothing secret is said, so any certificate will do."""
    import json
    import ssl
    from urllib.request import HTTPSHandler, ProxyHandler, build_opener

    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    opener = build_opener(ProxyHandler({}), HTTPSHandler(context=anybody))
    try:
        with _opened(opener, url) as answer:
            said = json.load(answer)
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _opened(opener: OpenerDirector, url: str) -> Any:  # noqa: ANN401 - as urllib returns it
    from urllib.error import HTTPError

    try:
        return opener.open(url, timeout=_ANSWERS_WITHIN)
    except HTTPError as refusal:  # an answer, too: 503 says why it is not ready
        return refusal
