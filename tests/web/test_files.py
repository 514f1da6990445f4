"""Files over HTTP: sent in base64, handed out so that no browser runs them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from sayso import Desk, File
from sayso.errors import BadValue, UnknownFile
from sayso.remote.desk import RemoteDesk
from tests.asks.test_files import PNG, SVG
from tests.served import Served


@pytest.fixture
def server(local: Desk) -> Iterator[Served]:
    local.people.add("anna", teams=["billing"])
    with Served(local) as server:
        yield server


def posted(client: httpx2.Client, *files: dict[str, Any]) -> httpx2.Response:
    return client.post("/api/v1/asks", json={"tool": "refund", "args": {}, "files": list(files)})


def sent(name: str, data: bytes, media: str | None = None) -> dict[str, Any]:
    given = {"name": name, "data": b64encode(data).decode()}
    return given if media is None else given | {"media": media}


def test_what_is_sent_is_listed_and_comes_back(server: Served) -> None:
    client = server.agent("bot", team="billing")
    ask = posted(client, sent("Chart.png", PNG), sent("Zürich ☂.html", SVG, "text/html")).json()

    assert [(f["name"], f["media"], f["size"]) for f in ask["content"]["files"]] == [
        ("Chart.png", "image/png", len(PNG)),
        ("Zürich ☂.html", "text/html", len(SVG)),
    ]
    image, page = (client.get(f"/api/v1/asks/{ask['id']}/files/{n}") for n in (1, 2))
    assert (image.content, page.content) == (PNG, SVG)
    assert image.headers["content-type"] == "image/png"
    assert image.headers["content-disposition"] == "inline; filename*=UTF-8''Chart.png"
    assert page.headers["content-type"] == "application/octet-stream"
    place = "attachment; filename*=UTF-8''Z%C3%BCrich%20%E2%98%82.html"
    assert page.headers["content-disposition"] == place
    for answer in (image, page):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"


def test_a_file_behind_a_wall_does_not_exist(server: Served) -> None:
    server.desk.people.add("ben", teams=["sales"])
    ask = posted(server.agent("bot", team="billing"), sent("a", b"x")).json()
    path = f"/api/v1/asks/{ask['id']}/files/1"

    assert server.person("anna").get(path).content == b"x"
    missing = server.person("ben").get(path)
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown-ask")
    assert server.person("ben").get("/api/v1/asks/a-0000/files/1").json()["code"] == "unknown-ask"


@pytest.mark.parametrize(
    "files",
    [
        [{"name": "a", "data": "no base64!"}],
        [{"name": "a"}],
        [{"name": "../a", "data": ""}],
        [{"name": "a", "data": "", "media": "x"}],
        [{"name": "a", "data": "", "size": 1}],
        [{"name": str(n), "data": ""} for n in range(11)],
        [sent("a", bytes(1024 * 1024 + 1))],
        ["a"],
        "a",
    ],
)
def test_files_that_make_no_sense_are_refused_by_name(server: Served, files: Any) -> None:
    client = server.agent("bot", team="billing")
    answer = client.post("/api/v1/asks", json={"tool": "refund", "files": files})

    assert answer.status_code == 422
    assert any(name.startswith("files") for name in answer.json().get("fields", {})) or (
        answer.json()["more"]["path"].startswith("files")
    )
    assert server.desk.inbox().count == 0


@pytest.mark.parametrize("number", ["0", "2", "-1", "x", "9" * 40])
def test_a_number_without_a_file_is_answered_plainly(server: Served, number: str) -> None:
    client = server.agent("bot", team="billing")
    ask = posted(client, sent("a", b"x")).json()

    assert client.get(f"/api/v1/asks/{ask['id']}/files/{number}").status_code in (404, 422)


def test_a_desk_behind_http_sends_and_reads_files(server: Served) -> None:
    token = server.token("bot", kind="agent", team="billing")
    with RemoteDesk(server.url, token=token) as desk:
        ask = desk.open("refund", {"n": 1}, files=[File("b.png", SVG), File("a", PNG)])

        assert [note.claimed for note in ask.content.files] == ["image/png", None]
        assert [note.image for note in ask.content.files] == [False, True]
        assert (desk.file(ask, 1), desk.file(ask, 2)) == (SVG, PNG)
        with pytest.raises(UnknownFile, match="file 3"):
            desk.file(ask, 3)
        with pytest.raises(BadValue, match="at most 1,048,576 bytes"):
            desk.open("refund", {"n": 2}, files=[File("a", bytes(1024 * 1024 + 1))])
