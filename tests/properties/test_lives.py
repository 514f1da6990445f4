"""Any order of what people, programs and the clock can do keeps every promise.

Hypothesis makes up lives of asks on a real desk. A small model, written down
independently, says what each step must lead to; in the end the journal itself
is judged (see `oracle`), verified, and compared with the list.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sayso import Ask, Call, Desk
from sayso.errors import (
    AlreadySpent,
    AskChanged,
    AskClosed,
    FinishedLate,
    Forbidden,
    NotApproved,
    SaysoError,
    UnknownPerson,
)
from sayso.testing import FakeClock
from tests.places import Place
from tests.properties.oracle import filled, judge

PEOPLE = {
    "anna": frozenset({"senior"}),
    "ada": frozenset({"senior", "security"}),
    "sec": frozenset({"security"}),
    "ben": frozenset[str](),
}
NEEDS = [["1 reviewer"], ["2 reviewer"], ["1 senior", "1 security"], ["1 senior", "1 reviewer"]]
LIMIT = timedelta(minutes=10)


@dataclass
class Model:
    """What an ask should be by now."""

    id: str
    kind: str
    needs: list[str]
    deny: int
    due: datetime | None
    about: str | None = None
    status: str = "open"
    version: int = 1
    verdict: str | None = None
    votes: dict[str, str] = field(default_factory=dict)
    effect: str | None = None
    attempt: int = 0
    lapses: datetime | None = None
    doubt: str | None = None

    @property
    def approved(self) -> bool:
        return self.verdict in ("approve", "edit")


class Lives(RuleBasedStateMachine):
    """A desk with people, a few asks, and whatever happens to them."""

    asks: Bundle[str] = Bundle("asks")
    seen: Bundle[Ask] = Bundle("seen")
    calls: Bundle[Call] = Bundle("calls")

    place: Place  # set by `lives_on`

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.desk = Desk(self.place.url, clock=self.clock, agent="shop", account="sam@till")
        self.roster = dict(PEOPLE)
        self.model: dict[str, Model] = {}
        self.amount = 0
        self.changes = 0

    @initialize(target=asks, needs=st.sampled_from(NEEDS), deny=st.sampled_from([1, 2]))
    def people_arrive_and_are_asked(self, needs: list[str], deny: int) -> Any:
        for name, roles in PEOPLE.items():
            self.desk.people.add(name, roles=roles)
        return multiple(self.asked(["1 reviewer"], 1, None), self.asked(needs, deny, 1))

    def teardown(self) -> None:
        report = self.desk.verify()
        judge(self.desk.events())
        for model in self.model.values():
            self.compare(model)
        listed = {ask.id for ask in self.desk.inbox(limit=500)}
        self.desk.close()
        assert report.problems == ()
        assert listed == {
            m.id for m in self.model.values() if m.status == "open" and not self.late(m)
        }

    # --- the model ---

    def late(self, model: Model) -> bool:
        return model.status == "open" and model.due is not None and model.due <= self.clock.now()

    def expire(self, model: Model) -> None:
        if self.late(model):
            model.status, model.verdict = "decided", "reject"

    def voting(self, model: Model, person: str) -> type[SaysoError] | None:
        """Let the clock act first; then say which error a vote must meet, if any."""
        self.expire(model)
        if person not in self.roster:
            return UnknownPerson
        if model.status != "open":
            return AskClosed
        roles = self.roster[person]
        takes = any(need.split()[1] in ("reviewer", *roles) for need in model.needs)
        return None if takes else Forbidden

    def count(self, model: Model, person: str, verdict: str) -> None:
        """Take a vote, and decide if it is enough."""
        consents = {"approve", "edit"} if model.kind == "action" else {"approve", "respond"}
        model.votes.pop(person, None)
        model.votes[person] = verdict
        here = {name: said for name, said in model.votes.items() if name in self.roster}
        if verdict in consents:
            same = {"approve", "edit"} if verdict in ("approve", "edit") else {verdict}
            agreed = {name: self.roster[name] for name, said in here.items() if said in same}
            enough = filled(model.needs, agreed)
        else:
            enough = sum(said not in consents for said in here.values()) >= model.deny
        if not enough:
            return
        edited = model.kind == "action" and verdict == "approve" and model.version > 1
        model.status, model.verdict = "decided", "edit" if edited else verdict
        if model.about is not None and verdict != "approve":
            about = self.model[model.about]
            if about.effect == "unknown" and about.doubt == model.id:
                about.effect = "done" if verdict == "respond" else "failed"

    def compare(self, model: Model) -> None:
        ask = self.desk.get(model.id)
        verdict = None if ask.decision is None else ask.decision.verdict
        effect = ask.effect.status if ask.effect else None
        told = (ask.status, ask.version, verdict, effect)
        assert told == (model.status, model.version, model.verdict, model.effect)
        assert {vote.by.id: vote.verdict for vote in ask.votes} == model.votes

    def attempt(self, model: Model, error: type[SaysoError] | None, act: Callable[[], Any]) -> Any:
        """Do it, and expect exactly this error, or none; the ask is then as the model says."""
        if error is None:
            result = act()
        else:
            with pytest.raises(error) as raised:
                act()
            result = raised.value
            if isinstance(result, AskClosed) and model.verdict is not None:
                assert result.decision is not None
                assert result.decision.verdict == model.verdict
        return result

    # --- what can happen ---

    @rule(
        target=asks,
        needs=st.sampled_from(NEEDS),
        deny=st.sampled_from([1, 2]),
        hours=st.sampled_from([None, 1, 2]),
    )
    @precondition(lambda self: len(self.model) < 5)
    def open(self, needs: list[str], deny: int, hours: int | None) -> Any:
        try:
            return self.asked(needs, deny, hours)
        except SaysoError:  # too few people are left to meet it
            voters = sum(
                any(need.split()[1] in ("reviewer", *roles) for need in needs)
                for roles in self.roster.values()
            )
            assert not filled(needs, self.roster) or deny > voters
            return multiple()

    def asked(self, needs: list[str], deny: int, hours: int | None) -> str:
        within = None if hours is None else timedelta(hours=hours)
        why = f"Order {len(self.model)}"  # the same question would be the same ask
        ask = self.desk.open("pay", {"amount": 0}, why=why, needs=needs, deny=deny, within=within)
        due = None if within is None else self.clock.now() + within
        self.model[ask.id] = Model(ask.id, "action", needs, deny, due)
        return ask.id

    @rule(target=seen, ask_id=asks)
    def look(self, ask_id: str) -> Ask:
        return self.desk.get(ask_id)

    @rule(
        ask_id=asks,
        person=st.sampled_from(list(PEOPLE)),
        verdict=st.sampled_from(["approve", "reject", "respond"]),
    )
    def vote(self, ask_id: str, person: str, verdict: Any) -> None:
        model = self.model[ask_id]
        ask = self.desk.get(ask_id)
        error = self.voting(model, person)
        answer = "paid" if verdict == "respond" else None
        self.attempt(model, error, lambda: self.desk.decide(ask, verdict, by=person, answer=answer))
        if error is None:
            self.count(model, person, verdict)

    @rule(ask_id=asks, person=st.sampled_from(list(PEOPLE)))
    def edit(self, ask_id: str, person: str) -> None:
        model = self.model[ask_id]
        if model.kind != "action":
            return
        ask = self.desk.get(ask_id)
        error = self.voting(model, person)
        self.amount += 1
        self.attempt(model, error, lambda: self.desk.edit(ask, {"amount": self.amount}, by=person))
        if error is None:
            model.version += 1
            model.votes = {}
            self.count(model, person, "edit")

    @rule(ask=seen, person=st.sampled_from(list(PEOPLE)))
    def approve_what_was_seen_some_time_ago(self, ask: Ask, person: str) -> None:
        """An old digest decides nothing; if nothing changed since, it is a vote like any other."""
        model = self.model[ask.id]
        error = self.voting(model, person)
        if error in (None, Forbidden) and ask.version != model.version:
            error = AskChanged
        self.attempt(model, error, lambda: self.desk.approve(ask, by=person))
        if error is None:
            self.count(model, person, "approve")

    @rule(ask_id=asks)
    def withdraw(self, ask_id: str) -> None:
        model = self.model[ask_id]
        if model.kind == "doubt":
            return
        self.expire(model)
        error = None if model.status == "open" else AskClosed
        self.attempt(model, error, lambda: self.desk.withdraw(ask_id))
        if error is None:
            model.status = "withdrawn"

    @rule(ask_id=asks, order=st.permutations(list(PEOPLE)))
    def everybody_approves(self, ask_id: str, order: list[str]) -> None:
        """As votes would, one by one, but often enough for something to get approved."""
        for person in order:
            if self.model[ask_id].status == "open":
                self.vote(ask_id, person, "approve")

    @rule(data=st.data(), verdict=st.sampled_from(["approve", "respond", "reject"]))
    @precondition(
        lambda self: any(m.kind == "doubt" and not m.verdict for m in self.model.values())
    )
    def everybody_says_the_same_of_a_doubt(self, data: st.DataObject, verdict: Any) -> None:
        doubts = [m.id for m in self.model.values() if m.kind == "doubt" and not m.verdict]
        doubt_id = data.draw(st.sampled_from(doubts))
        for person in PEOPLE:
            if self.model[doubt_id].status == "open":
                self.vote(doubt_id, person, verdict)

    @rule(target=calls, data=st.data())
    @precondition(lambda self: any(m.approved and m.effect is None for m in self.model.values()))
    def begin_what_was_approved(self, data: st.DataObject) -> Any:
        ready = [m.id for m in self.model.values() if m.approved and m.effect is None]
        return self.begun(data.draw(st.sampled_from(ready)))

    @rule(target=calls, ask_id=asks)
    def begin(self, ask_id: str) -> Any:
        return self.begun(ask_id)

    def begun(self, ask_id: str) -> Any:
        model = self.model[ask_id]
        error: type[SaysoError] | None = None
        if model.kind != "action" or not model.approved:
            error = NotApproved
        elif model.effect is not None and not self.again(model):
            error = AlreadySpent
        call = self.attempt(model, error, lambda: self.desk.begin(ask_id, limit=LIMIT))
        if error is not None:
            return multiple()
        model.effect, model.attempt, model.doubt = "intended", model.attempt + 1, None
        model.lapses = self.clock.now() + LIMIT
        assert call.attempt == model.attempt
        return call

    def again(self, model: Model) -> bool:
        """Whether people said to run it again, and nobody has."""
        return (
            model.effect == "unknown"
            and model.doubt is not None
            and self.model[model.doubt].verdict == "approve"
        )

    @rule(call=calls, fails=st.booleans())
    def finish(self, call: Call, fails: bool) -> None:
        model = self.model[call.ask.id]
        mine = call.attempt == model.attempt
        on_time = mine and (model.effect == "intended" or self.again(model))
        self.attempt(
            model,
            None if on_time else FinishedLate,
            lambda: self.desk.finish(call, "paid", error="no" if fails else None),
        )
        if on_time:
            model.effect = "failed" if fails else "done"
        elif model.doubt is not None and self.model[model.doubt].status == "open":
            doubt = self.model[model.doubt]
            doubt.version += 1
            doubt.votes = {}

    @rule(minutes=st.sampled_from([5, 15, 60]))
    def time_passes(self, minutes: int) -> None:
        self.clock.advance(timedelta(minutes=minutes))

    @rule(target=asks, minutes=st.sampled_from([None, 15]))
    def sweep(self, minutes: int | None) -> Any:
        if minutes is not None:
            self.clock.advance(timedelta(minutes=minutes))
        overdue = {m.id for m in self.model.values() if self.late(m)}
        silent = {
            m.id
            for m in self.model.values()
            if m.effect == "intended" and m.lapses is not None and m.lapses <= self.clock.now()
        }

        swept = self.desk.sweep()

        assert set(swept.expired) == overdue
        for ask_id in overdue:
            self.expire(self.model[ask_id])
        for doubt_id in swept.doubts:
            about = self.desk.get(doubt_id).content.about
            assert about is not None
            model = self.model[about]
            model.effect, model.doubt = "unknown", doubt_id
            self.model[doubt_id] = Model(doubt_id, "doubt", model.needs, model.deny, None, about)
            silent.remove(about)
        assert not silent
        return multiple(*swept.doubts)

    @rule(person=st.sampled_from(["sec", "ben"]))
    @precondition(lambda self: self.changes < 3)
    def somebody_comes_or_goes(self, person: str) -> None:
        self.changes += 1
        if person in self.roster:
            self.desk.people.remove(person)
            del self.roster[person]
        else:
            self.desk.people.add(person, roles=PEOPLE[person])
            self.roster[person] = PEOPLE[person]

    @rule(call=consumes(calls))
    def a_carrier_dies(self, call: Call) -> None:
        """It will never report; the sweep finds out."""

    @rule(ask_id=asks)
    def the_ask_is_as_the_model_says(self, ask_id: str) -> None:
        self.compare(self.model[ask_id])


def lives_on(place: Place, examples: int) -> None:
    """Run made-up lives, each on an empty database."""

    class Here(Lives):
        def __init__(self) -> None:
            if place.dialect == "sqlite":
                self.folder = tempfile.TemporaryDirectory(prefix="sayso-lives-")
                self.place = Place("sqlite", f"sqlite:///{Path(self.folder.name)}/desk.db")
            else:
                self.place = place
                place.clear()
            super().__init__()

        def teardown(self) -> None:
            try:
                super().teardown()
            finally:
                self.desk.close()
                if place.dialect == "sqlite":
                    self.folder.cleanup()

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "examples", [pytest.param(20, id="some"), pytest.param(500, id="many", marks=pytest.mark.soak)]
)
def test_every_life_keeps_the_promises(place: Place, examples: int) -> None:
    lives_on(place, examples)
