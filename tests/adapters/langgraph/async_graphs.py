"""The graphs of `graphs` as most people write them: with `async def`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langgraph.types import interrupt

import sayso
from tests.adapters.langgraph.graphs import Builder, State, beside, did, fan_out, line, one_node
from tests.adapters.langgraph.graphs import pay_out as pay_out_plainly


async def pay(state: State) -> State:
    """Ask, then act: what LangGraph repeats if it dies in between."""
    if interrupt("Pay?") == "yes":
        await asyncio.sleep(0)
        did("paid")
    return {"log": ["paid"]}


async def pay_kept(state: State) -> State:
    if interrupt("Pay?") == "yes":
        await sayso.effect(pay_out_plainly)
    return {"log": ["paid"]}


async def twice_kept(state: State) -> State:
    await sayso.step(did, "looked up")
    first = interrupt("first?")
    await sayso.effect(did, f"first {first}")
    second = interrupt("second?")
    await sayso.effect(act, f"second {second}")
    return {"log": [first, second]}


async def act(what: str) -> str:
    """Act as clients do that can only be awaited."""
    await asyncio.sleep(0)
    return did(what)


async def asked_by_verbs(state: State) -> State:
    await sayso.step(act, "looked up")
    if not await sayso.confirm("May I?"):
        return {"log": ["no"]}
    amount = await sayso.question("How much?", int)
    await sayso.effect(act, f"paid {amount}")
    return {"log": [amount]}


async def swallow(state: State) -> State:
    """A node that lets nothing disturb it."""
    try:
        said = await sayso.question("May I?")
    except BaseException:
        said = "yes"
    if said == "yes":
        did("went on")
    return {"log": [said]}


async def hasty(state: State) -> State:
    """A node that forgot to await whether it may."""
    if sayso.confirm("May I?"):
        did("paid")
    return {"log": ["paid"]}


async def forgetful(state: State) -> State:
    """A node that forgot to await what it does."""
    sayso.effect(did, "paid")
    return {"log": ["paid"]}


async def impatient(state: State) -> State:
    """A node that asks two things in an order that nobody knows."""
    said = await asyncio.gather(sayso.question("One?"), sayso.question("Other?"))
    return {"log": list(said)}


async def side_kept(part: State) -> State:
    said = await sayso.question(part["value"])
    return {"log": [await sayso.effect(did, f"{part['value']} {said}")]}


async def side(part: State) -> State:
    return {"log": [f"{part['value']} {interrupt(part['value'])}"]}


async def asking(state: State) -> State:
    return {"log": [interrupt("First?")]}


async def paying_kept(state: State) -> State:
    await sayso.question("Which account?")
    return {"log": [await sayso.effect(did, "paid")]}


def asking_plainly(state: State) -> State:
    return {"log": [sayso.question("Plainly?")]}


async def inner(state: State) -> State:
    await sayso.effect(did, "inside")
    return {"log": [interrupt("inside?"), await sayso.question("deeper?")]}


def nested() -> Builder:
    return line(part=one_node(inner).compile(), end=lambda state: {"log": ["end"]})


def stops() -> Any:
    return line(pay=paying_kept).compile(interrupt_before=["pay"])


ASYNC_GRAPHS: dict[str, Callable[[], Builder]] = {
    "async pay": lambda: one_node(pay),
    "async pay kept": lambda: one_node(pay_kept),
    "async twice kept": lambda: one_node(twice_kept),
    "async verbs": lambda: one_node(asked_by_verbs),
    "async swallow": lambda: one_node(swallow),
    "async hasty": lambda: one_node(hasty),
    "async forgetful": lambda: one_node(forgetful),
    "async impatient": lambda: one_node(impatient),
    "async side": lambda: fan_out(side),
    "async side kept": lambda: fan_out(side_kept),
    "async mixed": lambda: line(one=asking, other=asking_plainly),
    "async nested": nested,
    "async stop beside": lambda: beside(asking, stops()),
}
