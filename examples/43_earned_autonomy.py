"""Earned autonomy: an agent earns to run alone, chance still picks calls, and harm ends it.

Runs by itself, in a database of its own, with a clock that can be moved; the people are played. An
agent of medium risk needs 248 calls that two people found to be fine, over two days.
"""

import tempfile
from itertools import count, cycle
from pathlib import Path

import sayso
from sayso.testing import FakeClock

POLICY = """
[tools]
refund = "medium"
"""
ORDERS = count(1)


def proposed(desk: sayso.Desk, amount: int = 40) -> sayso.Ask:
    """Propose one more refund."""
    return desk.open("refund", {"order": f"R-{next(ORDERS)}", "amount": amount})


def earn(desk: sayso.Desk, clock: FakeClock) -> str:
    """Approve calls until people are asked whether the agent may go without asking."""
    people = cycle(("anna", "ben"))
    desk.approve(proposed(desk), by=next(people))
    while (key := next(iter(desk.trust))).grant_ask is None:
        clock.advance("15m")
        desk.approve(proposed(desk), by=next(people))
    grant = desk.get(key.grant_ask)
    print(f"{key.fine} calls were fine. {grant.title} It reaches: {grant.facts['Reaches']}")
    desk.approve(grant, by="ben")
    print(f"ben says yes: {desk.trust.key(key.id).ledger.standing}")
    return key.id


def run_alone(desk: sayso.Desk, key: str) -> None:
    """Carry calls out as they come; whoever looks at what chance picks finds it harmful."""
    while desk.trust.alone(key):
        ask = proposed(desk)
        if ask.decision:
            desk.finish(desk.begin(ask), "paid")
            continue
        desk.reject(ask, "It was paid before", kind="harmful", by="anna")
        print(
            f"chance picked one, and anna calls it harmful: {desk.trust.key(key).ledger.standing}"
        )
        flag = desk.get(desk.trust.key(key).flag_ask or "")
        desk.approve(flag, by="ben")
        book = desk.trust.key(key)
        print(f"ben agrees: {book.ledger.standing}; harms: {book.harms}, ends: {book.ledger.ends}")


def main(desk: sayso.Desk, clock: FakeClock) -> None:
    for name in ("anna", "ben"):
        desk.people.add(name, roles=["senior"])
    key = earn(desk, clock)
    print(proposed(desk, 4_000).content.sentence.partition("far. ")[2])
    run_alone(desk, key)
    book = desk.trust.key(key)
    print(f"the next grant takes a score of {book.ledger.bar:g}: {book.missing} calls")
    print(f"the next call asks people again: {proposed(desk).status}")
    found = desk.metrics()
    audits = f"{found['audited_bad']} of {found['audited']} audits were bad"
    print(f"approved {found['approval_rate']:.0%}; {audits}; {found['incidents']} incidents")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        law = Path(folder, "policy.toml")
        law.write_text(POLICY)
        clock = FakeClock()
        url = f"sqlite:///{folder}/desk.db"
        with sayso.Desk(url, agent="shop", policy=law, clock=clock) as desk:
            main(desk, clock)
