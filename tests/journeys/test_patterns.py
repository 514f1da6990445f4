"""Confirmation, draft review and choices, end to end (S2.1, S2.2, S2.10, S2.16).

Every pause ends its process. A program starts the run and is gone, a command decides and is gone, a
worker goes on until the next pause and is gone; after each of them the whole journal is compared.
The workflows are in `tests.journeys.patterns`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sayso import Ask, Desk, Run
from sayso.model.event import Event
from tests import forked
from tests.crash.shop import noted
from tests.journeys.patterns import ALL, FLIGHTS, FOLDER, SUBJECT
from tests.places import Place

ROOT = Path(__file__).resolve().parents[2]
SAYSO = str(Path(sys.executable).with_name("sayso"))


@dataclass
class Journey:
    """A run that nobody keeps in memory, and the processes that come to it."""

    desk: Desk
    folder: Path
    env: dict[str, str]
    told: int = 0

    def start(self, workflow: str) -> Run:
        printed = self._process(sys.executable, "-m", "tests.journeys.patterns", workflow)
        return self.desk.get_run(printed.strip())

    def decide(self, run: Run, verdict: str, *words: str) -> Ask:
        """Let a person decide what the run waits for, from a terminal of their own."""
        (ask,) = run.state.pending
        self._process(SAYSO, "inbox", verdict, ask.id, *words, "--seen", ask.digest[:12])
        return self.desk.get(ask.id)

    def decide_and_go(self, run: Run, verdict: str, *words: str) -> Ask:
        """Let a person decide, and their own process carry the run on until the next pause."""
        return self.decide(run, verdict, *words, "--go")

    def go_on(self) -> None:
        self._process(SAYSO, "worker", "tests.journeys.patterns", "--until-idle")

    def card(self, ask: Ask) -> str:
        return self._process(SAYSO, "inbox", "show", ask.id)

    def _process(self, *words: str) -> str:
        done = forked.run(words, env=self.env, cwd=ROOT)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def news(self) -> list[str]:
        """Return what was written to the journal since the last look."""
        events = list(self.desk.events())
        fresh, self.told = events[self.told :], len(events)
        # What people say of a call also stands in the book of its key, and what tools there are in
        # the law: other stories.
        fresh = [event for event in fresh if not event.kind.startswith(("trust.", "tool."))]
        # Events of one commit have no order among streams but their time.
        return [_line(self.desk, event) for event in sorted(fresh, key=lambda event: event.at)]

    def world(self, what: str) -> list[str]:
        return noted(self.folder, what)


def _line(desk: Desk, event: Event) -> str:
    said = event.payload or {}
    if event.kind.startswith(("run.", "step.")):
        return " ".join(filter(None, (event.kind, said.get("name"))))
    ask = desk.get(event.stream)
    return " ".join(filter(None, (event.kind, said.get("verdict"), ask.tool or ask.title)))


@pytest.fixture
def journey(place: Place, tmp_path: Path) -> Iterator[Journey]:
    around = {"SAYSO_URL": place.url, FOLDER: str(tmp_path), "COLUMNS": "100"}
    with Desk(place.url, account="sam@till") as desk:
        yield Journey(desk, tmp_path, {**os.environ, **around})
        assert desk.verify()


def test_s2_1_a_mail_to_thousands_waits_for_a_yes_and_its_outcome_comes_back(
    journey: Journey,
) -> None:
    run = journey.start("campaign")
    confirm = "Write to 2,451 people?"
    assert journey.news() == ["run.started", "step.done count", f"ask.opened {confirm}"]

    journey.decide(run, "approve")
    assert journey.news() == [f"ask.decided approve {confirm}"]
    assert journey.world("sent") == [], "whoever decides does not carry out"

    journey.go_on()
    assert journey.news() == ["ask.opened send"]
    (ask,) = run.state.pending
    card = journey.card(ask)
    for seen in ("2,451 people get it", f"{ALL} (2,451 recipients)", SUBJECT, "high"):
        assert seen in card

    journey.decide(run, "approve")
    assert journey.news() == ["ask.decided approve send"]
    assert journey.world("sent") == []

    journey.go_on()
    assert journey.news() == ["effect.intended send", "effect.done send", "run.done"]
    assert run.output == "sent to 2,451 recipients"
    assert "sent to 2,451 recipients" in journey.card(ask), "whoever decided sees what came of it"
    assert journey.world("sent") == [f"{ALL}: {SUBJECT}"]
    assert journey.world("counted") == [ALL], "three processes, one look at the list"


def test_s2_1_a_no_to_the_mail_sends_nothing(journey: Journey) -> None:
    run = journey.start("campaign")
    journey.decide_and_go(run, "approve")
    refused = journey.decide(run, "reject", "Not in January")
    journey.go_on()

    assert journey.news()[-2:] == ["ask.decided reject send", "run.failed"]
    assert "Not in January" in str(run.error)
    assert journey.world("sent") == []
    assert refused.effect is None


def test_s2_2_a_draft_is_sent_back_edited_and_every_version_is_kept(journey: Journey) -> None:
    run = journey.start("letter")
    assert journey.news() == ["run.started", "step.done write", "ask.opened Letter"]

    for number, guidance in enumerate(("plainer", "shorter"), start=1):
        journey.decide(run, "respond", guidance)
        assert journey.news() == ["ask.decided respond Letter"]
        assert len(journey.world("made")) == number, "nobody who decides writes"
        journey.go_on()
        assert journey.news() == ["step.done write", "ask.opened Letter"]

    last = journey.decide(run, "edit", "--set", "text=Dear customer,\nsorry.")
    assert journey.news() == ["ask.edited edit Letter", "ask.decided edit Letter"]
    journey.go_on()
    assert journey.news() == ["ask.opened Who signs it?"]
    journey.decide(run, "respond", "Anna")
    journey.go_on()
    journey.news()

    assert run.output == ["Dear customer,\nsorry.", "Anna"]
    assert journey.world("made") == ["None", "plainer", "shorter"], "each text was made once"
    versions = journey.desk.versions(last)
    assert [one.guidance for one in versions] == [None, "plainer", "shorter", None]
    assert [one.by.kind for one in versions] == ["agent", "agent", "agent", "person"]
    assert versions[2].diff(versions[1]).splitlines()[-2:] == ["-(plainer)", "+(shorter)"]
    assert versions[3].text == run.output[0]


def test_s2_10_one_key_books_a_suggested_flight(journey: Journey) -> None:
    run = journey.start("travel")
    title = "Three flights to Paris."
    assert journey.news() == ["run.started", f"ask.opened {title}"]
    card = journey.card(run.state.pending[0])
    assert all(f"{option.label}" in card and str(option.detail) in card for option in FLIGHTS)

    journey.decide(run, "approve", "--option", "2")
    assert journey.news() == [f"ask.decided approve {title}"]
    journey.go_on()
    assert journey.news() == ["ask.opened book"]
    assert run.state.pending[0].args == {"flight": "UA57", "price": 420}, "the value, not the label"
    journey.decide(run, "approve")
    journey.go_on()

    assert journey.news()[1:] == ["effect.intended book", "effect.done book", "run.done"]
    assert run.output == "UA57 for $420"
    assert journey.world("booked") == ["UA57"]


def test_s2_10_let_me_choose_goes_on_with_a_value_of_ones_own(journey: Journey) -> None:
    run = journey.start("travel")
    journey.decide_and_go(run, "respond", "LH1026")
    (asked,) = run.state.pending
    assert asked.title == "What does LH1026 cost?"
    journey.decide_and_go(run, "respond", "405")
    journey.decide_and_go(run, "approve")

    assert run.output == "LH1026 for $405"
    assert [ask.kind for ask in run.asks] == ["choice", "question", "action"]
    assert journey.world("booked") == ["LH1026"]
