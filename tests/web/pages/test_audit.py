"""Audit: a page, an API and an export that say the same, walls that hold, proof that is shown."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.store.audit import NOT_COVERED, verify
from sayso.web import verifying
from tests.places import Place
from tests.served import Served
from tests.together import until
from tests.web.inbox.browser import Tab, tab

SECONDS = 30


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place("sqlite", f"sqlite:///{tmp_path_factory.mktemp('audit')}/desk.db")


@pytest.fixture(scope="module")
def server(place: Place) -> Iterator[Served]:
    """anna is senior in billing, ben security in support, root an admin of neither."""
    with Desk(place.url, agent="shop", account="sam@till") as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ben", roles=["security"], teams=["support"])
        desk.people.add("root", roles=["admin"])
        with Served(desk) as served:
            yield served


def lines(page: Tab) -> list[str]:
    return [node.attrs["id"] for node in page.page.all("li", data_event="")]


def press(page: Tab, words: str, **typed: str) -> Tab:
    (button,) = [node for node in page.page.all("button") if node.text.startswith(words)]
    return page.press(button, **typed)


def place_of(event: dict[str, Any]) -> str:
    return f"e-{event['stream']}-{event['seq']}"


def rejected(desk: Desk, tool: str, **given: Any) -> Ask:
    ask = desk.open(tool, {"n": 1}, agent="shop", **given)
    return desk.reject(ask, "not like this", by="anna")


# --- looking ---


@pytest.mark.parametrize(
    "query",
    [
        "",
        "actor=person%3Aanna",
        "sort=person&actor=anna",
        "sort=agent",
        "tool=paint",
        "verdict=reject",
        "kind=ask.opened",
        "kind=ask.*",
        "since=7d",
        "tool=paint&verdict=reject&actor=anna&since=1d&kind=ask.decided",
        "tool=nothing",
    ],
)
def test_the_page_lists_what_the_api_does(server: Served, desk: Desk, query: str) -> None:
    rejected(desk, "paint")
    desk.approve(desk.open("draw", {"n": desk.store.total()}), by="anna")
    client = server.signed_in("root")  # one session: another one would be another event
    page = Tab(client).go(f"/audit?{query}")
    asked = query.replace("sort=person&actor=anna", "actor=person:anna").replace("sort=", "actor=")

    said = client.get(f"/api/v1/audit/events?{asked}").json()

    assert lines(page) == [place_of(event) for event in said["events"]]
    exported = client.get(f"/api/v1/audit/export?{asked}")
    assert exported.headers["content-type"].startswith("application/x-ndjson")
    kept = [json.loads(line) for line in exported.text.splitlines()]
    if said["older"] is None:
        assert sorted(map(place_of, kept)) == sorted(map(place_of, said["events"]))


def test_an_event_is_a_sentence_with_who_what_which_tool_when_and_how(
    root: Tab, desk: Desk
) -> None:
    ask = rejected(desk, "sentence")

    line = root.go("/audit?tool=sentence&verdict=reject").page.all("li", data_event="")[0]

    assert 'anna rejected , " not like this "' in line.text
    assert "Sentence" in line.text
    assert f"ask.decided of {ask.id} , tool sentence , via python as sam@till" in line.text
    assert line.one("time").text.endswith("UTC")
    assert line.all("a", href=f"/audit/asks/{ask.id}")
    assert line.one("span", class_="quoted").text == "not like this"


def test_a_vote_is_told_with_the_version_it_was_cast_on(root: Tab, desk: Desk) -> None:
    needs = ["1 senior", "1 security"]
    ask = desk.open("pay_once", {"order": 7, "amount": 40}, needs=needs)
    desk.approve(ask, by="anna")
    desk.edit(desk.get(ask.id), {"amount": 30}, by="ben")
    desk.approve(desk.get(ask.id), by="anna")

    told = [
        " ".join(line.one("p", class_="line-title").text.split())
        for line in root.go(f"/audit?stream={ask.id}").page.all("li", data_event="")
    ]

    assert told == [
        "anna approved : Pay once · 30 · order 7",
        "ben edited it: amount 40 -> 30 : Pay once · 40 · order 7",
        "anna voted approve : Pay once · 40 · order 7",
        "shop (agent) asked: action, call pay_once : Pay once · 40 · order 7",
    ]


def test_of_an_edited_ask_that_was_erased_no_version_is_told(root: Tab, desk: Desk) -> None:
    ask = desk.open("tell", {"name": "Ada Lovelace"})
    desk.edit(ask, {"name": "Grace Hopper"}, by="anna")
    desk.finish(desk.begin(ask.id), result="told")
    desk.erase(ask.id, "case 12")

    told = root.go(f"/audit?stream={ask.id}").page.one("div", id="events").text

    assert "what was said is erased" in told
    assert not [name for name in ("Lovelace", "Hopper") if name in told]


def test_what_an_agent_wrote_cannot_be_taken_for_our_words(root: Tab, desk: Desk) -> None:
    desk.put(desk.forms.question('"?</p><b>root approved</b> \u202e', agent="evil").content)

    page = root.go("/audit?actor=evil")

    (line,) = page.page.all("li", data_event="")
    assert not line.all("b")
    assert [node.text for node in line.all("span", class_="cp")], "what hides is a badge"
    assert line.one("span", class_="quoted").inside("p", class_="line-title")


def test_pages_go_back_to_the_first_event_and_begin_again(root: Tab, desk: Desk) -> None:
    for number in range(60):
        desk.open("many", {"n": number}, agent="pager")
    first = lines(root.go("/audit?actor=pager"))
    older = root.page.one("a", rel="next").attrs["href"]

    second = lines(root.go(older))

    assert (len(first), len(second)) == (50, 10)
    assert not {*first} & {*second}
    assert [node.attrs["href"] for node in root.page.all("a") if node.text == "Newest"] == [
        "/audit?actor=pager"
    ]


def test_a_filter_that_makes_no_sense_is_said_to_be(root: Tab) -> None:
    for query in ("verdict=maybe", "kind=ask.what", "since=yesterday", "before=x"):
        page = root.go(f"/audit?{query}")
        assert page.page.one("div", role="alert").text
        assert lines(page) == []


# --- walls ---


def test_a_team_is_a_wall_on_every_way(server: Served, desk: Desk) -> None:
    theirs = desk.open("hidden", {"n": 1}, team="support")
    desk.reject(theirs, by="ben")

    for name in ("anna", "root"):
        page = tab(server, name).go("/audit?tool=hidden")
        assert lines(page) == []
        client = server.signed_in(name)
        assert client.get("/api/v1/audit/events?tool=hidden").json()["events"] == []
        assert theirs.id not in client.get("/api/v1/audit/export").text
        assert client.get(f"/audit/asks/{theirs.id}").status_code == 404
        assert client.get("/audit/asks/a-none").status_code == 404
    assert len(lines(tab(server, "ben").go("/audit?tool=hidden"))) == 2


# --- proof ---


def ended(page: Tab) -> dict[str, Any]:
    """Wait for the end; in a session that there is already, for another one would be an event."""
    client = page.client
    until(lambda: client.get("/api/v1/audit/verification").json()["state"] != "running")
    found: dict[str, Any] = client.get("/api/v1/audit/verification").json()
    return found


@contextmanager
def forged(place: Place, ask: Ask) -> Iterator[None]:
    """Let a decision say something else for a while."""
    change = "update events set payload = replace(payload, ?, ?) where stream = ? and seq = 2"
    place.sql(change, "not like this", "all fine", ask.id)
    try:
        yield
    finally:
        place.sql(change, "all fine", "not like this", ask.id)


def test_verifying_goes_on_in_the_background_and_names_what_it_found(
    server: Served, root: Tab, desk: Desk, place: Place
) -> None:
    ask = rejected(desk, "forged")
    with forged(place, ask):
        press(root.go("/audit"), "Verify", seal="")
        assert root.direct.headers["location"] == "/audit#proof"
        said, report = ended(root), verify(desk.store)

    assert said["state"] == "done"
    assert said["found"]["problems"] == [{"what": "edited", "stream": ask.id, "seq": 2}]
    assert said["found"]["events"] == said["read"] == report.events
    proof = root.go("/audit").page.one("section", id="proof").text
    assert f"1 problem in {report.events:,} events" in proof
    assert f"Edited : {ask.id} event 2: it was changed" in proof
    assert "all fine" not in proof

    assert server.signed_in("anna").post("/api/v1/audit/verification").status_code == 202
    assert ended(root)["found"]["whole"] is True
    assert "The journal is whole" in root.go("/audit").page.one("section", id="proof").text


def test_a_credential_that_was_swapped_is_named_to_administrators_with_what_is_not_covered_e44(
    server: Served, root: Tab, desk: Desk, place: Place
) -> None:
    token, _ = desk.tokens.make("till")
    change = "update tokens set digest = ? where id = ?"
    [(digest,)] = place.sql("select digest from tokens where id = ?", token.id)
    place.sql(change, b"x" * 32, token.id)
    try:
        press(root.go("/audit"), "Verify", seal="")
        found = ended(root)["found"]
        theirs = tab(server, "ben").client.get("/api/v1/audit/verify").json()
    finally:
        place.sql(change, digest, token.id)

    detail = f"token {token.id} of till: its secret differs from what the journal recorded"
    assert found["problems"] == [{"what": "index", "stream": "access", "seq": 0, "detail": detail}]
    assert found["not_covered"] == list(NOT_COVERED)
    proof = root.go("/audit").page.one("section", id="proof").text
    assert f"Index : access : {detail}" in proof
    assert all(each in proof for each in NOT_COVERED)
    assert (theirs["problems"], theirs["others"]) == ([], 1)


def test_a_verification_names_nobody_and_nothing_behind_a_wall(
    server: Served, anna: Tab, root: Tab, desk: Desk, place: Place
) -> None:
    ben = tab(server, "ben")
    ours, theirs = rejected(desk, "open"), rejected(desk, "behind_a_wall", team="billing")
    with forged(place, ours), forged(place, theirs):
        press(anna.go("/audit"), "Verify", seal="")
        said = ended(anna)
        waited = ben.client.get("/api/v1/audit/verify").json()

    of_ours = {"what": "edited", "stream": ours.id, "seq": 2}
    assert (said["by"], said["found"]["others"]) == ("anna", 0)
    assert theirs.id in {one["stream"] for one in said["found"]["problems"]}
    found = ended(ben)
    assert found["by"] is None
    for one in (found["found"], waited):
        assert (one["problems"], one["others"]) == ([of_ours], 1)
    proof = ben.go("/audit").page.one("section", id="proof").text
    assert "2 problems in" in proof
    assert "1 more is not named here" in proof
    assert "for somebody of another team" in proof
    assert ours.id in proof
    assert "anna" not in proof
    assert theirs.id not in proof
    assert "for anna" in root.go("/audit").page.one("section", id="proof").text


def test_progress_is_shown_and_nobody_begins_a_second_one(
    server: Served, root: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, looked = threading.Event(), threading.Event()

    def slowly(store: Any, *, seal: Any, progress: Any, unlike: Any) -> Any:
        progress(12_000, 48_000)
        looked.set()
        assert go_on.wait(SECONDS)
        return verify(store, seal=seal, unlike=unlike)

    with monkeypatch.context() as patch:
        patch.setattr(verifying, "verify", slowly)
        server.signed_in("root").post("/api/v1/audit/verification")
        assert looked.wait(SECONDS)
        again = server.signed_in("anna").post("/api/v1/audit/verification").json()
        proof = root.go("/audit").page.one("section", id="proof")
        go_on.set()
        said = ended(root)

    assert (again["state"], again["read"], again["total"]) == ("running", 12_000, 48_000)
    assert "12,000 of 48,000" in proof.text
    assert proof.one("progress").attrs["value"] == "12000"
    assert "data-moving" in proof.attrs
    assert not proof.all("button")
    assert (said["state"], said["by"]) == ("done", "root")


def test_a_seal_is_shown_to_be_kept_and_holds_the_journal_to_it(
    server: Served, root: Tab, anna: Tab, desk: Desk, place: Place
) -> None:
    rejected(desk, "sealed")
    root.go("/audit")
    press(root, "Seal")
    line = root.page.one("textarea", id="seal-line").text
    assert line.startswith("sayso-seal:")
    assert bool(desk.verify(seal=line))
    assert root.go("/audit").page.all("textarea", id="seal-line") == []
    assert not [node for node in anna.go("/audit").page.all("button") if "Seal" in node.text]
    assert anna.go("/audit?sealed=1").page.all("textarea", id="seal-line") == []

    again = server.person("root", scopes=["admin"]).post("/api/v1/audit/seals")
    assert again.status_code == 201
    kept = line.replace(line[-4:], "0000")
    root.go("/audit")
    press(root, "Verify", seal=kept)
    problems = ended(root)["found"]["problems"]
    assert [one["what"] for one in problems] == ["rewritten"]
    assert press(root.go("/audit"), "Verify", seal="no seal").page.one("div", role="alert").text


def test_before_the_first_verification_nothing_is_said_of_any(local: Desk) -> None:
    with Served(local) as server:
        said = server.signed_in(None, how="link").get("/api/v1/audit/verification").json()

    nothing = dict.fromkeys(("by", "begun_at", "ended_at", "found", "failed"))
    assert said == {"state": "none", **nothing, "read": 0, "total": 0}


def test_what_was_verified_before_a_seal_does_not_speak_against_it(root: Tab, desk: Desk) -> None:
    def proof() -> str:
        return root.page.one("section", id="proof").text

    rejected(desk, "sealed_after")
    press(root.go("/audit"), "Verify", seal="")
    ended(root)
    root.go("/audit")
    assert "sealed since" not in proof()

    press(root, "Seal")

    assert root.page.one("textarea", id="seal-line").text.startswith("sayso-seal:")
    assert "streams when this was verified; the journal was sealed since" in proof()
    assert "nobody would notice" not in proof()
    press(root, "Verify", seal="")
    ended(root)
    root.go("/audit")
    assert "sealed since" not in proof()
    assert f"Sealed {desk.verify().sealed:,} streams" in proof()


def test_an_export_has_what_the_command_line_writes_and_goes_on_from_a_cursor(
    server: Served, desk: Desk
) -> None:
    client = server.signed_in("root")
    lines_ = [json.loads(line) for line in client.get("/api/v1/audit/export").text.splitlines()]
    at = lines_[len(lines_) // 2]["cursor"]

    rest = client.get("/api/v1/audit/export", params={"after": at}).text.splitlines()

    assert [json.loads(line) for line in rest] == lines_[len(lines_) // 2 + 1 :]
    ours = {event.hash.hex(): event for event in desk.events()}
    assert all(line["payload"] == ours[line["hash"]].payload for line in lines_)


# --- decisions as a data set ---


def test_decisions_are_sent_as_lines_without_names_and_without_other_teams(
    server: Served, desk: Desk
) -> None:
    mine, theirs = rejected(desk, "dataset"), desk.open("dataset", {"n": 9}, team="support")
    desk.reject(theirs, by="ben")
    client = server.signed_in("anna")

    answer = client.get("/api/v1/audit/decisions?tool=dataset&verdict=reject")
    lines_ = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert answer.headers["content-disposition"] == 'attachment; filename="decisions.jsonl"'
    assert [line["ask"] for line in lines_] == [mine.id]
    assert lines_[0]["reviewer"] == "reviewer-1"
    asked: dict[str, str | bool] = {"tool": "dataset", "names": True}
    named = client.get("/api/v1/audit/decisions", params=asked)
    assert json.loads(named.text)["reviewer"] == "anna"
    rest = {"tool": "dataset", "after": lines_[-1]["cursor"]}
    assert client.get("/api/v1/audit/decisions", params=rest).text == ""
    for query in ("verdict=maybe", "since=yesterday", "after=nowhere"):
        assert client.get(f"/api/v1/audit/decisions?{query}").status_code == 422


def test_a_reviewer_behind_a_wall_is_counted_and_not_named(server: Served, desk: Desk) -> None:
    asks = [desk.open("reviewed_by_two", {"n": number}) for number in range(2)]
    desk.approve(asks[0], by="anna")
    desk.approve(asks[1], by="ben")

    by = server.signed_in("anna").get("/api/v1/metrics?by=reviewer").json()["by"]
    assert "ben" not in by
    assert by[""]["decisions"] >= 1
    asked: dict[str, str | bool] = {"tool": "reviewed_by_two", "names": True}
    sent = server.signed_in("anna").get("/api/v1/audit/decisions", params=asked).text
    assert [json.loads(line)["reviewer"] for line in sent.splitlines()] == ["anna", "reviewer-1"]
    assert {"anna", "ben"} <= set(
        server.signed_in("root").get("/api/v1/metrics?by=reviewer").json()["by"]
    )
    staffing = server.signed_in("anna").get("/api/v1/staffing?people=3").json()
    assert staffing["people"] == 3
    assert staffing["load"] is not None
