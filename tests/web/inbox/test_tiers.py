"""The tier in force on the card, in the list, in metrics and on the overview, by its own name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Ask, Desk
from sayso.asks.lawbook import default_policy
from sayso.channels.card import risk_of
from sayso.model.ruled import level_of
from sayso.policy.reading import read
from tests.places import Place
from tests.served import Served
from tests.web.inbox.browser import Tab, tab

LAW = """
[tiers.payout]
needs = ["1 senior"]

[tiers.payroll]
needs = ["1 senior"]

[tools]
pay = "payout"
salaries = "payroll"
wipe = "critical"
tidy = "medium"
"""


@pytest.fixture
def server(place: Place) -> Iterator[Served]:
    policy = read(LAW, source="law.toml", default=default_policy())
    with Desk(place.url, agent="shop", policy=policy) as desk:
        desk.people.add("anna", roles=["senior", "security"])
        desk.people.add("ben")
        desk.people.add("root", roles=["admin", "security"])
        with Served(desk) as served:
            yield served


@pytest.fixture
def asks(desk: Desk) -> dict[str, Ask]:
    """Asks of five tiers, the least grave first."""
    small = desk.open("tidy", {"amount": 50})
    high = desk.open("refund", {"amount": 50}, risk="high")
    pay = desk.open("pay", {"amount": 5000})
    salaries = desk.open("salaries", {"amount": 5})
    return {"medium": small, "high": high, "payout": pay, "payroll": salaries} | {
        "critical": desk.open("wipe", {"what": "all"})
    }


def test_e58_tiers_of_ones_own_are_listed_between_the_words(
    anna: Tab, desk: Desk, asks: dict[str, Ask]
) -> None:
    expected = ["critical", "payroll", "payout", "high", "medium"]

    assert [ask.id for ask in desk.inbox()] == [asks[name].id for name in expected]
    assert anna.go("/inbox").rows == [asks[name].id for name in expected]
    assert [ask.id for ask in desk.inbox(least="high")] == [asks[name].id for name in expected[:4]]
    assert desk.verify()


def test_e58_each_page_of_the_list_goes_on_behind_the_one_before(
    desk: Desk, asks: dict[str, Ask]
) -> None:
    seen, page = [], desk.inbox(limit=1)
    while page:
        seen += [ask.id for ask in page]
        if page.cursor is None:
            break
        page = desk.inbox(limit=1, after=page.cursor)

    assert seen == [ask.id for ask in desk.inbox()]
    assert len(seen) == len(asks)


def test_e58_a_tier_of_ones_own_has_its_name_and_the_colour_of_its_place(
    anna: Tab, asks: dict[str, Ask]
) -> None:
    row = anna.go("/inbox").page.one("li", data_ask=asks["payout"].id)
    assert row.attrs["data-shape"] == "high"
    assert row.one("span", class_="row-tier").text == "payout"
    assert row.one("span", class_="row-risk").one("svg").attrs["aria-label"] == "Tier payout"

    anna.go(f"/inbox/{asks['payout'].id}")
    assert anna.page.one("ul", class_="pills").all("li")[0].text == "Tier payout"
    assert risk_of(asks["payout"]) == ("▲", "payout", "red")


def test_e58_metrics_and_insights_count_a_tier_by_its_name(
    server: Served, anna: Tab, desk: Desk, asks: dict[str, Ask]
) -> None:
    text = server.agent("prometheus", scopes=["metrics:read"]).get("/metrics").text
    assert 'sayso_asks_open{kind="action",tier="payout"} 1' in text
    assert 'sayso_asks_open{kind="action",tier="high"} 1' in text

    for ask in asks.values():
        desk.reject(ask, by="anna")
    tiers = anna.go("/insights").page.one("section", id="tiers")
    names = [row.all("th")[0].text for row in tiers.one("tbody").all("tr")]
    assert names == ["critical", "payroll", "payout", "high", "medium"]


def test_e66_the_page_says_the_tier_in_force(anna: Tab, asks: dict[str, Ask]) -> None:
    row = anna.go("/inbox").page.one("li", data_ask=asks["critical"].id)
    assert row.attrs["data-shape"] == "critical"

    anna.go(f"/inbox/{asks['critical'].id}")
    assert "Critical risk" in anna.page.one("ul", class_="pills").text
    assert "how risky" not in anna.page.one("article").one("dl", class_="why").text
    assert risk_of(asks["critical"])[:2] == ("▲▲", "critical")


def test_e66_the_overview_is_not_calm_while_asks_wait(
    server: Served, anna: Tab, asks: dict[str, Ask]
) -> None:
    calm = anna.go("/overview").page.one("section", id="attention")
    assert "Nothing needs you" not in calm.text
    assert "5 asks wait for people" in calm.text
    assert "You can decide 5, 4 of them high risk or above." in calm.text

    ben = tab(server, "ben").go("/overview").page.one("section", id="attention")
    assert "You can decide" not in ben.text, "none of them is for ben"
    assert "Nothing needs you" in ben.text
    assert asks


@pytest.mark.parametrize(
    ("stated", "tier", "rank", "found"),
    [
        (None, None, None, (None, 300, None)),
        ("low", None, None, ("low", 400, "low")),
        (None, "critical", None, ("critical", 100, "critical")),
        ("high", "low", None, ("high", 200, "high")),
        ("low", "payout", 199, ("payout", 199, "high")),
        ("critical", "payout", 199, ("critical", 100, "critical")),
        (None, "small", 399, ("small", 399, "low")),
        (None, "old", None, ("old", 200, "high")),
        (None, "doomsday", 99, ("doomsday", 99, "critical")),
    ],
)
def test_e66_what_was_stated_and_what_the_policy_says_join_to_the_graver(
    stated: str | None,
    tier: str | None,
    rank: int | None,
    found: tuple[str | None, int, str | None],
) -> None:
    assert level_of(stated, tier, rank)[:3] == found
