"""What came of it goes back to whoever decided: running, done with its result, failed, or unknown.

Runs by itself, in a database of its own, on a clock that the program moves; the reviewer is played
by the program. At a terminal `sayso inbox show ID` says the same, and `approve --wait` stays for it.
"""

import tempfile

import sayso
from sayso.testing import FakeClock

LISTS = {"customers": 2451, "testers": 2, "partners": 80, "friends": 5}


def outcome(ask: sayso.Ask) -> str:
    effect = ask.effect
    if effect is None:
        return "approved, and not begun"
    if effect.status == "intended":
        return "running"
    known = effect.result or effect.error or f"people are asked: {effect.doubt}"
    return f"{effect.status}: {known}"


def main(desk: sayso.Desk, clock: FakeClock) -> None:
    asks = {to: desk.open("send", {"to": to}, risk="high", reversible=False) for to in LISTS}
    for ask in asks.values():
        desk.approve(ask, by="anna")

    def look(when: str) -> None:
        print(when)
        for to, ask in asks.items():
            print(f"  {to}: {outcome(desk.get(ask.id))}")

    look("anna said yes to four mails")
    calls = {to: desk.begin(ask, limit="5m") for to, ask in asks.items() if to != "friends"}
    look("a mail program takes up three of them")
    desk.finish(calls["customers"], result=f"sent to {LISTS['customers']:,} recipients")
    desk.finish(calls["testers"], error="550 no such mailbox")
    clock.advance("6m")  # of the third it never reports anything
    (doubt,) = desk.sweep().doubts
    look("six minutes later")
    desk.respond(desk.get(doubt), f"sent to {LISTS['partners']} recipients", by="anna")
    look("anna has looked into the outbox")


if __name__ == "__main__":
    clock = FakeClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        sayso.Desk(f"sqlite:///{folder}/desk.db", clock=clock) as desk,
    ):
        desk.people.add("anna", roles=["senior"])
        main(desk, clock)
