"""What stands on an ask of the trust in its agent, and what people say of it there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Ask, Desk
from sayso.channels.reputation import reputation
from sayso.testing import FakeClock
from tests.keyed import call, earning, granted, law, proposed
from tests.served import Served
from tests.web.inbox.browser import FORM, Tab, encoded, tab


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, clock: FakeClock) -> Iterator[Served]:
    """anna and ada are senior."""
    folder = tmp_path_factory.mktemp("trusting")
    url = f"sqlite:///{folder}/desk.db"
    with Desk(url, agent="shop", clock=clock, policy=law()) as desk:
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ada", roles=["senior"])
        with Served(desk) as served:
            yield served


def labels(here: Tab) -> list[str]:
    return [one.one("span", class_="words").text for one in here.buttons]


def paying(desk: Desk, matters: list[str] | None = None) -> Ask:
    @desk.gate(risk="medium", matters=matters)
    def pay(amount: int, memo: str) -> str:
        return f"{memo}: {amount}"

    gate = pay.__sayso_gate__  # type: ignore[attr-defined]
    content = gate.content(desk.forms, gate.tool.bind((40, "thanks"), {}))
    return desk.put(content, declared=True)


def test_an_ask_says_what_the_record_of_its_kind_of_call_is(desk: Desk, anna: Tab) -> None:
    book = earning(desk, by="anna", short=57)
    ask = call(desk)

    line = anna.go(f"/inbox/{ask.id}").page.one("p", class_="key-line")

    assert f"{reputation(desk.trust.key(book.id))}." in line.text
    assert "191 of its calls were fine, 0 harmful; 57 more before it may run alone" in line.text
    assert line.one("a").attrs["href"] == f"/trust/{book.id}"


def test_what_can_never_be_earned_says_nothing_of_it(desk: Desk, anna: Tab) -> None:
    ask = call(desk, reversible=False)

    assert not anna.go(f"/inbox/{ask.id}").page.all("p", class_="key-line")


def test_a_grant_is_let_or_not_in_words_of_its_own(desk: Desk, anna: Tab) -> None:
    book = proposed(desk, by="anna")

    anna.go(f"/inbox/{book.grant_ask}")

    assert labels(anna) == ["Let it run alone", "Not yet"]
    assert "The agent says" not in anna.page.text
    assert "untrusted text" not in anna.page.text
    assert "title is in the agent's words" not in anna.page.text
    assert "people are asked only for what chance picks" in anna.page.text
    anna.verdict("approve", hold="0")
    assert desk.trust.alone(book.id)


def test_a_flag_is_settled_by_somebody_else_in_words_of_its_own(
    server: Served, desk: Desk, anna: Tab
) -> None:
    ask = call(desk)
    anna.go(f"/inbox/{ask.id}")
    (with_reason,) = anna.page.all("button", value="reject-with")
    anna.press(with_reason, kind="harmful", note="It pays twice", hold="0")
    stake = desk.get(ask.id).stake
    assert stake is not None
    flag = desk.trust.key(stake.key).flag_ask

    ada = tab(server, "ada").go(f"/inbox/{flag}")

    assert labels(ada) == ["It was harmful", "It was not"]
    assert "Whoever flagged it says It pays twice" in ada.page.text
    ada.verdict("approve", hold="0")
    assert desk.trust.key(stake.key).marks == "?x"


@pytest.mark.parametrize(("said", "marks"), [("yes", "?"), ("no", "+"), ("", None)])
def test_whoever_edits_what_matters_says_whether_it_would_have_done_harm(
    desk: Desk, anna: Tab, said: str, marks: str | None
) -> None:
    ask = paying(desk, ["amount"])
    anna.go(f"/inbox/{ask.id}")
    question = anna.page.one("fieldset", class_="harm-question")
    assert "If you change amount : would it have done harm" in question.text

    anna.verdict("approve", **{"/amount": "30", "harmful": said, "hold": "0"})

    assert desk.get(ask.id).args["amount"] == 30
    assert [row.marks for row in desk.trust] == ([] if marks is None else [marks])


def test_an_answer_about_an_edit_that_touches_nothing_that_matters_is_not_heard(
    desk: Desk, anna: Tab
) -> None:
    ask = paying(desk, ["amount"])

    anna.go(f"/inbox/{ask.id}")
    anna.verdict("approve", **{"/memo": "sorry", "harmful": "yes", "hold": "0"})

    assert [row.marks for row in desk.trust] == ["+"]


def test_what_was_answered_stays_when_something_stands_in_the_way(desk: Desk, anna: Tab) -> None:
    ask = paying(desk, ["amount"])
    anna.go(f"/inbox/{ask.id}")

    anna.verdict("approve", **{"/amount": "many", "harmful": "yes"})

    (kept,) = (one for one in anna.page.all("input", name="harmful") if "checked" in one.attrs)
    assert kept.attrs["value"] == "yes"


def test_what_ran_alone_says_under_which_grant(desk: Desk, anna: Tab) -> None:
    book = granted(desk, by="anna")
    ask = call(desk)
    assert ask.decision is not None

    line = anna.go(f"/inbox/{ask.id}").page.one("p", class_="key-line")

    assert f"Ran alone under the grant {book.id}" in line.text
    assert line.one("a").attrs["href"] == f"/trust/{book.id}"


def carried(desk: Desk) -> Ask:
    ask = call(desk)
    return desk.finish(desk.begin(ask), "paid")


def test_harm_that_shows_later_is_reported_and_ends_the_grant(desk: Desk, anna: Tab) -> None:
    book = granted(desk, by="anna")
    ask = carried(desk)
    anna.go(f"/inbox/{ask.id}")

    anna.press(form=f"harm-{ask.id}", harm="It paid a stranger", request="first")

    assert "anna reported harm: It paid a stranger" in anna.page.one(
        "section", class_="outcome"
    ).text.replace(" :", ":")
    assert not anna.page.all("form", id=f"harm-{ask.id}")
    assert not desk.trust.alone(book.id)
    harm = desk.get(ask.id).harm
    assert harm is not None
    assert (harm.what, harm.by.id) == ("It paid a stranger", "anna")


def test_harm_is_said_in_words_and_once(server: Served, desk: Desk, anna: Tab) -> None:
    granted(desk, by="anna")
    ask = carried(desk)
    ada = tab(server, "ada").go(f"/inbox/{ask.id}")
    anna.go(f"/inbox/{ask.id}").press(form=f"harm-{ask.id}", harm="  ")
    assert anna.status == 422
    assert "what harm was done, in words" in anna.summary

    anna.press(form=f"harm-{ask.id}", harm="It paid a stranger")
    ada.press(form=f"harm-{ask.id}", harm="It paid a stranger")

    assert ada.status == 409
    assert "anna" in ada.summary


def test_what_was_never_carried_out_has_no_harm_to_report(desk: Desk, anna: Tab) -> None:
    ask = desk.reject(call(desk), by="anna")

    assert not anna.go(f"/inbox/{ask.id}").page.all("form", id=f"harm-{ask.id}")


@pytest.mark.parametrize(
    ("tool", "shape", "keys"), [("wire", "high", ["r"]), ("refund", "medium", ["a", "r"])]
)
def test_a_grant_is_asked_like_what_it_lets_through_e63(
    desk: Desk, anna: Tab, tool: str, shape: str, keys: list[str]
) -> None:
    """E63: a grant showed "Risk not stated", took one key, and its exposure stood below the fold."""
    book = proposed(desk, tool, by="anna")
    page = anna.go(f"/inbox/{book.grant_ask}").page

    article = page.one("article")
    assert article.attrs["data-shape"] == shape
    assert f"{shape.capitalize()} risk" in article.one("ul", class_="pills").text
    assert [one.attrs["data-key"] for one in anna.buttons] == keys
    assert article.attrs["data-waits"] == "2"
    words = article.text
    assert "bad calls at most, in expectation" in words
    assert words.index("Exposure") < words.index("The record says")
    assert not page.one("li", class_="row", data_ask=str(book.grant_ask)).all(
        "input", class_="pick"
    )


@pytest.mark.parametrize("tool", ["note", "wire"])
def test_a_grant_is_not_let_through_together_with_others_e63(
    desk: Desk, anna: Tab, tool: str
) -> None:
    book = proposed(desk, tool, by="anna")
    ask = desk.get(str(book.grant_ask))
    fields = encoded([("pick", f"{ask.id} {ask.digest}"), ("verdict", "approve"), ("sure", "1")])

    anna.client.post("/inbox/bulk", content=fields, headers=FORM)

    assert desk.get(ask.id).open
