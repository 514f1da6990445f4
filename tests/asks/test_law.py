"""The policy on real asks: who must say yes to what, with real people and votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.asks.lawbook import default_policy
from sayso.asks.spending import begin
from sayso.errors import (
    AskChanged,
    BadPolicy,
    Denied,
    Forbidden,
    NotApproved,
    UnknownRole,
    Unsatisfiable,
)
from sayso.model.call import Call
from sayso.model.content import Risk
from sayso.model.tally import missing
from sayso.policy.reading import read
from sayso.policy.rules import Policy
from sayso.store.contract import Lease
from sayso.testing import FakeClock
from tests.places import Place
from tests.published import under
from tests.test_gate import in_thread, opened

PEOPLE = {
    "jun": ["junior"],
    "anna": ["senior"],
    "ada": ["senior", "security"],
    "sec": ["security"],
    "ben": [],
}
Office = Callable[..., Desk]


def law(text: str = "") -> Policy:
    return read(text, source="law.toml", default=default_policy())


@pytest.fixture
def office(place: Place, clock: FakeClock) -> Iterator[Office]:
    """Desks on one database, each under the policy of its moment."""
    with ExitStack() as open_desks:

        def sit_down(text: str | Path = "") -> Desk:
            desk = Desk(place.url, clock=clock, agent="shop", account="sam@till")
            return open_desks.enter_context(under(desk, text))

        first = sit_down()
        for name, roles in PEOPLE.items():
            first.people.add(name, roles=roles)
        yield sit_down


def still_needed(desk: Desk, ask: Ask) -> list[str]:
    return [str(factor) for factor in missing(desk.get(ask.id), desk.store.roster())]


def kinds(desk: Desk, ask: Ask) -> list[str]:
    return [event.kind for event in desk.history(ask)]


def refund(desk: Desk, amount: Any = 40, **terms: Any) -> Ask:
    return desk.open("refund", {"amount": amount}, **terms)


def approved(desk: Desk, ask: Ask, *people: str) -> Ask:
    for name in people:
        ask = desk.approve(ask, by=name)
    assert ask.decision, still_needed(desk, ask)
    return ask


def carried_out(desk: Desk, ask: Ask) -> str:
    call = desk.begin(ask)
    effect = desk.finish(call, "paid").effect
    assert effect is not None
    return effect.status


# --- the tiers (S2.9) --------------------------------------------------------------------------


def test_low_risk_behind_a_gate_runs_alone_and_the_journal_says_that_the_policy_let_it(
    office: Office,
) -> None:
    desk = office()

    @desk.gate(risk="low")
    def look(order: int) -> str:
        return f"order {order}"

    assert look(7) == "order 7"

    (stream,) = {event.stream for event in desk.events() if event.kind == "ask.opened"}
    ask = desk.get(stream)
    assert kinds(desk, ask) == ["ask.opened", "ask.decided", "effect.intended", "effect.done"]
    assert ask.decision
    assert (ask.decision.by.kind, ask.decision.votes) == ("policy", ())
    assert ask.decision.note == "Calls of low risk run alone."
    assert not list(desk.inbox())
    assert desk.verify()


@pytest.mark.parametrize("rule", ["", '[tools]\npay = "low"'])
def test_a_bare_gate_asks_whatever_the_policy_says(office: Office, rule: str) -> None:
    desk = office(rule)

    @desk.gate
    def pay(amount: int) -> str:
        return f"paid {amount}"

    running = in_thread(lambda: pay(40))
    ask = opened(desk)
    desk.approve(ask, by="ben")

    assert running.result(10) == "paid 40"


# --- who may not -------------------------------------------------------------------------------


LENIENT = """
[tiers.high]
needs = ["1 senior"]
requester = true

[tools]
refund = "high"
"""


def test_a_request_cannot_pick_a_tier_that_lets_its_requester_decide(office: Office) -> None:
    desk = office(LENIENT)
    ask = desk.open("pay", {"amount": 40}, risk="high", requester="anna")

    with pytest.raises(Forbidden, match="asked for it"):
        desk.approve(ask, by="anna")


def test_an_ask_that_only_its_requester_could_decide_is_refused(
    office: Office, place: Place
) -> None:
    desk = office('[tools]\nrefund = "high"')
    desk.people.remove("ada")
    before = place.count()

    with pytest.raises((UnknownRole, Unsatisfiable)):
        refund(desk, requester="anna")

    assert place.count() == before


def test_an_edit_into_a_tier_that_shuts_the_requester_out_shuts_them_out(office: Office) -> None:
    desk = office(
        """
        [tiers.own]
        needs = ["1 senior"]
        requester = true

        [[rules]]
        name = "small"
        tool = "refund"
        when = "args.amount <= 100"
        tier = "own"

        [[rules]]
        name = "large"
        tool = "refund"
        when = "args.amount > 100"
        tier = "critical"
        """
    )
    ask = refund(desk, requester="ada")

    with pytest.raises(Forbidden, match="asked for it"):
        desk.edit(ask, {"amount": 999_999}, by="ada")
    edited = desk.edit(ask, {"amount": 999_999}, by="anna")

    assert edited.open
    with pytest.raises(Forbidden, match="asked for it"):
        desk.approve(edited, by="ada")
    approved(desk, edited, "sec")


def test_leave_to_decide_ones_own_request_ends_with_the_policy_that_gave_it(
    office: Office,
) -> None:
    lenient, silent = office(LENIENT.replace("1 senior", "1 reviewer")), office("")
    decided = approved(lenient, refund(lenient, requester="anna"), "anna")
    undecided = refund(lenient, 50, requester="anna")

    with pytest.raises(NotApproved, match="wants more by now"):
        silent.begin(decided)
    with pytest.raises(AskChanged):
        silent.approve(undecided, by="anna")


# --- edits go through the policy again (E12, E13) ----------------------------------------------

BY_AMOUNT = """
[tiers.pair]
needs = ["2 reviewer"]

[[rules]]
name = "any refund"
tool = "refund"
tier = "pair"

[[rules]]
name = "large refunds"
tool = "refund"
when = "args.amount > 100"
tier = "critical"
why = "More than 100."

[[rules]]
name = "absurd refunds"
tool = "refund"
when = "args.amount > 1000000"
effect = "deny"
why = "Nobody refunds a million."
"""


def test_an_edit_never_decides_alone_what_the_editor_could_not_approve(office: Office) -> None:
    desk = office(BY_AMOUNT.replace("2 reviewer", "1 junior"))
    ask = refund(desk, 10)

    edited = desk.edit(ask, {"amount": 999_999}, by="jun")

    assert edited.open
    with pytest.raises(NotApproved):
        desk.begin(edited)


def test_an_edit_into_what_is_denied_is_refused_and_nothing_changes(
    office: Office, place: Place
) -> None:
    desk = office(BY_AMOUNT)
    ask = refund(desk, 10)
    before = place.count()

    with pytest.raises(Denied, match="Nobody refunds a million"):
        desk.edit(ask, {"amount": 2_000_000}, by="jun")

    assert place.count() == before
    assert desk.get(ask.id).version == 1


def test_an_edit_that_nobody_could_then_decide_is_refused_and_nothing_changes(
    office: Office, place: Place
) -> None:
    desk = office(BY_AMOUNT)
    ask = refund(desk, 10)
    for name in ("ada", "sec"):
        desk.people.remove(name)
    before = place.count()

    with pytest.raises(UnknownRole):
        desk.edit(ask, {"amount": 500}, by="jun")

    assert place.count() == before
    approved(desk, ask, "jun", "ben")


# --- a policy that changes meanwhile (E17) -----------------------------------------------------

STRICT = '[tools]\nrefund = "critical"'
DENIES = '[[rules]]\nname = "frozen"\ntool = "refund"\neffect = "deny"\nwhy = "Refunds stopped."'


def test_a_policy_that_became_stricter_opens_a_new_version_for_the_people_it_wants(
    office: Office,
) -> None:
    then, now = office(), office(STRICT)
    ask = refund(then, needs=["2 reviewer"])
    then.approve(ask, by="ben")

    with pytest.raises(AskChanged) as changed:
        now.approve(ask, by="jun")

    raised = changed.value.ask
    assert isinstance(raised, Ask)
    assert (raised.version, raised.votes, raised.open) == (2, (), True)
    assert kinds(now, ask) == ["ask.opened", "ask.voted", "ask.raised"]
    with pytest.raises(Forbidden):
        now.approve(raised, by="ben")
    assert now.approve(raised, by="anna").open
    approved(now, raised, "sec")
    assert kinds(now, ask).count("ask.raised") == 1, "the new version is asked for once"
    assert carried_out(now, raised) == "done"
    assert now.verify()


def test_a_refusal_needs_no_new_version(office: Office) -> None:
    then, now = office(), office(STRICT)
    ask = refund(then)

    assert not now.reject(ask, by="ben").open
    assert kinds(now, ask) == ["ask.opened", "ask.decided"]


def test_a_policy_that_became_milder_spares_nobody(office: Office) -> None:
    then, now = office(STRICT), office('[tools]\nrefund = "low"')
    ask = refund(then)

    with pytest.raises(Forbidden):
        now.approve(ask, by="ben")
    assert now.approve(ask, by="anna").open
    approved(now, ask, "sec")


def test_an_approval_that_is_not_enough_any_more_is_not_carried_out(office: Office) -> None:
    then, now = office(), office(STRICT)
    ask = approved(then, refund(then), "ben")

    with pytest.raises(NotApproved, match=r"wants more by now.*Ask again"):
        now.begin(ask)

    assert now.get(ask.id).effect is None


def test_what_the_policy_let_through_is_not_carried_out_once_it_asks(
    office: Office, clock: FakeClock
) -> None:
    then, now = (
        office('[tools.look]\nargs = { order = "integer" }\n'),
        office('[tools]\nlook = "high"'),
    )
    content = then.forms.action("look", {"order": 7}, risk="low")
    ask = then.put(content, declared=True)
    assert ask.decision

    with pytest.raises(NotApproved, match="wants more by now"):
        now.begin(ask)
    assert carried_out(then, ask) == "done"


def test_what_only_a_rule_let_run_is_not_carried_out_once_the_rule_is_gone(
    office: Office,
) -> None:
    then, now = office('[tools]\nlook = "low"'), office()
    ask = then.open("look", {"order": 7})

    with pytest.raises(NotApproved, match="wants more by now"):
        now.begin(ask)
    assert carried_out(then, ask) == "done"


def test_what_is_denied_by_now_is_neither_approved_nor_carried_out(
    office: Office, place: Place
) -> None:
    then = office()
    decided, waiting = approved(then, refund(then), "ben"), refund(then)
    now = office(DENIES)
    before = place.count()

    with pytest.raises(Denied, match=r"Refunds stopped.*frozen"):
        now.approve(waiting, by="anna")
    with pytest.raises(NotApproved, match="Refunds stopped"):
        now.begin(decided)

    assert place.count() == before
    assert not now.reject(waiting, by="anna").open, "a no is always possible"


def test_a_rule_that_lets_the_requester_decide_no_longer_holds_for_what_waits(
    office: Office,
) -> None:
    then, now = office(LENIENT), office(LENIENT.replace("true", "false"))
    ask = refund(then, requester="anna")

    with pytest.raises((AskChanged, Forbidden)):
        now.approve(ask, by="anna")
    with pytest.raises(Forbidden, match="asked for it"):
        now.approve(now.get(ask.id), by="anna")

    approved(now, now.get(ask.id), "ada")


# --- time --------------------------------------------------------------------------------------

SOON = '[tiers.high]\nneeds = ["1 senior"]\nexecute_within = "1h"'


def test_an_approval_that_is_too_old_is_not_carried_out(office: Office, clock: FakeClock) -> None:
    desk = office(SOON)
    ask = refund(desk, risk="high")
    clock.advance("3h")
    ask = approved(desk, ask, "anna")

    clock.advance(3600.001)

    with pytest.raises(NotApproved, match=r"was good until 2026-01-01 13:00:00.*Ask again"):
        desk.begin(ask)
    assert desk.get(ask.id).effect is None


def test_an_approval_is_no_better_than_the_policy_of_now_lets_it_be(
    office: Office, clock: FakeClock
) -> None:
    then, now = office(), office(SOON)
    ask = approved(then, refund(then, risk="high"), "anna")
    clock.advance("2h")

    with pytest.raises(NotApproved, match="was good until"):
        now.begin(ask)


def test_an_approval_given_for_an_hour_is_not_good_for_longer_elsewhere(
    office: Office, clock: FakeClock
) -> None:
    then, now = office(), office(SOON)
    ask = refund(then, risk="high")
    with pytest.raises(AskChanged):
        now.approve(ask, by="anna")
    approved(now, now.get(ask.id), "anna")
    clock.advance("2h")

    with pytest.raises(NotApproved, match="was good until"):
        then.begin(ask)


def test_a_tier_that_an_edit_leads_to_does_not_make_an_approval_last_longer(
    office: Office, clock: FakeClock
) -> None:
    desk = office(
        """
        [tiers.brief]
        needs = ["1 reviewer"]
        execute_within = "1m"

        [tiers.long]
        needs = ["1 senior"]
        execute_within = "1d"

        [[rules]]
        name = "small"
        tool = "refund"
        when = "args.amount <= 100"
        tier = "brief"

        [[rules]]
        name = "large"
        tool = "refund"
        when = "args.amount > 100"
        tier = "long"
        """
    )
    ask = approved(desk, desk.edit(refund(desk), {"amount": 500}, by="ben"), "anna")

    clock.advance("2m")

    with pytest.raises(NotApproved, match="was good until"):
        desk.begin(ask)


# --- what a request says of itself (E23) -------------------------------------------------------


def test_a_request_that_calls_itself_harmless_still_asks(office: Office) -> None:
    desk = office()

    ask = refund(desk, risk="low")

    assert ask.open
    with pytest.raises(NotApproved):
        desk.begin(ask)


def test_a_request_cannot_ask_for_fewer_than_the_policy_wants(office: Office) -> None:
    desk = office(STRICT)

    ask = refund(desk, risk="low", needs=["1 reviewer"], confidence=1.0)

    with pytest.raises(Forbidden):
        desk.approve(ask, by="ben")
    assert desk.approve(ask, by="anna").open


def test_a_request_can_ask_for_more_than_the_policy_wants(office: Office) -> None:
    desk = office()

    ask = refund(desk, risk="high", needs=["1 security"])

    assert desk.approve(ask, by="anna").open
    approved(desk, ask, "sec")


def test_what_the_policy_itself_calls_harmless_needs_nobody(office: Office) -> None:
    desk = office('[tools]\nlook = "low"')

    ask = desk.open("look", {"order": 7})

    assert ask.decision
    assert (ask.decision.by.kind, ask.decision.by.id) == ("policy", "tools.look")
    assert carried_out(desk, ask) == "done"
    assert refund(desk, risk="low").open, "the rule names another tool"


def test_a_program_that_asks_for_people_gets_people(office: Office) -> None:
    desk = office('[tools]\nlook = "low"')

    ask = desk.open("look", {"order": 7}, needs=["1 senior"])

    assert ask.open
    approved(desk, ask, "anna")


@pytest.mark.parametrize(
    ("law_text", "needs", "wanted", "may_refuse"),
    [
        ("", ["1 ben"], "1 ben", ["jun", "anna", "ada", "sec", "ben"]),
        (STRICT, ["1 ben"], "1 senior and 1 security and 1 ben", ["anna", "ada", "sec", "ben"]),
        (STRICT, ["1 senior"], "1 senior and 1 security", ["anna", "ada", "sec"]),
        ('[tools]\nrefund = "high"', ["1 sec"], "1 senior and 1 sec", ["anna", "ada", "sec"]),
    ],
)
def test_a_request_only_adds_and_all_whom_the_policy_asks_may_say_no_e43(
    office: Office, law_text: str, needs: list[str], wanted: str, may_refuse: list[str]
) -> None:
    desk = office(law_text)
    assert set(str(refund(desk, needs=needs).needs).split(" and ")) == set(wanted.split(" and "))

    for amount, name in enumerate(PEOPLE):
        ask = refund(desk, amount, needs=needs)
        if name in may_refuse:
            assert desk.reject(ask, by=name).decision is not None
            continue
        with pytest.raises(Forbidden):
            desk.reject(ask, by=name)
        assert desk.get(ask.id).open


def test_whoever_may_only_refuse_says_neither_yes_nor_anything_else_e43(office: Office) -> None:
    desk = office()
    ask = refund(desk, needs=["1 ben"], requester="anna")
    own = refund(desk, 41, requester="anna")

    for about, name in ((ask, "anna"), (ask, "sec"), (own, "anna")):
        for say in (
            lambda ask, by: desk.approve(ask, by=by),
            lambda ask, by: desk.edit(ask, {"amount": 1}, by=by),
            lambda ask, by: desk.respond(ask, "Do it otherwise", by=by),
        ):
            with pytest.raises(Forbidden):
                say(about, name)
    assert desk.reject(ask, by="anna").decision is not None


def test_a_policy_that_became_stricter_says_anew_who_may_refuse_e43(office: Office) -> None:
    ask = refund(office(), needs=["1 ben"])
    strict = office(STRICT)
    with pytest.raises(AskChanged):
        strict.approve(ask, by="ben")
    ask = strict.get(ask.id)

    with pytest.raises(Forbidden):
        strict.reject(ask, by="jun")
    assert strict.reject(ask, by="anna").decision is not None


def test_a_risk_that_is_stated_when_it_begins_takes_nothing_away_e41(office: Office) -> None:
    desk = office()
    ask = approved(desk, refund(desk, risk="high"), "anna")
    denying = office('[[rules]]\nname = "no"\nwhen = "risk == \'high\'"\neffect = "deny"\n')

    for risk in ("low", "medium", "high", None):
        with pytest.raises(NotApproved, match="the policy denies it by now"):
            begun(denying, ask, risk)


def test_a_risk_that_is_stated_when_it_begins_adds_e41(office: Office) -> None:
    desk = office()
    ask = approved(desk, refund(desk, risk="medium"), "jun")

    with pytest.raises(NotApproved, match="Calls of high risk need 1 senior"):
        begun(desk, ask, "high")
    assert begun(desk, ask, "low").args == {"amount": 40}


def begun(desk: Desk, ask: Ask, risk: Risk | None) -> Call:
    """Begin a call with a risk of its own, as a program behind HTTP can."""
    lease = Lease("me", timedelta(seconds=60))
    return begin(desk.store, ask.id, origin=desk.origin, lease=lease, law=desk.law, risk=risk)


# --- rules that say no, or cannot tell ---------------------------------------------------------


def test_what_is_denied_is_not_even_asked_and_says_why(office: Office, place: Place) -> None:
    desk = office(DENIES)
    before = place.count()

    with pytest.raises(Denied) as refused:
        refund(desk)

    assert str(refused.value) == "The policy denies refund: Refunds stopped. (rule frozen)"
    assert (refused.value.sentence, refused.value.rules) == ("Refunds stopped.", ("frozen",))
    assert place.count() == before


def test_a_denied_gate_runs_nothing(office: Office, place: Place) -> None:
    desk = office(DENIES)
    ran: list[int] = []

    @desk.gate(name="refund")
    def pay_back(amount: int) -> None:
        ran.append(amount)

    with pytest.raises(Denied, match="Refunds stopped"):
        pay_back(40)

    assert ran == []


@pytest.mark.parametrize("amount", ["40", None, [40], {"eur": 40}])
def test_a_condition_that_cannot_be_checked_asks_whom_its_rule_would_have_asked(
    office: Office, amount: Any
) -> None:
    desk = office(
        '[tools]\nrefund = "low"\n'
        '[[rules]]\nname = "large"\ntool = "refund"\nwhen = "args.amount > 100"\ntier = "high"'
    )
    assert not refund(desk, 40).open

    ask = refund(desk, amount)

    assert ask.open
    assert "The rule 'large' could not be checked" in ask.content.sentence
    with pytest.raises(Forbidden):
        desk.approve(ask, by="jun")
    approved(desk, ask, "anna")


# --- people of the file ------------------------------------------------------------------------


def test_groups_and_roles_of_the_file_count_as_roles(office: Office, tmp_path: Path) -> None:
    file = tmp_path / "law.toml"
    file.write_text(
        """
        [groups]
        finance = ["ben", "sec"]

        [roles]
        jun = ["senior"]

        [tiers.money]
        needs = ["1 finance", "1 senior"]

        [tools]
        refund = "money"
        """
    )
    desk = office(file)
    ask = refund(desk)

    assert desk.approve(ask, by="ben").open
    approved(desk, ask, "jun")
    with pytest.raises(UnknownRole):
        office().open("refund", {}, needs=["1 finance"])


def test_a_senior_by_the_file_counts_as_a_junior(office: Office) -> None:
    desk = office('[roles]\nben = ["senior"]')

    approved(desk, refund(desk, risk="medium"), "ben")


def test_what_nobody_can_decide_any_more_is_refused_when_it_opens(
    office: Office, place: Place
) -> None:
    desk = office('[tiers.trio]\nneeds = ["3 senior"]\n[tools]\nrefund = "trio"\nwipe = "legal"\n'
                  '[tiers.legal]\nneeds = ["1 lawyer"]')  # fmt: skip
    desk.people.add("law", roles=["lawyer", "senior"])
    assert "legal" in desk.policy.tiers
    desk.people.remove("law")
    before = place.count()

    with pytest.raises(Unsatisfiable, match="can never be met"):
        refund(desk)
    with pytest.raises(UnknownRole, match="lawyer"):
        desk.open("wipe", {})

    assert place.count() == before


def test_an_edit_into_a_higher_risk_does_not_run_on_a_lower_yes(office: Office) -> None:
    """E13: the risk is a function of the arguments, which whoever edits cannot ask."""
    desk = office()
    ran: list[int] = []

    @desk.gate(risk=lambda amount: "high" if amount > 100 else "medium")
    def refund(amount: int) -> None:
        ran.append(amount)

    running = in_thread(lambda: refund(10))
    ask = opened(desk)
    desk.edit(ask, {"amount": 999_999}, by="jun")

    with pytest.raises(NotApproved, match="Calls of high risk need 1 senior"):
        running.result(30)
    assert ran == []


def test_what_a_tier_says_of_refusals_holds_behind_a_bare_gate_too(office: Office) -> None:
    desk = office('[tiers.own]\nneeds = ["1 senior"]\ndeny = 2\n[tools]\nrefund = "own"\n')

    @desk.gate
    def refund(amount: int) -> str:
        return "paid"

    running = in_thread(lambda: refund(10))
    ask = opened(desk)
    desk.reject(ask, "no", by="anna")
    assert desk.get(ask.id).open
    desk.reject(ask, "no", by="ada")
    with pytest.raises(Exception, match="rejected"):
        running.result(30)


# --- what a request cannot do ------------------------------------------------------------------


def test_a_request_makes_saying_no_no_harder(office: Office) -> None:
    """E23: where the policy speaks, its number of refusals is enough."""
    desk = office()
    ask = refund(desk, risk="high", deny=2)

    assert desk.reject(ask, by="anna").status == "decided"


def test_people_who_are_asked_for_in_so_many_words_are_asked(office: Office) -> None:
    desk = office('[tools]\nrefund = "low"')

    assert not refund(desk, 1).open
    assert refund(desk, 2, needs=["1 reviewer"]).open


@pytest.mark.parametrize("written", ["anna", "Anna", "ANNA"])
def test_whoever_asked_does_not_decide_however_the_name_is_written(
    office: Office, written: str
) -> None:
    desk = office()

    with pytest.raises(Forbidden, match="asked for it"):
        desk.approve(refund(desk, risk="high", requester=written), by="anna")


def test_an_edit_of_a_draft_passes_the_policy_like_a_new_one(office: Office) -> None:
    desk = office(
        """[[rules]]
name = "promises"
when = "kind == 'draft' && args.text.contains('refund')"
effect = "ask"
needs = ["1 senior", "1 security"]
"""
    )
    draft = desk.later.draft("Hello")

    edited = desk.edit(draft.ask, "We refund all", by="anna")

    assert edited.open
    assert still_needed(desk, edited) == ["1 security"]


def test_an_edit_of_a_plan_may_be_denied(office: Office) -> None:
    desk = office(
        """[[rules]]
name = "short plans"
when = "kind == 'plan' && size(args.steps) > 2"
effect = "deny"
"""
    )
    plan = desk.later.plan(["one", "two"])

    with pytest.raises(Denied):
        desk.edit(plan.ask, ["one", "two", "three"], by="anna")

    assert desk.get(plan.id).args == {"steps": ["one", "two"]}


def test_the_desk_can_be_read_and_refused_at_although_its_policy_no_longer_fits_the_people(
    office: Office,
) -> None:
    both = '[[rules]]\nname = "all"\neffect = "ask"\nneeds = ["2 security"]\n'
    ask = refund(office(both))
    office().people.remove("sec", by="anna")
    late = office(both)

    assert [one.id for one in late.inbox()] == [ask.id]
    assert late.approve(late.get(ask.id), by="ada").open, "nobody can be the second one"
    assert late.reject(late.get(ask.id), by="ada").status == "decided"


LAWYERS = """
[tools]
refund = "high"
sign = "legal"

[tiers.legal]
needs = ["1 lawyer"]
"""


def test_when_somebody_leaves_only_what_needs_them_stops_e59(
    office: Office, place: Place, clock: FakeClock
) -> None:
    at_work = office(LAWYERS)
    at_work.people.add("law", roles=["lawyer"])
    asked, signed = refund(at_work), at_work.open("sign", {"page": 1})
    assert any("tier legal" in one for one in at_work.people.stops("law"))
    assert at_work.people.stops("ben") == ()
    assert "1 open ask could then be decided by nobody." in at_work.people.stops("law")

    at_work.people.remove("law")

    late = Desk(place.url, clock=clock, agent="shop", account="sam@till")
    for number, desk in enumerate((at_work, late)):
        assert carried_out(desk, approved(desk, refund(desk, number), "anna")) == "done"
        with pytest.raises(UnknownRole, match="lawyer"):
            desk.open("sign", {"page": 2})
        assert "tier legal" in (desk.law.unmet or "")
    assert late.approve(asked, by="anna").decision
    with pytest.raises(Forbidden):
        late.approve(signed, by="anna")

    late.people.add("law", roles=["lawyer"])
    assert late.law.unmet is None
    assert late.approve(signed, by="law").decision
    late.close()


def test_who_leaves_is_not_blamed_for_what_stood_still_before_e59(office: Office) -> None:
    """Removing a clerk asked whether nobody should be security any more: nobody was before."""
    desk = office('[groups]\nclerks = ["ben", "jun"]\n[roles]\nben = ["clerk"]')
    for name in ("sec", "ada"):
        desk.people.remove(name)

    assert desk.people.stops("ben") == ()
    assert [one.split(":")[0] for one in desk.people.stops("anna")] == ["The policy, tier high"]
    desk.people.remove("ben")
    assert [one.split(":")[0] for one in desk.people.stops("jun")] == ["The policy, group clerks"]


def test_the_agents_of_who_leaves_are_said_to_stop_e59(office: Office) -> None:
    desk = office()
    desk.tokens.make("till", "agent", owner="ben")
    desk.tokens.make("bank", "agent", owner="ben")

    assert desk.people.stops("ben") == ("The tokens of their agents end too: bank, till.",)


def test_whom_nobody_on_the_desk_is_a_policy_cannot_ask_for_e59(office: Office) -> None:
    """E21: that is said to whoever puts it in force, and not to whoever asks."""
    desk = office()

    with pytest.raises(BadPolicy, match="Nobody holds the role 'lawyer'"):
        desk.policies.publish(LAWYERS)
    assert refund(desk).open


def test_a_rule_about_a_name_that_no_tool_can_have_is_refused(office: Office) -> None:
    with pytest.raises(BadPolicy, match="LEFT SQUARE BRACKET"):
        office('[tools]\n"pay[1]" = "critical"')
