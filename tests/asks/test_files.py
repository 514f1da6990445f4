"""Files beside an ask: frozen with it, kept once, gone with it."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sayso import Desk, File
from sayso.errors import BadValue, KeyConflict, Tampered, UnknownFile
from sayso.model.file import MOST_BYTES
from sayso.store.queries import read_queries
from tests.places import Place
from tests.together import at_once, in_thread, until

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
JPEG, GIF, WEBP = b"\xff\xd8\xff\xe0" + bytes(9), b"GIF89a" + bytes(9), b"RIFF\0\0\0\0WEBPVP8 "
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'


def test_a_file_is_shown_as_it_was_when_the_ask_opened(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "invoice"
    path.write_bytes(b"40 EUR")
    ask = desk.open("refund", {"order": 7}, files=[File("invoice.txt", path)])
    path.write_bytes(b"4,000 EUR")

    (note,) = desk.get(ask.id).content.files
    assert (note.name, note.media, note.size) == ("invoice.txt", "text/plain", 6)
    assert note.digest == sha256(b"40 EUR").hexdigest()
    assert desk.file(ask, 1) == b"40 EUR"
    assert desk.get(ask.id).digest == ask.digest


def test_another_file_is_another_question_and_a_conflict_under_one_key(desk: Desk) -> None:
    desk.open("refund", {"order": 7}, key="k", files=[File("invoice", b"40 EUR")])

    with pytest.raises(KeyConflict):
        desk.open("refund", {"order": 7}, key="k", files=[File("invoice", b"4,000 EUR")])

    first, again, other = (
        desk.open("refund", {"order": 7}, files=[File("invoice", data)])
        for data in (b"40 EUR", b"40 EUR", b"41 EUR")
    )

    assert (first.id == again.id, first.id == other.id) == (True, False)


def test_every_verb_gate_and_run_takes_files(desk: Desk, reviewer: Any) -> None:
    reviewer.approve("action").respond("question", 3).approve("draft").approve("plan")
    reviewer.approve("action")
    files = [File("seen.png", PNG)]

    @desk.gate(files=files)
    def pay() -> str:
        return "paid"

    desk.confirm("Really?", files=files)
    desk.question("How many?", type=int, files=files)
    desk.draft("Dear", files=files)
    desk.plan(["go"], files=files)
    assert pay() == "paid"

    @desk.workflow
    def work(run: Any) -> bool:
        return bool(run.confirm("Go on?", files=files))

    run = desk.start(work)
    desk.work(until="idle")
    assert run.result() is True

    shown = [event.payload for event in desk.events() if event.kind == "ask.opened"]
    assert [len(said["content"].get("files", ())) for said in shown if said] == [1] * 6


def test_equal_bytes_are_kept_once_and_erased_with_the_last_ask(desk: Desk, place: Place) -> None:
    asks = [desk.open("refund", {"order": n}, files=[File(f"{n}", PNG)]) for n in (1, 2)]
    assert place.count("files") == 1

    for ask, kept in zip(asks, (1, 0), strict=True):
        desk.reject(ask)
        desk.erase(ask, "asked to")
        assert place.count("files") == kept
        with pytest.raises(UnknownFile, match="has none"):
            desk.file(ask, 1)
    assert desk.verify().problems == ()


def test_whoever_opens_while_others_erase_keeps_the_bytes(live: Desk) -> None:
    for number in range(12):
        data = [File("same", os.urandom(8))]
        gone = live.open("refund", {"order": number}, files=data)
        live.reject(gone)

        def erase(gone: Any = gone) -> None:
            live.erase(gone, "asked to")

        def open_(number: int = number, data: Any = data) -> bytes:
            return live.file(live.open("pay", {"order": number}, files=data), 1)

        _, kept = at_once([erase, open_])
        assert kept == data[0].data
    assert live.verify().problems == ()


def test_an_erasure_waits_for_whoever_is_about_to_show_the_same(postgres: Place) -> None:
    """On PostgreSQL writers do not take turns by themselves, as they do on SQLite."""
    queries = read_queries("postgres", {})
    with Desk(postgres.url) as desk, psycopg.connect(postgres.url) as other:
        ask = desk.open("refund", {"order": 1}, files=[File("same", PNG)])
        desk.reject(ask)
        digest = ask.content.files[0].digest
        kept = {"ask": "a-other", "digest": digest, "size": len(PNG), "data": PNG}
        for name in ("keep_file", "show_file"):
            other.execute(_named(queries[name]), kept)
        erasing = in_thread(lambda: desk.erase(ask, "asked to"))
        until(lambda: postgres.one("select count(*) from pg_locks where not granted"))
        other.commit()
        erasing.result(20)

        assert desk.store.file(digest) == PNG


def _named(query: str) -> str:
    return re.sub(r":(\w+)", r"%(\1)s", query)


def test_a_doubt_shows_the_files_of_its_call(desk: Desk) -> None:
    ask = desk.open("refund", {"order": 7}, files=[File("invoice", b"40 EUR")])
    desk.approve(ask)
    call = desk.begin(ask)
    doubt = desk.docket.doubt(ask.id, "It went silent.", attempt=call.attempt)

    assert doubt is not None
    assert desk.file(doubt, 1) == b"40 EUR"


def test_changed_bytes_are_not_handed_out_and_the_audit_names_them(
    desk: Desk, place: Place
) -> None:
    ask = desk.open("refund", {"order": 7}, files=[File("invoice", b"40 EUR")])
    other = {"sqlite": "x'00'", "postgres": r"'\x00'::bytea"}[place.dialect]
    place.sql(f"update files set data = {other}")

    with pytest.raises(Tampered):
        desk.file(ask, 1)
    (problem,) = desk.verify().problems
    assert (problem.what, problem.detail) == ("edited", "file 1 is not what was shown")
    place.sql("delete from files")
    assert desk.verify().problems[0].detail == "file 1 is gone"


# --- what is an image ---


@pytest.mark.parametrize(
    ("name", "data", "media", "found", "claimed"),
    [
        ("a.png", PNG, None, "image/png", None),
        ("a.jpg", JPEG, None, "image/jpeg", None),
        ("a", GIF, "image/gif", "image/gif", None),
        ("a", WEBP, None, "image/webp", None),
        ("a.html", PNG, "text/html", "image/png", "text/html"),
        ("a.png", SVG, None, "application/octet-stream", "image/png"),
        ("a.svg", SVG, None, "image/svg+xml", None),
        ("a", SVG, "IMAGE/PNG", "application/octet-stream", "image/png"),
        ("a.png", b"", None, "application/octet-stream", "image/png"),
        ("a", b"RIFF\0\0\0\0WAVE", "image/webp", "application/octet-stream", "image/webp"),
        ("a.pdf", b"%PDF-", None, "application/pdf", None),
        ("a", b"x", None, "application/octet-stream", None),
    ],
)
def test_an_image_is_told_by_its_bytes(
    desk: Desk, name: str, data: bytes, media: str | None, found: str, claimed: str | None
) -> None:
    ask = desk.open("look", files=[File(name, data, media)])

    (note,) = desk.get(ask.id).content.files
    assert (note.media, note.claimed) == (found, claimed)
    assert note.image is (data in (PNG, JPEG, GIF, WEBP))
    assert desk.file(ask, 1) == data


# --- what is refused ---


@pytest.mark.parametrize(
    "name",
    ["", "x" * 201, "../x", "a\\b", "/etc/passwd", ".", "..", " ", "a\nb", "\u202egnp.exe", 7],
)
def test_a_name_that_could_lead_astray_is_refused(desk: Desk, name: Any) -> None:
    with pytest.raises(BadValue, match=r"name of a file|slashes"):
        desk.open("look", files=[File(name, b"x")])
    assert desk.inbox().count == 0


@pytest.mark.parametrize("media", ["png", "image/png; x=1", "a/b\nc: d", "", 7, "x" * 300 + "/y"])
def test_a_media_type_that_is_none_is_refused(desk: Desk, media: Any) -> None:
    with pytest.raises(BadValue, match="media="):
        desk.open("look", files=[File("a", b"x", media)])


def test_too_much_is_refused_and_says_what_to_do(desk: Desk, place: Place, tmp_path: Path) -> None:
    half = bytes(MOST_BYTES // 2)
    desk.open("look", files=[File("a", half), File("b", half)])
    large = tmp_path / "large"
    large.write_bytes(bytes(3 * MOST_BYTES))
    refused = [
        ([File("a", half), File("b", half), File("c", b"x")], "shrink"),
        ([File("a", large)], "shrink"),
        ([File(str(n), b"") for n in range(11)], "at most 10 files"),
        ([File("a", b""), File("A", b"")], "name of its own"),
        ([File("a", tmp_path)], "cannot be read"),
        ([File("a", tmp_path / "none")], "cannot be read"),
        ([File("a", "text")], "encode"),  # type: ignore[arg-type]
        ([b"bytes"], "holds File"),
        (File("a", b""), "is a list"),
        (7, "is a list"),
    ]
    for files, words in refused:
        with pytest.raises(BadValue, match=words):
            desk.open("other", files=files)  # type: ignore[arg-type]
    assert (desk.inbox().count, place.count("files")) == (1, 1)


@pytest.mark.parametrize("number", [0, -1, 2, 10**30])
def test_a_file_that_is_not_there_is_unknown(desk: Desk, number: int) -> None:
    ask = desk.open("look", files=[File("a", b"x")])

    with pytest.raises(UnknownFile, match="counted from 1"):
        desk.file(ask, number)


@pytest.mark.parametrize("number", ["1", None, 1.0, True, [1]])
def test_what_is_no_number_of_a_file_is_refused(desk: Desk, number: Any) -> None:
    ask = desk.open("refund", files=[File("a", b"x")])

    with pytest.raises(BadValue, match="number="):
        desk.file(ask, number)
