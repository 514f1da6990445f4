"""`sayso serve`: real processes, as a terminal, a browser and a supervisor meet them."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sayso import Desk
from sayso.access.passwords import set_password
from tests import forked
from tests.certificates import certified
from tests.cli.conftest import COMMAND, PROGRAM, Sayso, Started
from tests.forked import Forked
from tests.places import Place
from tests.together import in_thread, until

PASSWORD = "correct horse battery"


@dataclass
class Service:
    """A service that runs in a process of its own."""

    process: Forked
    said: list[str]

    @property
    def url(self) -> str:
        found = re.search(r"https?://[\w.\[\]:-]+", "".join(self.said))
        assert found is not None, self.said
        return found[0].rstrip("/")

    @property
    def link(self) -> str:
        return next(word for line in self.said for word in line.split() if "?t=" in word)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit code and what was said on stderr."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=30)
        return self.process.wait(), err


Serve = Callable[..., Service]


@pytest.fixture
def serve(started: Started) -> Serve:
    """Start a service on a free port, and wait until it has said where."""

    def start(*args: str, **env: str) -> Service:
        port = () if "--port" in args else ("--port", "0")
        process = started("serve", *port, *args, **env)
        assert process.stdout is not None
        said: list[str] = []
        while "Ctrl-C ends it" not in (line := process.stdout.readline()):
            assert line, process.communicate()
            said.append(line)
        return Service(process, said)

    return start


@contextmanager
def browser(service: Service, **given: Any) -> Iterator[httpx2.Client]:
    headers = {"Sec-Fetch-Site": "same-origin", **given.pop("headers", {})}
    with httpx2.Client(base_url=service.url, headers=headers, timeout=30, **given) as client:
        yield client


def person(url: str, name: str, *roles: str) -> None:
    with Desk(url) as desk:
        desk.people.add(name, roles=roles)
        set_password(desk.store, name, PASSWORD, origin=desk.origin)


def sign_in(client: httpx2.Client, name: str) -> None:
    came = client.post("/api/v1/session", json={"name": name, "password": PASSWORD})
    assert came.status_code == 200, came.text


# --- at this machine ---------------------------------------------------------------------------


def test_somebody_at_this_machine_opens_the_link_once_and_gets_another(
    desk: Desk, here: Path, serve: Serve
) -> None:
    desk.open("refund", {"order": 7})
    service = serve()
    assert service.said[0] == "desk: ./sayso.db, 1 open\n"

    with browser(service) as first, browser(service) as second:
        assert first.get(service.link).headers["location"] == "/?to=%2Finbox"
        assert "<b>1</b> waiting" in first.get("/inbox").text
        again = second.get(service.link)
        assert again.status_code == 401
        assert "sayso serve --url" in again.text
        assert f"/sayso serve --url --port {service.port}" in "".join(service.said), (
            "as it was called"
        )

        once_more = [str(COMMAND), "serve", "--url", "--port", str(service.port)]
        other = forked.run(once_more, cwd=here, env=os.environ)
        assert other.stdout.startswith(f"{service.url}/?t=")
        assert other.stdout.count("\n") == 1
        assert second.get(other.stdout.strip()).status_code == 303
        assert second.get("/api/v1/session").json()["how"] == "link"


def test_a_policy_that_cannot_be_used_is_said_when_it_starts(
    desk: Desk, here: Path, serve: Serve
) -> None:
    (here / "sayso.toml").write_text("[[rules]]\nname = 3\n")
    said = "".join(serve().said)

    assert "No policy can be used, so every ask is refused until it is mended." in said
    assert "sayso.toml:2" in said
    assert "sayso policy check" in said


def test_both_families_of_addresses_answer(serve: Serve) -> None:
    service = serve()
    for host in ("127.0.0.1", "[::1]", "localhost"):
        assert httpx2.get(f"http://{host}:{service.port}/health").json() == {"status": "ok"}


def test_asking_for_a_link_where_nothing_or_something_else_answers_says_so(
    sayso: Sayso, desk: Desk
) -> None:
    desk.inbox()
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = str(silent.getsockname()[1])
        silent.close()
        done = sayso("serve", "--url", "--port", port)
    assert done.code == 1
    assert f"No sayso answers at http://127.0.0.1:{port}" in done.err
    assert "?t=" not in done.out


def test_no_link_is_printed_to_a_service_whose_database_is_gone_e60(
    sayso: Sayso, serve: Serve, here: Path
) -> None:
    """It was printed, and let nobody in: the desk that it was made for was not the one served."""
    service = serve()
    for file in here.glob("sayso.db*"):
        file.unlink()
    done = sayso("serve", "--url", "--port", str(service.port))

    assert done.code == 1
    assert "There is no desk at ./sayso.db" in done.err
    assert "?t=" not in done.out
    assert not list(here.glob("sayso.db*")), "to ask for a link makes no database"

    with Desk("sayso.db") as another:
        another.inbox()
    done = sayso("serve", "--url", "--port", str(service.port))
    assert f"No link to {service.url} can work: its database is gone" in done.err
    assert "?t=" not in done.out


def test_no_link_is_printed_to_a_service_of_another_database_e60(
    sayso: Sayso, serve: Serve
) -> None:
    service = serve()
    with Desk("other.db") as other:
        other.inbox()
    done = sayso("serve", "--url", "--desk", "other.db", "--port", str(service.port))

    assert done.code == 1
    assert f"No link to {service.url} can work: it serves another database" in done.err
    assert "?t=" not in done.out


def test_no_link_is_made_for_a_desk_with_people(sayso: Sayso, serve: Serve) -> None:
    person("sqlite:///sayso.db", "anna", "admin")
    service = serve()
    done = sayso("serve", "--url", "--port", str(service.port))

    assert done.code == 1
    assert "sayso people password" in done.err
    assert f"People sign in at {service.url}/sign-in" in "".join(service.said)


# --- ports and doors ---------------------------------------------------------------------------


def test_a_port_that_is_taken_names_the_next_free_one(sayso: Sayso) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = sayso("serve", "--port", str(port))

    assert done.code == 1
    found = re.search(r"Port (\d+) is taken by another program; free is: --port (\d+)", done.err)
    assert f"sayso serve --url --port {port}" in done.err
    assert found is not None, done.err
    assert int(found[1]) == port < int(found[2])


REFUSED = {
    ("--host", "0.0.0.0"): "sayso people add NAME --admin",
    ("--host", "10.255.255.1"): "sayso people add NAME --admin",
    ("--public-url", "https://desk.example.org"): "sayso people add NAME --admin",
    ("--public-url", "desk"): "--public-url is the address people type",
    ("--public-url", "https://desk/path"): "without a path",
    ("--public-url", "https://u:p@desk"): "without a path",
    ("--tls", "x.pem", "x.key"): "no certificate with its key",
    ("--proxy", "somewhere"): "--proxy takes the address",
}


@pytest.mark.parametrize("args", REFUSED, ids=" ".join)
def test_a_door_that_makes_no_sense_without_people_is_refused(
    sayso: Sayso, args: tuple[str, ...]
) -> None:
    done = sayso("serve", "--port", "0", *args)

    assert done.code == 1
    assert REFUSED[args] in done.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--host", "10.255.255.1"), "--tls CERT KEY"),
        (("--public-url", "http://desk.example.org"), "--insecure"),
        (("--host", "0.0.0.0", "--insecure"), "--public-url https://NAME"),
        (("--host", "10.255.255.1", "--insecure"), "Listening on 10.255.255.1:0 failed"),
    ],
    ids=str,
)
def test_with_people_plain_http_for_other_machines_is_refused(
    sayso: Sayso, args: tuple[str, ...], words: str
) -> None:
    person("sqlite:///sayso.db", "anna", "admin")

    done = sayso("serve", "--port", "0", *args)

    assert done.code == 1
    assert words in done.err


def test_nobody_with_a_password_is_told_at_the_start(desk: Desk, serve: Serve) -> None:
    desk.people.add("anna", roles=["admin"])
    assert "sayso people password anna" in "".join(serve().said)


def test_a_team_signs_in_over_https(here: Path, serve: Serve) -> None:
    certified(here)
    person("sqlite:///sayso.db", "anna", "admin")
    service = serve("--tls", "desk.pem", "desk.key")
    assert service.url.startswith("https://127.0.0.1:")

    trust = ssl.create_default_context(cafile=str(here / "desk.pem"))
    with browser(service, verify=trust) as client:
        sign_in(client, "anna")
        (name,) = client.cookies
        assert name == f"__Host-sayso_{service.port}"
        came = client.get("/api/v1/session")
        assert came.json()["name"] == "anna"
        assert came.headers["strict-transport-security"]


def test_forwarded_headers_are_believed_from_the_proxy_alone(serve: Serve) -> None:
    person("sqlite:///sayso.db", "anna", "admin")
    public = ("--public-url", "https://desk.example.org")
    forwarded = {
        "Host": "desk.example.org",
        "X-Forwarded-For": "203.0.113.9",
        "X-Forwarded-Proto": "https",
    }
    seen = []
    for proxy in ((), ("--proxy", "127.0.0.1")):
        service = serve(*public, *proxy, "--no-open")
        port = service.process.pid and listening(service)
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=forwarded) as client:
            came = client.post("/api/v1/session", json={"name": "anna", "password": PASSWORD})
            secret = came.headers["set-cookie"].partition(";")[0]
            listed = client.get("/api/v1/sessions", headers={"Cookie": secret}).json()
            seen.append(next(s["address"] for s in listed["sessions"] if s["current"]))
        service.end()

    assert seen == ["127.0.0.1", "203.0.113.9"]


def listening(service: Service) -> int:
    """Return the port on which a process listens: it names its public address, not this one."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *_ = line.split()
        inode = line.split()[9]
        if state == "0A" and inode in _sockets(service.process.pid):
            return int(local.rpartition(":")[2], 16)
    raise AssertionError("it listens nowhere")


def _sockets(pid: int) -> set[str]:
    links = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            links.add(os.readlink(link))
    return {link[8:-1] for link in links if link.startswith("socket:[")}


# --- settings ----------------------------------------------------------------------------------


def test_settings_come_from_the_file_the_environment_and_options_in_this_order(
    here: Path, serve: Serve
) -> None:
    (here / "sayso.toml").write_text(
        '[desk]\nurl = "sqlite:///other.db"\n[serve]\nlog = "json"\nworkers = 2\n'
    )
    by_file = serve()
    by_environment = serve(SAYSO_LOG="text")
    by_option = serve("--log", "json", SAYSO_LOG="text")

    assert by_file.said[0].startswith("desk: ./other.db")
    kinds = []
    for service in (by_file, by_environment, by_option):
        httpx2.get(f"{service.url}/api/v1/about")
        _, err = service.end()
        kinds.append(any(line.startswith("{") for line in err.splitlines()))
    assert kinds == [True, False, True]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[serve]\nprot = 1", "[serve] has no 'prot'"),
        ('[serve]\nport = "8700"', "[serve] port must be a number"),
        ("[serve]\nport = true", "[serve] port must be a number"),
        ('[serve]\ntls = "desk.pem"', "[serve] tls must be a list"),
        ("serve = 1", "[serve] is a section"),
        ("[serve", "cannot be read"),
        (
            '[serve.oidc]\nissuer = "http://idp.example"\nclient_id = "x"',
            "must be an https address",
        ),
        ('[serve.oidc]\nissuer = "https://idp.example"', "needs client_id"),
        ('[serve.oidc]\nissuer = 7\nclient_id = "x"', "[serve.oidc] issuer must be text"),
        ("[serve.oidc]\ncolour = 1", "[serve.oidc] has no 'colour'"),
    ],
)
def test_settings_that_make_no_sense_say_which(
    here: Path, sayso: Sayso, text: str, words: str
) -> None:
    (here / "sayso.toml").write_text(text)

    done = sayso("serve", "--port", "0")

    assert done.code == 1
    assert words in done.err


def test_a_policy_may_stand_beside_the_settings(here: Path, serve: Serve) -> None:
    (here / "sayso.toml").write_text('[serve]\nlog = "json"\n[tiers.low]\nneeds = 1\n')
    assert serve().end()[0] == 0


# --- logs --------------------------------------------------------------------------------------


def test_logs_are_one_object_a_line_and_never_hold_a_secret(desk: Desk, serve: Serve) -> None:
    _, token = desk.tokens.make("shop")
    service = serve("--log", "json")
    with browser(service) as client:
        client.get(service.link)
        client.get("/api/v1/session", headers={"X-Request-Id": "from-the-proxy"})
        client.get("/api/v1/asks", headers={"Authorization": f"Bearer {token}"})
        client.get(f"/api/v1/asks?token={token}")
        client.get(f"/api/v1/tokens/{token}/%1b[31m%0aforged")
        client.post("/api/v1/asks", json={"tool": "refund", "args": {"card": "4111"}})
        cookie = client.cookies[f"sayso_{service.port}"]
    code, err = service.end()

    assert code == 0
    lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    paths = [line["path"] for line in lines]
    assert paths[:3] == ["/", "/api/v1/session", "/api/v1/asks"]
    assert lines[1]["id"] == "from-the-proxy"
    assert lines[1]["caller"] == "person:here"
    assert lines[2]["caller"] == "agent:shop"
    for line in lines:
        assert set(line) == {"time", "method", "path", "status", "ms", "caller", "id"}
    for secret in (token, cookie, service.link.partition("t=")[2], "4111", "\x1b"):
        assert secret not in err


def test_probes_are_not_logged_while_all_is_well(serve: Serve) -> None:
    service = serve()
    for path in ("/health", "/ready"):
        assert httpx2.get(service.url + path).status_code == 200
    _, err = service.end()
    assert "/health" not in err
    assert "/ready" not in err


# --- ending ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_long_polls_and_streams_and_the_service_with_zero(
    desk: Desk, serve: Serve, number: int
) -> None:
    ask = desk.open("refund", {"order": 7})
    _, token = desk.tokens.make("shop")
    service = serve()
    headers = {"Authorization": f"Bearer {token}"}
    with (
        httpx2.Client(base_url=service.url, headers=headers, timeout=60) as client,
        client.stream("GET", "/api/v1/events") as stream,
    ):
        assert stream.status_code == 200
        poll = in_thread(
            lambda: httpx2.get(
                f"{service.url}/api/v1/asks/{ask.id}?wait=60", headers=headers, timeout=60
            )
        )
        until(lambda: waits(service) >= 2)
        for _ in range(3):  # a connection is there before what it asks for has been read
            httpx2.get(f"{service.url}/health")
        service.process.send_signal(number)
        rest = list(stream.iter_bytes())  # it ends, and is not broken off

    assert poll.result(20).json()["status"] == "open"
    assert service.process.wait(20) == 0
    assert rest is not None


def waits(service: Service) -> int:
    """How many connections a service holds."""
    ours = _sockets(service.process.pid)
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(1 for row in rows if row[3] == "01" and row[9] in ours)


def test_a_second_signal_ends_it_at_once(here: Path, serve: Serve) -> None:
    service = stuck(here, serve)

    service.process.send_signal(signal.SIGTERM)
    stderr = service.process.stderr
    assert stderr is not None
    until(lambda: "Ending" in stderr.readline())
    ended = until(lambda: _again(service), within=30)

    assert ended in (-signal.SIGTERM, 0)


def stuck(here: Path, serve: Serve) -> Service:
    """A service that carries on a run, which is in the middle of a long step."""
    (here / "app.py").write_text(PROGRAM)
    (here / "start.py").write_text("import app; app.desk.start(app.stuck)")
    service = serve("app")
    assert forked.run([sys.executable, "start.py"], cwd=here, env=os.environ).returncode == 0
    until(lambda: (here / "held").exists())
    return service


def _again(service: Service) -> int | None:
    """Send the signal once more, until it is gone: twice within half a second is one wish."""
    if service.process.poll() is None:
        service.process.send_signal(signal.SIGTERM)
    try:
        return service.process.wait(0.1)
    except subprocess.TimeoutExpired:
        return None


def test_a_run_in_the_middle_of_a_long_step_does_not_keep_it(here: Path, serve: Serve) -> None:
    service = stuck(here, serve)

    code, _ = service.end()

    assert code == 0


def test_after_a_kill_the_same_address_and_the_same_session_go_on(serve: Serve) -> None:
    service = serve()
    with browser(service) as client:
        client.get(service.link)
        service.process.kill()
        service.process.communicate()

        again = serve("--port", str(service.port))

        assert again.port == service.port
        assert client.get("/api/v1/session").status_code == 200


# --- runs and deadlines ------------------------------------------------------------------------


def test_runs_of_the_program_are_carried_on_inside(here: Path, serve: Serve) -> None:
    (here / "app.py").write_text(PROGRAM)
    service = serve("app:desk", "--workers", "2")
    assert "app:desk serves fragile, steps" in "".join(service.said)
    with browser(service) as client:
        client.get(service.link)
        run = client.post("/api/v1/runs", json={"workflow": "words", "input": []})
        assert run.status_code == 201, run.text
        path = f"/api/v1/runs/{run.json()['id']}"
        (ask,) = until(lambda: client.get("/api/v1/asks").json()["asks"])
        where = f"/api/v1/asks/{ask['id']}/decision"
        said = {"verdict": "respond", "answer": "kind ones", "seen": ask["digest"]}
        assert client.post(where, json=said).status_code == 200
        until(lambda: client.get(path).json()["status"] == "done")


def test_deadlines_are_kept_without_any_program(desk: Desk, serve: Serve) -> None:
    serve()
    ask = desk.open("refund", within=0.2)
    until(lambda: desk.store.stream(ask.id)[-1].kind == "ask.decided")


# --- several -----------------------------------------------------------------------------------


def test_two_services_on_one_desk_see_each_other_s_changes_live(place: Place, serve: Serve) -> None:
    env = {"SAYSO_URL": place.url}
    with Desk(place.url, agent="shop") as desk:
        _, token = desk.tokens.make("shop")
    one, two = serve(**env), serve(**env)
    headers = {"Authorization": f"Bearer {token}"}
    with (
        httpx2.Client(headers=headers, timeout=60) as client,
        client.stream("GET", f"{one.url}/api/v1/events") as stream,
    ):
        body = {"tool": "refund", "args": {"order": 7}}
        opened = client.post(f"{two.url}/api/v1/asks", json=body)
        assert opened.status_code == 201, opened.text
        for line in stream.iter_lines():
            if line.startswith("data:") and opened.json()["id"] in line:
                break
    read = httpx2.get(f"{one.url}/api/v1/asks/{opened.json()['id']}", headers=headers)
    assert read.json()["status"] == "open"


def test_a_sign_in_at_one_service_counts_at_another_of_the_same_address(
    place: Place, serve: Serve
) -> None:
    person(place.url, "anna", "admin")
    env = {"SAYSO_URL": place.url}
    one = serve(**env)
    with browser(one) as client:
        sign_in(client, "anna")
        secret = client.cookies[f"sayso_{one.port}"]
        two = serve(**env)
        cookie = {"Cookie": f"sayso_{two.port}={secret}"}
        assert httpx2.get(f"{two.url}/api/v1/session", headers=cookie).json()["name"] == "anna"
        client.delete("/api/v1/session")
        assert httpx2.get(f"{two.url}/api/v1/session", headers=cookie).status_code == 401


def test_a_database_that_is_not_there_is_told_at_once(sayso: Sayso) -> None:
    done = sayso("serve", "--port", "0", "--desk", "postgresql://nobody@127.0.0.1:9/none")
    assert done.code == 1
    assert "sayso:" in done.err
