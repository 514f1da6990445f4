"""A desk on which something of every kind happens, to hold the table of events against."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from unittest.mock import patch

from argon2 import PasswordHasher

import sayso
from sayso.access import passwords
from sayso.access.identities import link_identity, unlink_identity
from sayso.access.passwords import check_password, set_password
from sayso.access.sessions import end_session, make_link, open_session, sign_out
from sayso.asks.books import ORIGIN, Pen
from sayso.channels.courier import _disable
from sayso.errors import AskChanged, FinishedLate, StepFailed, TooManyAsks
from sayso.model.actor import Actor
from sayso.model.event import Event
from sayso.runs.restoring import restore
from sayso.testing import FakeClock

URL = "sqlite:///story.db"
SLOW = """
[[rules]]
name = "slow"
tool = "deploy"
effect = "ask"
needs = ["1 senior"]
within = "1h"
remind = [0.5]
escalate = [{ after = "10m", to = ["lead"] }]
"""
STRICT = """
[[rules]]
name = "strict"
tool = "drop"
effect = "ask"
needs = ["1 senior", "1 security"]
within = "1h"
"""


def told() -> list[Event]:
    """Let it all happen in this folder, and return the journal."""
    clock = FakeClock()
    with sayso.Desk(URL, clock=clock) as desk:
        make_link(desk.store)
        _people(desk)
        _asks(desk, clock)
        _effects(desk, clock)
        _runs(desk)
        _flood(clock)
        _trust(clock)
        _access(desk)
        _upkeep(desk)
        return list(desk.events())


def _people(desk: sayso.Desk) -> None:
    for name, role in (("anna", "senior"), ("ben", "security"), ("cleo", "lead"), ("dora", "x")):
        desk.people.add(name, roles=[role])
    desk.people.add("cleo", roles=["lead", "junior"], teams=["billing"])
    desk.people.remove("dora")


def _asks(desk: sayso.Desk, clock: FakeClock) -> None:
    ask = desk.open("pay", {"amount": 4}, needs=["1 senior", "1 security"], key="pay-4")
    desk.assign(ask, "ben", by="anna")
    desk.approve(ask, by="anna", note="fine")
    desk.edit(desk.get(ask.id), {"amount": 3}, by="ben", note="less")
    held = desk.approve(desk.get(ask.id), by="anna", hold="1m")
    desk.take_back(held, "wrong", by="anna")
    desk.approve(desk.get(ask.id), by="anna", hold="1m")
    clock.advance("2m")
    desk.sweep()  # it counts
    desk.open("ping", {"n": 1})
    desk.withdraw(desk.open("ping", {"n": 1}), "no longer")
    desk.reject(desk.open("pay", {"amount": 5}), "no", kind="harmful", end=True, by="anna")
    desk.respond(desk.later.question("Which?", type=int).ask, 7, by="anna")
    desk.draft("A text", optional=True, within="1h")
    _under_a_policy(clock)
    clock.advance("2h")
    desk.sweep()


def _under_a_policy(clock: FakeClock) -> None:
    """Reminders, stand-ins, a yes of the policy, and a policy that becomes stricter."""
    Path("slow.toml").write_text(SLOW)
    with sayso.Desk(URL, clock=clock) as desk:
        desk.policies.publish(Path("slow.toml"), by="anna")
        desk.open("deploy", {"version": 1})
        desk.open("look", {"at": "it"}, risk="low")
        ask = desk.open("drop", {"table": "x"}, risk="high")
        clock.advance("31m")
        desk.sweep()
    Path("strict.toml").write_text(STRICT)
    with sayso.Desk(URL, clock=clock) as desk:
        desk.policies.publish(Path("strict.toml"), by="anna")
        with suppress(AskChanged):
            desk.approve(ask, by="anna")
        desk.reject(desk.get(ask.id), by="anna")


def _effects(desk: sayso.Desk, clock: FakeClock) -> None:
    done = desk.approve(desk.open("mail", {"to": "x"}), by="anna")
    desk.finish(desk.begin(done), result="sent")
    desk.erase(done, "asked for")
    failed = desk.approve(desk.open("mail", {"to": "y"}), by="anna")
    desk.finish(desk.begin(failed), error="refused")
    odd = desk.approve(desk.open("mail", {"to": "z"}), by="anna")
    desk.finish(desk.begin(odd), result=object())
    for verdict in ("respond", "reject"):
        ask = desk.approve(desk.open("wire", {"to": verdict}), by="anna")
        call = desk.begin(ask, limit="1m")
        clock.advance("2m")
        (doubt,) = desk.sweep().doubts
        with suppress(FinishedLate):
            desk.finish(call, result="late")
        asked = desk.get(doubt)
        answer = {"answer": "sent"} if verdict == "respond" else {}
        desk.decide(asked.id, verdict, seen=asked.digest, by="anna", **answer)  # type: ignore[arg-type]
    edited = desk.edit(desk.open("book", {"minutes": 30}), {"minutes": 15}, by="anna")
    desk.preferences.edit(edited.id, "shorter", by="anna")
    desk.preferences.remove(edited.id, by="anna")


def _trust(clock: FakeClock) -> None:
    """An agent earns to run alone, loses it four times over, and is let earn again."""
    Path("trust.toml").write_text('[tools]\nnote = "low"\n[tiers.low]\nneeds = ["1 senior"]\n')
    with sayso.Desk(URL, clock=clock) as desk:
        desk.policies.publish(Path("trust.toml"), by="anna")
        desk.people.add("eric", roles=["senior"])
        desk.law.coin = lambda: 0.999
        numbers = iter(range(10_000))

        def note() -> sayso.Ask:
            return desk.open("note", {"text": f"Note {next(numbers)}"})

        def earned(verdict: str) -> None:
            pen = Pen(desk.store, desk.trust.key(key))
            while (pen.book.missing or 0) > 1:  # all but the last one, without asking
                said = {"ask": first.id, "saw": {"text: text": None}}
                pen.write("fine", Actor("person", "anna"), ORIGIN, **said)
            desk.store.commit(*pen.appends())
            clock.advance("1d")
            desk.approve(note(), by="anna")
            ask = desk.trust.key(key).grant_ask
            getattr(desk, verdict)(desk.get(ask or ""), by="anna")

        first = desk.approve(note(), by="anna")
        key = first.stake.key if first.stake else ""
        for verdict in ("reject", "approve"):
            bad = desk.reject(note(), kind="harmful", by="anna")
            assert bad.decision is not None
            flag = desk.trust.key(key).flag_ask
            getattr(desk, verdict)(desk.get(flag or ""), by="eric")
        desk.edit(note(), {"text": "Other words"}, harmful=False, by="anna")
        desk.approve(desk.open("note", {"text": "Another version"}, version="2"), by="anna")
        earned("reject")
        earned("approve")
        desk.law.coin = lambda: 0.0
        desk.approve(note(), by="anna")
        desk.law.coin = lambda: 0.999
        desk.trust.revoke(key, "Holidays", by="anna")
        for _ in range(3):
            earned("approve")
            ran = note()
            desk.finish(desk.begin(ran), result="noted")
            desk.incident(ran, "It was read by everybody", by="anna")
        desk.trust.reopen(key, "A new model", by="anna")


def _runs(desk: sayso.Desk) -> None:
    broken = [True]

    def fetch() -> int:
        if broken:
            raise ConnectionError("away")
        return 1

    @desk.workflow
    def flow(run: sayso.Running, word: str) -> str:
        run.progress(0.5, "half")
        with suppress(StepFailed):
            run.effect(fetch)
        return f"{word}, {run.step(fetch)}"

    run = desk.run(flow, "tea", thread="t", wait=False)
    broken.clear()
    desk.retry(run)
    desk.resume(run)

    restless = sayso.ScriptedModel([sayso.agent.call("look"), sayso.agent.call("look")])
    agent = sayso.Agent("restless", restless, [_look], max_steps=1)
    parked = desk.run(agent, "Look", wait=False)
    desk.cancel(parked, "enough")


def _look() -> str:
    """Look."""
    return "nothing"


_look.__name__ = "look"


def _flood(clock: FakeClock) -> None:
    law = Path("pace.toml")
    law.write_text('[agents.eager]\nasks = "1 per hour"\n')
    with sayso.Desk(URL, clock=clock) as desk, suppress(TooManyAsks):
        desk.policies.publish(law, by="anna")
        for order in (1, 2):
            desk.open("refund", {"order": order}, agent="eager", team="billing")


def _access(desk: sayso.Desk) -> None:
    store, origin = desk.store, desk.origin
    token, _ = desk.tokens.make("bot", owner="anna", team="billing")
    desk.tokens.revoke(token.id)
    little = partial(PasswordHasher, time_cost=1, memory_cost=64)
    with patch.object(passwords, "PasswordHasher", little):
        set_password(store, "anna", "correct horse battery", origin=origin)
    assert check_password(store, "anna", "correct horse battery")  # hashed anew
    session, _ = open_session(store, "anna", how="password", address="::1", agent_string="b")
    end_session(store, session.id)
    open_session(store, "anna", how="password", address="::1", agent_string="b")
    sign_out(store, "anna", origin=origin)
    link_identity(store, "https://id.example", "1", "anna", origin=origin)
    unlink_identity(store, "https://id.example", "1", origin=origin)


def _upkeep(desk: sayso.Desk) -> None:
    gone = desk.webhooks.add("https://example.com/hook", team="billing")
    row = desk.store.webhook(gone.id)
    assert row is not None
    _disable(desk.store, row)
    desk.webhooks.remove(gone)
    known = next(tool for tool in desk.tools if len(tool.declared))
    desk.tools.forget(known.name, known.declared[-1].source, by="anna")
    desk.seal()
    restore(desk.store, actor=Actor("person", "anna"), origin=desk.origin)
