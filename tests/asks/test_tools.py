"""The tools of a desk: declared by code and by the policy, also after they were called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sayso import Desk
from sayso.asks.lawbook import default_policy
from sayso.asks.opening import open_ask
from sayso.asks.posted import read_post
from sayso.errors import BadValue, Denied, Forbidden, NotApproved, UnknownTool
from sayso.model.ask import Ask
from sayso.model.declaration import COMPUTED
from sayso.policy.reading import read
from sayso.policy.rules import Policy
from tests.places import Place

LOW = '[tools.refund]\ntier = "low"\nargs = { order = "integer", amount = "number" }\n'


def law(text: str) -> Policy:
    return read(text, source="law.toml", default=default_policy())


@pytest.fixture
def desk(place: Place) -> Iterator[Desk]:
    with Desk(place.url, agent="shop", policy=law("")) as found:
        yield found


def under(place: Place, text: str) -> Desk:
    return Desk(place.url, agent="clerk", policy=law(text))


def posted(desk: Desk, tool: str, args: dict[str, Any], **said: Any) -> Ask:
    """Ask for a call as somebody elsewhere does."""
    content = read_post({"tool": tool, "args": args, **said}, desk.forms).content
    return open_ask(desk.store, content, origin=desk.origin, law=desk.law, requested=True)


def refunding(desk: Desk, **given: Any) -> Any:
    @desk.gate(**given)
    def refund(order: int, amount: float) -> str:
        return f"{order}: {amount}"

    return refund


def other(desk: Desk, **given: Any) -> Any:
    @desk.gate(**given)
    def refund(order: int, amount: float, currency: str = "EUR") -> str:
        return f"{order}: {amount} {currency}"

    return refund


def declared(desk: Desk) -> list[str]:
    return [event.stream for event in desk.events() if event.kind == "tool.declared"]


# --- from code ---------------------------------------------------------------------------------


def test_a_gate_declares_its_tool_once_however_often_it_is_called(place: Place, desk: Desk) -> None:
    refund = refunding(desk, risk="low")
    assert declared(desk) == [], "nothing is written before it is ruled on"
    for number in range(3):
        refund(number, 1.0)
    with Desk(place.url, agent="shop", policy=law("")) as again:
        refunding(again, risk="low")(4, 1.0)

    assert declared(desk) == ["law"]
    assert desk.verify()


def test_a_tool_of_a_run_is_declared_too(desk: Desk) -> None:
    import sayso

    @sayso.tool(risk=lambda **_: "low")
    def look(what: str) -> str:
        return what

    @desk.workflow
    def looking(run: Any) -> str:
        return str(run.call(look, what="up"))

    assert desk.run(looking).output == "up"
    known = desk.tools.get("look")
    assert known.joined is not None
    assert (known.joined.arguments, known.joined.risk) == (("what",), COMPUTED)
    assert known.declared[0].source.endswith("look")


def test_a_call_from_elsewhere_goes_by_what_code_declares(place: Place, desk: Desk) -> None:
    refunding(desk, risk="low", reversible=False, affects="customers")
    ask = posted(desk, "refund", {"order": 1, "amount": 2}, risk="low", reversible=True)
    with under(place, "") as elsewhere:
        strange = posted(elsewhere, "refund", {"order": 1, "amount": 2, "cents": 3})
        with pytest.raises(BadValue, match="declared of refund: amount: must be a number") as error:
            posted(elsewhere, "refund", {"order": 1, "amount": "2"})

    assert (ask.content.reversible, ask.content.affects) == (False, "customers")
    assert ask.open
    assert "refund declares no argument cents" in strange.content.sentence
    assert error.value.path == "args.amount"


def test_a_risk_that_only_code_can_tell_is_the_worst_for_a_call_from_elsewhere(
    desk: Desk,
) -> None:
    refund = refunding(desk, risk=lambda amount, **_: "high" if amount > 20 else "low")

    assert refund(1, 2.0) == "1: 2.0"
    assert posted(desk, "refund", {"order": 1, "amount": 2}).content.risk == "critical"


# --- two programs ------------------------------------------------------------------------------


def test_of_two_programs_the_stricter_counts_and_both_are_named(place: Place, desk: Desk) -> None:
    mild, strict = refunding(desk, risk="low"), Desk(place.url, agent="till", policy=law(""))
    assert mild(1, 2.0) == "1: 2.0"
    with strict:
        other(strict, risk="high", reversible=False, on_reject="no")
        strict.law.current(strict.store)
        ask = posted(strict, "refund", {"order": 1, "amount": 2, "currency": "EUR"})
    known = desk.tools.get("refund")

    assert [one.risk for one in known.declared] == ["low", "high"]
    assert known.joined is not None
    assert (known.joined.risk, known.joined.reversible) == ("high", False)
    assert set(known.differs) == {"its arguments", "its risk", "whether it can be undone"}
    assert ask.content.risk == "high"
    assert "refund declares no argument currency" in ask.content.sentence
    said = ask.content.sentence
    assert "Several declare it, and the stricter counts:" in said
    assert said.count("test_tools.py:") == 2
    waiting = desk.put(_content(desk, mild, 3, 4.0), declared=True)
    assert waiting.open, "the mild one asks as well"


def _content(desk: Desk, fn: Any, *args: Any) -> Any:
    gate = fn.__sayso_gate__
    return gate.content(desk.forms, gate.tool.bind(args, {}))


def test_a_program_that_is_gone_is_forgotten_by_an_administrator(place: Place, desk: Desk) -> None:
    refunding(desk, risk="low")(1, 2.0)
    with Desk(place.url, agent="till", policy=law("")) as strict:
        other(strict, risk="high")
        strict.law.current(strict.store)
    desk.people.add("root", roles=["admin"])
    desk.people.add("anna", roles=["senior"])
    gone = next(one.source for one in desk.tools.get("refund").declared if one.risk == "high")

    with pytest.raises(Forbidden, match=r"anna is no administrator of this desk\. Ask one: root"):
        desk.tools.forget("refund", gone, by="anna")
    with pytest.raises(UnknownTool, match=r"Nothing in 'x\.py:refund' declares"):
        desk.tools.forget("refund", "x.py:refund", by="root")
    desk.tools.forget("Refund", gone, "The till was replaced", by="root")

    known = desk.tools.get("refund")
    assert [one.risk for one in known.declared] == ["low"]
    assert [change.said for change in known.changes] == [
        ("forgotten",),
        ("declared",),
        ("declared",),
    ]
    assert desk.verify()


# --- declared after it was called ---------------------------------------------------------------


def test_a_tool_that_was_called_before_it_was_declared_is_listed_first(
    place: Place, desk: Desk
) -> None:
    posted(desk, "zip", {"path": "a", "level": 3})
    posted(desk, "zip", {"path": "b"})
    refunding(desk, risk="low")(1, 2.0)

    first, second = desk.tools
    assert (first.name, first.declared, first.called) == ("zip", (), 2)
    assert (second.name, second.called, second.alone) == ("refund", 1, 1)
    sketched = desk.tools.sketch("zip")
    with under(place, sketched) as after:
        assert posted(after, "zip", {"path": "c"}).content.sentence.count("declares") == 0
        assert next(iter(after.tools)).name == "refund"
    with pytest.raises(UnknownTool):
        desk.tools.sketch("never")
    with pytest.raises(UnknownTool, match="Tools: refund, zip"):
        desk.tools.get("never")


def test_an_open_ask_that_does_not_fit_what_was_declared_since_is_refused_in_words(
    place: Place, desk: Desk
) -> None:
    ask = posted(desk, "refund", {"order": 1, "amount": -5})
    hides = posted(desk, "refund", {"order": 1}, hidden=["amount"])
    strict = LOW.replace('"number"', '{ type = "number", minimum = 0 }')
    with under(place, strict) as after:
        with pytest.raises(
            Denied, match="do not fit what the policy declares of it: amount: must be 0"
        ):
            after.approve(ask)
        with pytest.raises(Denied, match="amount: is no secret"):
            after.approve(hides)
        assert after.reject(ask).decision is not None, "a no is always taken"


def test_an_approved_call_that_no_longer_fits_or_is_declared_no_more_is_not_carried_out(
    place: Place, desk: Desk
) -> None:
    ask = desk.approve(posted(desk, "refund", {"order": 1, "amount": -5}))
    strict = LOW.replace('"number"', '{ type = "number", minimum = 0 }')
    with under(place, strict) as after, pytest.raises(NotApproved, match="denies it by now"):
        after.begin(ask)

    with under(place, LOW) as before:
        ask = posted(before, "refund", {"order": 1, "amount": 2})
    assert ask.decision
    with (
        under(place, '[[rules]]\nname = "all"\ntool = "*"\ntier = "low"\n') as after,
        pytest.raises(NotApproved, match="Nothing on this desk declares the tool refund"),
    ):
        after.begin(ask)

    with under(place, LOW) as before:
        ask = posted(before, "refund", {"order": 1, "amount": 2})
    with (
        under(place, LOW + "reversible = false\n") as after,
        pytest.raises(NotApproved, match="It cannot be undone"),
    ):
        after.begin(ask)


def test_the_same_request_finds_its_ask_though_the_tool_was_declared_since(
    place: Place, desk: Desk
) -> None:
    content = read_post(
        {"tool": "refund", "args": {"order": 1, "amount": 2}, "risk": "low"}, desk.forms
    ).content
    said: dict[str, Any] = {"origin": desk.origin, "key": "k", "requested": True}
    before = open_ask(desk.store, content, law=desk.law, **said)
    with under(place, LOW + "reversible = false\n") as after:
        again = open_ask(after.store, content, law=after.law, **said)

    assert again.id == before.id


def test_nothing_is_earned_by_what_its_code_must_sort(place: Place, desk: Desk) -> None:
    refunding(desk, risk="medium", bucket=lambda **_: "all")
    with under(place, LOW.replace('"low"', '"medium"')) as clerk:
        clerk.law.tools.said = clerk.store
        free = posted(clerk, "refund", {"order": 1, "amount": 2}, version="1")
    desk.law.current(desk.store)
    with under(place, LOW.replace('"low"', '"medium"')) as clerk:
        sorted_ = posted(clerk, "refund", {"order": 1, "amount": 3}, version="1")

    assert free.stake is not None
    assert sorted_.stake is None


def test_a_waiting_run_whose_call_does_not_fit_by_then_hears_it_in_words(desk: Desk) -> None:
    paid: list[float] = []

    @desk.gate(risk="high")
    def refund(order: int, amount: float) -> None:
        paid.append(amount)

    @desk.workflow
    def refunding(run: Any) -> str:
        run.call(refund, order=1, amount=-5.0)
        return "paid"

    run = desk.run(refunding, wait=False)
    desk.approve(run.asks[0])
    strict = '[tools.refund.args]\norder = "integer"\namount = { type = "number", minimum = 0 }\n'
    desk.policies.publish(strict, note="Nobody pays us by a refund")
    run = desk.resume(run, wait=False)

    assert run.status == "failed"
    assert paid == []
    assert "do not fit what the policy and asks/test_tools.py:" in str(run.error)
    assert "amount: must be 0 or more" in str(run.error)
