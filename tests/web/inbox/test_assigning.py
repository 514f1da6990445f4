"""An ask is given to somebody on its page: a list of who could decide it, and a line in the journal."""

from __future__ import annotations

from sayso import Ask
from tests.served import Served
from tests.web.inbox.browser import Tab, tab


def offered(page: Tab) -> list[str]:
    lists = page.page.all("select", name="to")
    return [one.attrs["value"] for found in lists for one in found.all("option")]


def opened(server: Served, **terms: object) -> Ask:
    given = {"team": "billing", "risk": "high", **terms}
    return server.desk.open("refund", {"order": server.desk.store.tip()}, **given)  # type: ignore[arg-type]


def test_whoever_could_decide_it_is_offered_and_nobody_else(server: Served) -> None:
    ask = opened(server)
    page = tab(server, "anna").go(f"/inbox/{ask.id}")

    assert offered(page) == ["ada", "anna"], "ben is of another team, root is no senior"
    own = opened(server, owner="ada")
    assert offered(page.go(f"/inbox/{own.id}")) == ["anna"], "nobody decides for their own agent"


def test_an_ask_is_given_to_somebody_and_back_to_everybody(server: Served) -> None:
    ask = opened(server)
    page = tab(server, "anna").go(f"/inbox/{ask.id}")
    page.press(form=f"assign-{ask.id}", to="ada")

    assert page.status == 303
    event = server.desk.store.stream(ask.id)[-1]
    assert (event.kind, event.actor.id) == ("ask.assigned", "anna")
    assert event.payload is not None
    assert event.payload["to"] == "ada"
    assert "ada is on it" in page.page.one("article").text
    assert offered(page) == ["", "anna"]
    page.press(form=f"assign-{ask.id}", to="")
    assert server.desk.get(ask.id).assignee is None


def test_somebody_who_could_not_decide_it_can_give_it_to_somebody_who_could(
    server: Served,
) -> None:
    ask = opened(server)
    page = tab(server, "root").go(f"/inbox/{ask.id}")
    assert all("disabled" in one.attrs for one in page.buttons)
    page.press(form=f"assign-{ask.id}", to="ada")

    assert server.desk.get(ask.id).assignee == "ada"


def test_nobody_of_another_team_and_nobody_at_all_sound_alike(server: Served) -> None:
    ask = opened(server)
    for name in ("ben", "nobody"):
        page = tab(server, "anna").go(f"/inbox/{ask.id}")
        page.press(form=f"assign-{ask.id}", to=name)
        assert page.status == 422
        assert f"{name} is nobody who could look into it." in page.summary
    assert server.desk.get(ask.id).assignee is None


def test_a_closed_ask_is_given_to_nobody(server: Served) -> None:
    ask = opened(server)
    page = tab(server, "anna").go(f"/inbox/{ask.id}")
    server.desk.reject(ask, by="ada")
    page.press(form=f"assign-{ask.id}", to="ada")

    assert page.status == 409
    assert page.page.all("select", name="to") == []
