"""Billing: refunds, vouchers nobody waits for, a list of payments, a transfer that nobody saw end."""

from __future__ import annotations

import os
import re
import signal
import threading
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import sayso
from sayso.agent import ToolCall, call
from sayso.demo.jobs import Department, Job, Said
from sayso.demo.reading import Messages, task_of, told

Currency = Literal["EUR", "USD", "CHF"]
TRANSFER = "the bank transfer to Nordlicht Studio"
power_cut = threading.Event()  # set in a process that is to die in the middle of a transfer

# Order: who, where to write, what was charged, what it should have been.
ORDERS: dict[int, tuple[str, str, float, float]] = {
    1101: ("Jonas Weber", "jonas.weber@example.com", 58.0, 29.0),
    1104: ("Priya Nair", "priya@example.com", 240.0, 120.0),
    1109: ("Luc Moreau", "luc.moreau@example.com", 79.9, 0.0),
    1117: ("Hana Sato", "hana@example.com", 398.0, 199.0),
    1123: ("Olu Adeyemi", "olu@example.com", 1600.0, 1600.0),
    1182: ("Ada Lindqvist", "ada.lindqvist@example.com", 2480.0, 1240.0),
    1190: ("Tomás Rivera", "tomas@example.com", 96.0, 48.0),
}


@dataclass(frozen=True, slots=True)
class Payment:
    """One line of a list of payments."""

    to: str
    iban: str
    amount: float
    currency: Currency
    reference: str


def look_up(order: int) -> str:
    """Look up what was charged for an order."""
    who, _, charged, right = ORDERS[order]
    return f"Order {order} of {who}: charged EUR {charged:,.2f}, due EUR {right:,.2f}."


@sayso.tool(
    risk="high",
    reversible=False,
    affects="one customer",
    impact=lambda amount, currency, customer, **_: (
        f"{currency} {amount:,.2f} leave the account and reach {customer} within a day."
    ),
)
def refund(
    order: int, customer: str, email: str, amount: float, currency: Currency, message: str
) -> str:
    """Pay money back and write to the customer."""
    return f"{currency} {amount:,.2f} paid back to {customer} for order {order}; wrote to {email}."


def think(messages: Messages) -> ToolCall | str:
    """Stand in for a model: look the order up, pay back what was charged too much, report."""
    order = int(re.findall(r"order (\d+)", task_of(messages))[-1])
    if not told(messages, "look_up"):
        return call("look_up", order=order)
    paid = told(messages, "refund")
    asked = [
        message.text for message in messages if message.role == "user" and "order" in message.text
    ]
    if paid and len(paid) >= len(asked):
        return paid[-1]
    who, email, charged, right = ORDERS[order]
    if paid:
        return call(
            "refund",
            order=order,
            customer=who,
            email=email,
            amount=5.0,
            currency="EUR",
            message=f"Dear {who.split()[0]}, sorry for the wait. EUR 5.00 for your trouble.",
            _why=f"They waited. The thread says what was done before: {paid[-1]}",
            _confidence=0.8,
        )
    back = charged - right or charged
    return call(
        "refund",
        order=order,
        customer=who,
        email=email,
        amount=back,
        currency="EUR",
        message=f"Dear {who.split()[0]}, we charged you twice. EUR {back:,.2f} are on their way.",
        _why=f"{told(messages, 'look_up')[-1]} The customer asked for it in writing.",
        _confidence=0.92 if right else 0.55,
    )


agent = sayso.Agent("billing", sayso.ScriptedModel(think), [look_up, refund], explain=True)


VOUCHERS_FOR = "broken parcels"
VOUCHERS = {"Lena Brandt": 20, "Sam Okafor": 35}


@sayso.tool(risk="medium", later=True)
def send_voucher(customer: str, amount: int) -> str:
    """Send a voucher; the agent goes on with other work until somebody has decided."""
    return f"{customer} has a voucher of EUR {amount}."


def write_report(subject: str) -> str:
    """Write a report for the team."""
    return f"The report on {subject} is written."


def make_good(messages: Messages) -> list[ToolCall] | ToolCall | str:
    """Stand in for a model: propose all vouchers, write a report meanwhile, sum up at the end."""
    made = [one.tool for message in messages for one in message.calls]
    later = [message.text for message in messages if message.role == "user" and message.call]
    if not made:
        why = "The parcel came broken, and a photo shows it."
        return [
            call("send_voucher", customer=customer, amount=amount, _why=why, _confidence=0.86)
            for customer, amount in VOUCHERS.items()
        ]
    if "write_report" not in made:
        return call("write_report", subject="broken parcels")
    if len(later) < len(VOUCHERS):
        return "The report is written; the vouchers wait for somebody."
    return " ".join(text.splitlines()[-1].removeprefix("| ") for text in later)


goodwill = sayso.Agent(
    "goodwill", sayso.ScriptedModel(make_good), [send_voucher, write_report], explain=True
)


@sayso.tool(
    risk="high",
    reversible=False,
    affects="suppliers",
    agent="billing",
    why="All five invoices are due this week, and each was found in the mailbox of billing.",
    confidence=0.8,
)
def pay_out(account: str, payments: list[Payment]) -> str:
    """Pay a list of suppliers."""
    total = sum(payment.amount for payment in payments)
    return f"{len(payments)} payments made from {account}, {total:,.2f} in all."


def pay_suppliers(run: sayso.Running) -> str:
    """Pay the invoices of the month, in one call that people go through row by row."""
    try:
        return run.call(pay_out, account="Operations", payments=list(_INVOICES))
    except (sayso.Rejected, sayso.Answered) as no:
        return f"Nobody was paid: {no}"


@sayso.tool(
    risk="high",
    reversible=False,
    affects="a supplier",
    agent="billing",
    why="The second half is due on delivery, and they delivered.",
    confidence=0.9,
)
def transfer(to: str, iban: str, amount: float, currency: Currency, reference: str) -> str:
    """Send a bank transfer."""
    if power_cut.is_set():
        os.kill(os.getpid(), signal.SIGKILL)
    return f"{currency} {amount:,.2f} sent to {to} ({reference})."


def settle_invoice(run: sayso.Running) -> str:
    """Send one transfer, in a process that loses its power in the middle."""
    half = replace(_INVOICES[1], reference="NS-2208, second half")
    try:
        return run.call(transfer, **asdict(half))
    except (sayso.Rejected, sayso.Answered, sayso.Skipped) as no:
        return f"Left as it is: {no}"


_INVOICES: tuple[Payment, ...] = tuple(
    Payment(to, iban, amount, "EUR", reference)
    for to, iban, amount, reference in (
        ("Bakery Rossi", "IT60X0542811101000000123456", 412.5, "Catering, May"),
        ("Nordlicht Studio", "DE89370400440532013000", 3200.0, "NS-2208"),
        ("Cleanwell", "FR1420041010050500013M02606", 640.0, "Office, May"),
        ("Cleanwell", "FR1420041010050500013M02606", 640.0, "Office, May"),
        ("Harbour Print", "GB29NWBK60161331926819", 187.2, "Flyers"),
    )
)


def _task(order: int) -> str:
    return f"The customer of order {order} says that the charge is wrong. Put it right."


def _refund(order: int, *said: Said) -> Job:
    return Job(f"order {order}", agent, (_task(order),), said)


def department() -> Department:
    """Return what billing is at."""
    past: tuple[tuple[int, Any], ...] = (
        (1101, Said()),
        (1104, Said(note="Clear case")),
        (1109, Said(verdict="edit", args={"amount": 39.95}, note="Half: they used it for a month")),
        (1117, Said()),
        (1123, Said(verdict="reject", note="Charged once, as it should be", kind="not-now")),
    )
    jobs = [_refund(order, said) for order, said in past]
    jobs += [_refund(1182), _refund(1190)]
    again = "The customer of order 1101 writes again: a week to get the money was too long."
    jobs.append(Job("order 1101", agent, (again,), nth=2))
    jobs.append(Job("supplier payments of May", pay_suppliers))
    jobs.append(Job(VOUCHERS_FOR, goodwill, ("Make good for the broken parcels, and report.",)))
    return Department((pay_suppliers, settle_invoice), tuple(jobs))
