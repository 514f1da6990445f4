"""What the pages show: the queue, an ask, and never more than whoever looks may see."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from sayso import Desk, File
from sayso.model.ask import Ask
from tests import hostile
from tests.served import Served
from tests.web.inbox.browser import FORM, HTML, Node, Tab, encoded, read, tab

_numbers = count(1)
EVIL = f"<img src=x onerror=alert(1)></textarea></script>'\"><b>{hostile.ALL}"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def agent() -> str:
    """An agent of this test alone, whose asks can be listed by themselves."""
    return f"agent{next(_numbers)}"


def call(desk: Desk, agent: str, **terms: Any) -> Ask:
    args = {"order": next(_numbers), "amount": 40}
    return desk.open("refund", args, agent=agent, **{"risk": "medium", **terms})


# --- the queue ---------------------------------------------------------------------------------


def test_e36_the_count_is_of_the_list(anna: Tab, desk: Desk, agent: str) -> None:
    asks = [call(desk, agent) for _ in range(3)]

    anna.go(f"/inbox?agent={agent}")

    assert sorted(anna.rows) == sorted(ask.id for ask in asks)
    assert anna.page.one("p", id="count").text == "3 waiting"
    assert anna.page.one("title").text.startswith("(3)")
    assert anna.page.one("b", class_="badge").text.startswith(", 3")


def test_e36_a_list_of_one_view_is_never_counted_by_another(
    anna: Tab, ben: Tab, desk: Desk, agent: str
) -> None:
    mine = call(desk, agent, needs=["1 senior"], risk=None)
    call(desk, agent, needs=["1 admin"], risk=None)

    seen = {
        view: (sorted(anna.rows), anna.page.one("p", id="count").text)
        for view in ("mine", "team", "high", "decided")
        for _ in (anna.go(f"/inbox?view={view}&agent={agent}"),)
    }

    assert seen["mine"] == ([mine.id], "1 waiting")
    assert (len(seen["team"][0]), seen["team"][1]) == (2, "2 waiting")
    assert seen["high"] == ([], "0 waiting")
    assert seen["decided"] == ([], "0 decided")
    assert ben.go(f"/inbox?agent={agent}").rows == []


def test_what_was_voted_on_waits_no_longer_for_the_voter(anna: Tab, desk: Desk, agent: str) -> None:
    ask = call(desk, agent, needs=["2 senior"], risk=None)
    desk.approve(ask, by="anna")

    assert anna.go(f"/inbox?agent={agent}").rows == []
    assert anna.go(f"/inbox?view=team&agent={agent}").rows == [ask.id]


def test_filters_narrow_and_stay_in_every_link(anna: Tab, desk: Desk, agent: str) -> None:
    ask = call(desk, agent, why="for tea")
    desk.put(desk.forms.notice("tea is back", agent=agent).content)

    query = f"?view=team&agent={agent}&tool=refund&kind=action"
    anna.go(f"/inbox{query}")

    assert anna.rows == [ask.id]
    link = anna.page.one("a", class_="row-link")
    assert link.attrs["href"] == f"/inbox/{ask.id}{query}"
    assert anna.go(link.attrs["href"]).ask == ask.id
    assert anna.page.one("body").attrs["data-query"] == query
    anna.verdict("approve")
    assert query in anna.direct.headers["location"]


def test_words_find_asks(anna: Tab, desk: Desk, agent: str) -> None:
    ask = desk.open("refund", {"why": f"zebra{agent}"}, agent=agent, risk="low")

    assert anna.go(f"/inbox?q=zebra{agent}").rows == [ask.id]
    found = anna.go(f"/inbox/find?q=zebra{agent}").page.all("li", role="option")
    assert [one.attrs["data-href"].partition("?")[0] for one in found] == [f"/inbox/{ask.id}"]
    assert anna.go("/inbox/find").page.all("li") == []


def test_after_a_decision_comes_the_one_behind_it(anna: Tab, desk: Desk, agent: str) -> None:
    for _ in range(3):
        call(desk, agent)
    query = f"?agent={agent}"
    first, second, third = anna.go(f"/inbox{query}").rows

    anna.go(f"/inbox/{second}{query}").verdict("approve")
    assert (anna.ask, anna.rows) == (third, [first, third])
    anna.verdict("approve")
    assert (anna.ask, anna.rows) == (first, [first])
    anna.verdict("reject")

    assert anna.page.all("article") == []
    assert "All clear" in anna.page.text or "Nothing found" in anna.page.text


def test_a_script_gets_the_parts_that_change(anna: Tab, desk: Desk, agent: str) -> None:
    first, second = call(desk, agent), call(desk, agent)
    script = {"HX-Request": "true"}

    alone = anna.client.get(f"/inbox/{first.id}?agent={agent}", headers=script)
    assert "<html" not in alone.text
    assert read(alone.text).one("article").attrs["data-ask"] == first.id
    assert not read(alone.text).all(id="queue")
    fields = encoded([("seen", first.digest), ("verdict", "approve"), ("back", f"?agent={agent}")])
    decided = anna.client.post(
        f"/inbox/{first.id}/decision", content=fields, headers={**FORM, **script}
    )

    page = read(decided.text)
    assert decided.status_code == 200
    assert decided.headers["hx-push-url"] == f"/inbox/{second.id}?agent={agent}"
    assert page.one("article").attrs["data-ask"] == second.id
    apart = [node.attrs["id"] for node in page.all(hx_swap_oob="true")]
    assert apart == ["context", "queue", "held", "toast"]
    assert page.one("section", id="held").one("li", data_ask=first.id).all("button", data_key="z")


def test_the_fragment_of_the_queue_is_the_queue(anna: Tab, desk: Desk, agent: str) -> None:
    ask = call(desk, agent)

    anna.go(f"/inbox/queue?agent={agent}")

    assert anna.page.one(id="queue").tag == "section"
    assert anna.rows == [ask.id]
    assert "<html" not in anna.answer.text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("kind=bogus", "kind='bogus': it is one of action"),
        ("after=zzz", "after='zzz' is no place in this list"),
        ("view=decided&after=zzz", "after='zzz' is no place in this list"),
    ],
)
@pytest.mark.parametrize("path", ["/inbox", "/inbox/queue"])
def test_an_address_that_makes_no_sense_is_what_the_page_says_is_wrong(
    anna: Tab, path: str, query: str, said: str
) -> None:
    anna.go(f"{path}?{query}")

    assert anna.answer.status_code == 422
    assert anna.page.one("h1").text == "Something in this address is wrong"
    assert said in anna.page.one("p", role="alert").text
    assert anna.page.one("a", class_="primary").attrs["href"] == "/inbox"


# --- who sees what -----------------------------------------------------------------------------


def test_e33_what_is_not_for_you_sounds_like_what_never_was(
    ben: Tab, desk: Desk, agent: str
) -> None:
    ask = call(desk, agent, team="billing", files=[File("a.txt", b"secret")])
    paths = ("", "/state", "/run", "/turn", "/files/1")

    for path in paths:
        theirs, nobodys = (ben.client.get(f"/inbox/{one}{path}") for one in (ask.id, "a-0000"))
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.text == nobodys.text
    for path in ("/decision", "/edit", "/take-back", "/claim", "/turn"):
        fields = encoded([("seen", ask.digest), ("verdict", "approve")])
        for one in (ask.id, "a-0000"):
            answer = ben.client.post(f"/inbox/{one}{path}", content=fields, headers=FORM)
            assert answer.status_code == 404, path
    assert desk.get(ask.id).open
    assert ben.go(f"/inbox?view=team&agent={agent}").rows == []
    assert "never here" in ben.go(f"/inbox/{ask.id}").page.text


def test_whoever_is_signed_out_signs_in_and_comes_back(
    server: Served, desk: Desk, agent: str
) -> None:
    ask = call(desk, agent)
    stranger = server.client(headers=HTML)

    came = stranger.get(f"/inbox/{ask.id}?view=high")

    assert came.status_code == 303
    assert (
        came.headers["location"] == f"/sign-in?next={quote(f'/inbox/{ask.id}?view=high', safe='')}"
    )
    posted = stranger.post(f"/inbox/{ask.id}/decision", content=b"verdict=approve", headers=FORM)
    assert (posted.status_code, desk.get(ask.id).open) == (401, True)
    assert f"/sign-in?next=%2Finbox%2F{ask.id}" in posted.text
    script = stranger.get(f"/inbox/{ask.id}", headers={"HX-Request": "true"})
    assert (script.status_code, "<html" in script.text) == (401, False)


def test_what_was_typed_is_handed_back_when_the_session_has_ended(
    server: Served, desk: Desk, agent: str
) -> None:
    ask, anna = call(desk, agent), tab(server, "anna")
    anna.go(f"/inbox/{ask.id}?agent={agent}")
    anna.client.delete("/api/v1/session")
    before = desk.store.total()

    anna.verdict("reject", note=f"Not this one.\nAsk {EVIL}")

    assert anna.answer.status_code == 401
    assert desk.get(ask.id).open
    assert desk.store.total() == before
    texts = [area.raw for area in anna.page.all("textarea")]
    assert f"Not this one.\nAsk {EVIL}" in texts
    assert "reject" in texts
    assert ask.digest not in anna.answer.text
    assert "refund" not in anna.answer.text  # it is not said what the ask is
    assert all("readonly" in area.attrs for area in anna.page.all("textarea"))
    assert anna.page.all("form") == anna.page.all("img") == anna.page.all("b") == []
    back = quote(f"/inbox/{ask.id}?agent={agent}", safe="")
    assert anna.page.one("a", class_="primary").attrs["href"] == f"/sign-in?next={back}"


def test_steps_and_arguments_are_handed_back_too(server: Served, desk: Desk, agent: str) -> None:
    ask = call(desk, agent)
    sent = [("step", "first"), ("step", "second"), ("/order", "7"), ("set:/order", "1")]
    stranger = server.client(headers=HTML)

    came = stranger.post(f"/inbox/{ask.id}/edit", content=encoded(sent), headers=FORM)

    assert came.status_code == 401
    assert [area.raw for area in read(came.text).all("textarea")] == ["first", "second", "7"]
    huge = stranger.post(f"/inbox/{ask.id}/edit", content=b"a=1&" * 20_000, headers=FORM)
    assert (huge.status_code, "Sign in" in huge.text) == (401, True)
    broken = stranger.post(f"/inbox/{ask.id}/edit", content=b"a=%ff", headers=FORM)
    assert (broken.status_code, "Sign in" in broken.text) == (401, True)


def test_a_program_gets_problems_and_not_pages(server: Served) -> None:
    answer = server.client().get("/inbox")

    assert answer.status_code == 401
    assert answer.json()["code"] == "not-signed-in"


@pytest.mark.parametrize("path", ["/nowhere", "/inbox/a-1/nowhere"])
def test_what_is_not_there_is_a_page_for_people(anna: Tab, path: str) -> None:
    answer = anna.client.get(path)

    assert answer.status_code == 404
    assert "To the inbox" in answer.text


def test_no_page_changes_anything_by_being_looked_at(anna: Tab, desk: Desk, agent: str) -> None:
    ask = call(desk, agent, within="1h")
    before = desk.store.total()

    for path in ("", "/state", "/run", "/turn", "/decision", "/take-back", "/claim", "/edit"):
        anna.client.get(f"/inbox/{ask.id}{path}?verdict=approve&seen={ask.digest}")
    anna.client.get("/inbox/bulk")

    assert desk.store.total() == before


# --- hostile and huge --------------------------------------------------------------------------


def _hostile(desk: Desk, agent: str) -> list[Ask]:
    words: dict[str, Any] = {
        "why": EVIL,
        "conflicts": [EVIL],
        "agent": agent,
        "risk": "medium",
    }
    call = desk.open(
        "refund",
        {"note": EVIL, EVIL[:60]: [EVIL, {"x": EVIL}], "to": EVIL},
        title=EVIL,
        impact=EVIL,
        affects=EVIL,
        facts={EVIL: EVIL},
        **words,
    )
    forms = desk.forms
    return [
        call,
        desk.put(forms.plan([EVIL, {"title": EVIL, "detail": EVIL}], title=EVIL, **words).content),
        desk.put(forms.draft(EVIL, title=EVIL, **words).content),
        desk.put(forms.question(EVIL, str, **words).content),
        desk.put(forms.choose(EVIL, [EVIL[:150], "b"], **words).content),
        desk.put(forms.notice(EVIL, facts={EVIL: EVIL}, **words).content),
        desk.put(forms.feedback(EVIL, **words).content),
    ]


def test_e27_e28_no_hostile_text_reaches_a_page_as_it_is(anna: Tab, desk: Desk, agent: str) -> None:
    asks = _hostile(desk, agent)
    desk.reject(asks[0], note=EVIL, by="ada", hold="1h")

    pages = [f"/inbox?agent={agent}&view=team&q={quote(EVIL[:100])}", f"/inbox?agent={agent}"]
    pages += [f"/inbox/{ask.id}{path}" for ask in asks for path in ("", "/state", "/run", "/turn")]
    pages += [f"/leave?to={quote(EVIL)}", f"/inbox?view=decided&agent={agent}"]
    for path in pages:
        answer = anna.go(path).answer
        assert answer.status_code == (204 if path.endswith("/run") else 200), path
        assert anna.page.all("img", src="x") == [], path
        assert [n for n in anna.page.walk() if "onerror" in n.attrs] == [], path
        assert not any(map(hostile.raw_in, _read_aloud(anna.page))), path


def _read_aloud(page: Node) -> Iterator[str]:
    """What is seen or heard of a page; what stands in a field is to be edited, and stays."""
    for node in page.walk():
        if node.tag != "textarea":
            yield from (child for child in node.children if isinstance(child, str))
        for name in ("aria-label", "title", "alt", "placeholder"):
            yield node.attrs.get(name, "")


def test_a_title_of_ten_thousand_characters_is_cut_and_a_megabyte_is_shown(
    anna: Tab, desk: Desk, agent: str
) -> None:
    long = desk.open("refund", {"n": 1}, title="long " * 2000, agent=agent, risk="low")
    large = desk.open("load", {"text": "x" * 1_000_000}, agent=agent, risk="low")

    anna.go(f"/inbox/{long.id}")
    assert len(anna.page.one("h1", id=f"title-{long.id}").text) < 500
    anna.go(f"/inbox/{large.id}")
    assert anna.answer.status_code == 200
    anna.verdict("approve")

    assert anna.status == 303, anna.summary
    assert desk.get(large.id).judged.verdict == "approve"  # type: ignore[union-attr]


def test_only_a_picture_is_shown_and_everything_else_is_kept(
    anna: Tab, desk: Desk, agent: str
) -> None:
    html = b"<script>alert(1)</script>"
    files = [File("p.png", PNG), File("x.png", html), File("é.html", html, "text/html")]
    ask = call(desk, agent, files=files)

    answers = [anna.client.get(f"/inbox/{ask.id}/files/{number}") for number in (1, 2, 3)]

    assert [one.headers["content-type"] for one in answers] == [
        "image/png",
        "application/octet-stream",
        "application/octet-stream",
    ]
    assert answers[0].headers["content-disposition"] == "inline; filename*=UTF-8''p.png"
    assert answers[2].headers["content-disposition"].endswith("UTF-8''%C3%A9.html")
    assert answers[0].content == PNG
    for one in answers:
        assert "sandbox" in one.headers["content-security-policy"]
        assert one.headers["x-content-type-options"] == "nosniff"
    assert all(one.headers["content-disposition"].startswith("attachment") for one in answers[1:])
    assert anna.client.get(f"/inbox/{ask.id}/files/4").status_code == 404
    images = anna.go(f"/inbox/{ask.id}").page.all("img")
    assert [one.attrs["src"] for one in images] == [f"/inbox/{ask.id}/files/1"]


# --- how it came about -------------------------------------------------------------------------


def test_the_outcome_stands_on_the_page_afterwards(anna: Tab, desk: Desk, agent: str) -> None:
    asks = [desk.approve(call(desk, agent), by="anna") for _ in range(4)]
    done, failed, unknown, waits = asks
    desk.finish(desk.begin(done), result={"receipt": 12})
    desk.finish(desk.begin(failed), error="no such order")
    doubt = desk.docket.doubt(unknown.id, "silence", attempt=desk.begin(unknown).attempt)
    assert doubt is not None

    def outcome(ask: Ask) -> str:
        return anna.go(f"/inbox/{ask.id}").page.one("section", class_="outcome").text

    assert "12" in outcome(done)
    assert "no such order" in outcome(failed)
    assert "Nobody knows" in outcome(unknown)
    assert f"/inbox/{doubt.id}" in anna.answer.text
    assert "No program waits for it" in outcome(waits)


def test_a_run_that_nobody_serves_is_said_to_wait(anna: Tab, desk: Desk) -> None:
    run = desk.start(desk.workflow(ask_how_much))
    desk.work(until="idle")
    ask = run.state.pending[0]
    timeline = anna.go(f"/inbox/{ask.id}").page.one("section", class_="ctx-run").text
    assert "ask_how_much" in timeline
    assert "glance" in timeline
    assert "<locals>" not in timeline

    anna.verdict("respond", **{"=": "3", "hold": "0"})
    anna.go(f"/inbox/{ask.id}")

    assert "No worker serves" in anna.page.one("section", class_="outcome").text


def ask_how_much(run: Any) -> int:
    def glance() -> int:
        return 40

    run.step(glance)
    return int(run.question("How much?", type=int))


def test_what_was_decided_before_on_the_like_is_shown_and_not_itself(
    anna: Tab, ben: Tab, desk: Desk, agent: str
) -> None:
    args = {"text": f"quokka {agent} parade"}
    before = desk.open("post", args, agent=agent, risk="low", team="billing")
    desk.reject(before, note="not on Sundays", by="anna")
    ask = desk.open("post", args, agent=agent, risk="low")

    cases = anna.go(f"/inbox/{ask.id}").page.one("section", aria_label="Decided before")
    assert "The nearest was rejected." in cases.text
    assert "not on Sundays" in cases.text
    assert [a.attrs["href"] for a in cases.all("a")] == [f"/inbox/{before.id}"]
    assert "Nobody" in anna.page.one("section", aria_label="Track record").text  # another agent's
    own = desk.open("post", {"text": "x"}, agent=agent, risk="low", team="billing")
    anna.go(f"/inbox/{own.id}")
    assert "1 rejected" in anna.page.one("section", aria_label="Track record").text
    assert "not on Sundays" not in ben.go(f"/inbox/{ask.id}").answer.text


def test_what_a_confidence_is_worth_stands_on_the_page_with_the_count(
    anna: Tab, desk: Desk, agent: str
) -> None:
    def opened(number: int) -> Ask:
        return desk.open("ship", {"order": number}, agent=agent, risk="low", confidence=0.97)

    first = opened(0)
    new = anna.go(f"/inbox/{first.id}").page.text
    for number in range(1, 61):
        ask = opened(number)
        desk.approve(ask, by="anna") if number % 5 else desk.reject(ask, by="anna")
    desk.calibration()  # what was decided is read once a second
    known = anna.go(f"/inbox/{opened(61).id}").page.text

    assert "High confidence 97%" in new
    assert "What that is worth is not known yet: it takes 50 decisions, and there are 0" in new
    assert "Worth 80% by its record: approved unchanged 48 of 60 times" in known
    assert "Medium confidence" in known, "the lesser of what it says and what that is worth"


def test_what_expires_soon_comes_first(anna: Tab, desk: Desk, agent: str) -> None:
    later, soon = call(desk, agent), call(desk, agent, within=timedelta(minutes=20))

    anna.go(f"/inbox?agent={agent}")

    assert anna.rows == [soon.id, later.id]
    assert [node.text for node in anna.page.all("h3", class_="group")] == [
        "Expiring soon",
        "Needs you",
    ]


# --- the rest ----------------------------------------------------------------------------------


def test_settings_are_kept_and_lead_back(anna: Tab) -> None:
    headers = {**FORM, "Referer": "http://elsewhere.example/inbox/a-1?view=high"}

    answer = anna.client.post("/settings", content=b"theme=dark", headers=headers)

    assert answer.headers["location"] == "/inbox/a-1?view=high"
    assert "sayso_look=dark." in answer.headers["set-cookie"]
    cookie = {"Cookie": f"{anna.client.headers['cookie']}; sayso_look=dark.off"}
    page = read(anna.client.get("/inbox", headers=cookie).text)
    assert page.one("html").attrs["data-theme"] == "dark"
    assert page.one("body").attrs["data-keys"] == "off"
    for theme in ("\r\nSet-Cookie:x", "日本", "x" * 5000):
        fields = encoded([("theme", theme)])
        bad = anna.client.post("/settings", content=fields, headers=FORM)
        assert (bad.status_code, "set-cookie" in bad.headers) == (303, False)


def test_a_link_says_where_it_goes(anna: Tab) -> None:
    anna.go(f"/leave?to={quote('https://good.example@evil.example/path')}")

    assert anna.page.one("b", class_="host").text == "evil.example"


def test_the_start_leads_to_the_inbox_and_explains_a_lost_cookie(server: Served, anna: Tab) -> None:
    assert anna.client.get("/").headers["location"] == "/inbox"
    assert anna.client.get("/?to=/inbox/a-1").headers["location"] == "/inbox/a-1"
    assert anna.client.get("/?to=//evil.example").headers["location"] == "/inbox"
    stranger = server.client(headers=HTML).get("/?to=/inbox/a-1")
    assert stranger.status_code == 401
    assert "cookie" in stranger.text
    assert "/sign-in?next=%2Finbox%2Fa-1" in stranger.text


def test_a_page_is_one_of_few_statements(anna: Tab, desk: Desk, agent: str) -> None:
    """A page makes the same statements every time, and none for each row of the list."""
    call(desk, agent)
    anna.go(f"/inbox?agent={agent}")  # what was opened before is read into the index of cases
    few = _statements(desk, anna.client, f"/inbox?agent={agent}")
    for _ in range(20):
        call(desk, agent)
    anna.go(f"/inbox?agent={agent}")

    many = _statements(desk, anna.client, f"/inbox?agent={agent}")

    assert many == few


def _statements(desk: Desk, client: httpx2.Client, path: str) -> list[str]:
    """Return the statements of a page, without those of the service's own threads."""
    store: Any = desk.store
    run = store._run
    made: list[str] = []

    def noting(*given: Any, **named: Any) -> Any:
        # The hub reads what was opened before, whenever its turn comes: no page waits for it.
        if not threading.current_thread().name.startswith("sayso-"):
            made.append(given[1])
        return run(*given, **named)

    store._run = noting
    try:
        assert client.get(path).status_code == 200
    finally:
        del store._run
    return made
