"""What is gone is said (E60): the database under a service, and the client of a request."""

from __future__ import annotations

import logging
import socket
from pathlib import Path

import httpx2
import pytest

from sayso import Desk
from sayso.access.secrets import digest_of
from sayso.access.sessions import make_link, use_link
from sayso.errors import StoreUnavailable
from tests.places import Place
from tests.served import Served, served
from tests.together import until


def ready(server: Served, **query: str) -> tuple[int, str]:
    answer = httpx2.get(f"{server.url}/ready", params=query)
    return answer.status_code, answer.json()["status"]


@pytest.mark.parametrize("again", [False, True], ids=["deleted", "another"])
def test_a_file_that_was_deleted_under_a_service_is_noticed_e60(
    tmp_path: Path, again: bool
) -> None:
    """`/ready` went on to say 200, and what people decided was lost with the process."""
    file = tmp_path / "desk.db"
    with Desk(f"sqlite:///{file}") as desk, served(desk) as server:
        assert ready(server) == (200, "ok")
        for each in tmp_path.iterdir():
            each.unlink()
        if again:
            Desk(f"sqlite:///{file}").close()

        assert ready(server) == (503, "store-unavailable")
        with pytest.raises(StoreUnavailable, match=r"is gone|is another one by now"):
            desk.store.schema()


def test_a_file_that_was_moved_back_is_ready_again_e60(tmp_path: Path) -> None:
    file = tmp_path / "desk.db"
    with Desk(f"sqlite:///{file}") as desk, served(desk) as server:
        assert ready(server) == (200, "ok")
        file.rename(tmp_path / "away.db")
        assert ready(server) == (503, "store-unavailable")
        (tmp_path / "away.db").rename(file)

        assert ready(server) == (200, "ok")


def test_a_service_says_whether_a_link_is_of_its_database_e60(place: Place, tmp_path: Path) -> None:
    with Desk(place.url) as desk, served(desk) as server:
        ours, theirs = make_link(desk.store), "x" * 40

        assert ready(server, link=digest_of(ours).hex()) == (200, "ok")
        assert ready(server, link=digest_of(theirs).hex()) == (503, "unknown-link")
        assert ready(server, link="nonsense") == (503, "unknown-link")
        assert use_link(desk.store, ours), "looking does not use it up"
        assert ready(server, link=digest_of(ours).hex()) == (503, "unknown-link")


# --- the client --------------------------------------------------------------------------------


def test_a_client_that_goes_away_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "sayso.web")
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk, served(desk) as server:
        token = server.token("bot", kind="agent")
        for path, media in (
            ("/api/v1/asks", "application/json"),
            ("/sign-in", "application/x-www-form-urlencoded"),
        ):
            head = (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                f"Authorization: Bearer {token}\r\nContent-Type: {media}\r\n"
                "Content-Length: 1000\r\n\r\n"
            )
            with socket.create_connection(("127.0.0.1", server.port)) as line:
                line.sendall(head.encode() + b'{"tool": ')
            until(lambda path=path: f"client-gone: POST {path}" in caplog.text)  # type: ignore[misc]
        assert ready(server) == (200, "ok")

    assert [one.levelname for one in caplog.records if one.name == "sayso.web"] == ["INFO"] * 2
