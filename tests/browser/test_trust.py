"""Earned autonomy in a browser: a key earns its grant, runs alone, is caught, and loses it again."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from playwright.sync_api import ViewportSize, expect

from sayso import Ask, Desk
from sayso.autonomy.book import Book
from sayso.testing import FakeClock
from tests.browser.office import Office
from tests.browser.window import DESKTOP, PHONE, Window
from tests.keyed import call, earning, law, proposed
from tests.web.house import House, serving


@pytest.fixture(scope="module")
def team_house(
    tmp_path_factory: pytest.TempPathFactory, clock: FakeClock, team_port: socket.socket
) -> Iterator[House]:
    """A desk with people and a policy under which calls are earned; nothing is picked by chance."""
    file = tmp_path_factory.mktemp("trust") / "desk.db"
    url = f"sqlite:///{file}"
    with Desk(url, clock=clock, account="sam@till", policy=law()) as desk:
        desk.law.coin = lambda: 0.999
        desk.people.add("root", roles=["admin"])
        with serving(desk, team_port) as house:
            house.person("anna", "senior")
            house.person("ada", "senior")
            yield house


@pytest.fixture
def quiet(team: Office) -> Iterator[Office]:
    """Chance picks nothing, unless a test says so."""
    team.desk.law.coin = lambda: 0.999
    yield team
    team.desk.law.coin = lambda: 0.999


def press(here: Window, team: Office, ask: Ask | str, button: str) -> None:
    """Press a button of an ask, and let what was said count."""
    here.visit(team.path(ask)).armed()
    here("main#detail .bar").get_by_role("button", name=button).click()
    expect(here("#toast .toast-body")).to_be_attached()
    team.later()


def row(here: Window, book: Book) -> str:
    here.visit(f"/trust?agent={book.key.agent}")
    group = here("section.panel").filter(has=here(f"#line-{book.id}"))
    return group.locator("h2").inner_text()


def test_a_key_earns_its_grant_runs_alone_is_caught_and_loses_it(quiet: Office) -> None:
    team, desk = quiet, quiet.desk
    book = earning(desk, "wire", by="anna", agent=team.agent)
    anna, ada = team.window("anna"), team.window("ada")
    assert row(anna, book) == "Earning"

    # The last call that was missing is approved as all others were.
    last = call(desk, "wire", agent=team.agent)
    anna.visit(team.path(last))
    expect(anna("p.key-line")).to_contain_text("1 more before it may run alone")
    press(anna, team, last, "Approve")
    assert row(anna, book) == "Wants somebody"

    # What is of high risk is let by two.
    grant = desk.trust.key(book.id).grant_ask
    assert grant is not None
    anna(f"#line-{book.id} a.btn").click()
    expect(anna("main#detail h1")).to_contain_text(f"Let {team.agent} run wire alone?")
    press(anna, team, grant, "Let it run alone")
    assert not desk.trust.alone(book.id)
    press(ada, team, grant, "Let it run alone")
    assert row(ada, book) == "Runs alone"
    expect(ada(f"#line-{book.id}")).to_contain_text("0 of 1")

    # Calls run alone now, and say so.
    free = [call(desk, "wire", agent=team.agent) for _ in range(3)]
    assert [one.decision and one.decision.grant for one in free] == [book.id] * 3
    anna.visit(team.path(free[0]))
    expect(anna("p.key-line")).to_contain_text(f"Ran alone under the grant {book.id}")

    # Chance picks one, and whoever looks at it finds it harmful: nothing runs alone from then on.
    desk.law.coin = lambda: 0.0
    caught = call(desk, "wire", agent=team.agent)
    desk.law.coin = lambda: 0.999
    assert caught.open
    anna.visit(team.path(caught)).armed()
    anna(f"#more-{caught.id} > summary").click()
    anna(f"#more-{caught.id}").get_by_label("harmful").check()
    anna(f"#more-{caught.id}").get_by_role("button", name="Reject like this").click()
    expect(anna("#toast .toast-body")).to_be_attached()
    team.later()
    assert row(anna, book) == "Wants somebody"
    assert call(desk, "wire", agent=team.agent).open

    # Somebody else confirms it, and the grant has ended.
    flag = desk.trust.key(book.id).flag_ask
    assert flag is not None
    press(ada, team, flag, "It was harmful")
    ended = desk.trust.key(book.id)
    assert (ended.ledger.standing, ended.ledger.ends) == ("reviewed", 1)
    ada.visit(f"/trust/{book.id}")
    expect(ada("#standing")).to_contain_text("497 of its calls were fine, 1 harmful")
    expect(ada("#standing")).to_contain_text("1.0 of 40")
    expect(ada("#history")).to_contain_text("ended its grant, the 1. time")

    # The journal tells all of it.
    ada.visit(f"/audit?stream={book.id}")
    for words in (
        "ended its grant, the 1. time",
        f"confirmed that {caught.id} was harmful",
        f"found {caught.id} harmful, picked by chance",
        f"let it run alone, in {grant}",
        f"proposed to let it run alone: {grant}",
        f"found {last.id} fine",
    ):
        expect(ada("#events")).to_contain_text(words)


def test_whoever_edits_what_matters_is_asked_once_it_is_changed(quiet: Office) -> None:
    team = quiet

    @team.desk.gate(risk="medium", matters=["amount"])
    def pay(amount: int, memo: str) -> str:
        return f"{memo}: {amount}"

    gate = pay.__sayso_gate__  # type: ignore[attr-defined]
    content = gate.content(team.desk.forms, gate.tool.bind((40, "thanks"), {}))
    ask = team.desk.put(content, declared=True)
    here = team.window("anna").visit(f"/inbox/{ask.id}").armed()
    question = here("fieldset.harm-question")
    expect(question).to_be_hidden()

    here.page.get_by_label("Memo").fill("sorry")
    expect(question).to_be_hidden()
    here.page.get_by_label("Amount").fill("30")
    expect(question).to_be_visible()
    question.get_by_label("yes").check()
    here("main#detail .bar").get_by_role("button", name="Approve with 2 edits").click()
    expect(here("#toast .toast-body")).to_be_attached()
    team.later()

    decision = team.now(ask).decision
    assert decision is not None
    assert decision.harmful is True


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_what_a_grant_may_let_through_is_seen_at_once_and_no_key_accepts_it_e63(
    quiet: Office, size: ViewportSize
) -> None:
    """E63: its exposure stood below the fold, and one key let the agent run alone."""
    team, desk = quiet, quiet.desk
    book = proposed(desk, "wire", by="anna", agent=team.agent)
    here = team.window("ada", size=size).visit(f"/inbox/{book.grant_ask}")

    exposure = here("main#detail").get_by_text("bad calls at most, in expectation")
    expect(exposure).to_be_in_viewport(ratio=1)
    expect(here(".pill.risk-high")).to_be_in_viewport()
    here.page.keyboard.press("a")
    expect(here("#toast")).to_contain_text("not possible here")
    assert desk.get(str(book.grant_ask)).open
