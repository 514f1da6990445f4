"""Customer support: an assistant answers tickets, and hands on what is beyond it.

Runs by itself, in databases of its own; the people here are played by the program, and a script
plays the model. Who may do what is in customer_support.toml.
"""

import re
import sqlite3
import tempfile
from pathlib import Path

import sayso
from sayso.agent import Message, ToolCall, call

POLICY = Path(__file__).with_suffix(".toml")
TICKETS = [
    "Order 1 came a day late, 15 EUR back please",
    "Order 2 is broken, 120 EUR back please",
    "Order 3 never came, 600 EUR back please",
    "Close the account of my neighbour",
]


def think(messages: tuple[Message, ...]) -> ToolCall | str:
    """Stand in for a model: it does what the ticket says, and tells what came of it."""
    last = messages[-1]
    if last.role == "tool":
        return last.text
    wish = re.search(r"Order (\d+).* (\d+) EUR", last.text)
    if wish:
        return call("refund", order=int(wish[1]), amount=int(wish[2]))
    return call("close_account", customer=last.text.rpartition(" ")[2])


def main(desk: sayso.Desk, shop: sqlite3.Connection) -> None:
    for name in ("tess", "tom", "lou"):
        desk.people.add(name)  # their roles are in the policy

    @sayso.tool(risk="high")
    def refund(order: int, amount: int) -> str:
        """Pay money back."""
        with shop:
            shop.execute("update orders set refunded = refunded + ? where id = ?", (amount, order))
        return f"{amount} EUR are on their way."

    @sayso.tool(risk="critical", reversible=False)
    def close_account(customer: str) -> str:
        """Close an account for good."""
        raise AssertionError("The policy denies it, so this never runs.")

    agent = sayso.Agent("support", sayso.ScriptedModel(think), [refund, close_account])
    runs = {ticket: desk.run(agent, ticket, wait=False) for ticket in TICKETS}
    for ticket, run in runs.items():
        for ask in run.state.pending:
            print(f"{ticket}: waits for {ask.content.needs}")
            if ask.args["amount"] > 200:
                desk.respond(ask, "It is at the post office; tell them to fetch it.", by="lou")
            else:
                desk.edit(ask, {"amount": 100}, note="It cost 100", by="tess")
    desk.work(until="idle")

    for ticket, run in runs.items():
        print(f"{ticket}: {run.result()}")
    for order, paid, refunded in shop.execute("select id, paid, refunded from orders"):
        print(f"order {order}: {paid} paid, {refunded} refunded")


if __name__ == "__main__":
    shop = sqlite3.connect(":memory:", check_same_thread=False)
    shop.execute("create table orders (id, paid, refunded default 0)")
    shop.executemany("insert into orders (id, paid) values (?, ?)", [(1, 60), (2, 100), (3, 600)])
    with (
        tempfile.TemporaryDirectory() as folder,
        sayso.Desk(f"sqlite:///{folder}/desk.db", policy=POLICY) as desk,
    ):
        main(desk, shop)
