"""Confirm before it happens: what it will do, computed from the call; and what came of it.

At a terminal you are asked right there. Without one, a scripted reviewer plays the person.
"""

import json
import sys

import sayso
from sayso.testing import scripted

desk = sayso.Desk()
LISTS = {
    "all_customers@company.example": [f"customer{n}@mail.example" for n in range(2451)],
    "testers@company.example": ["ada@company.example", "ben@company.example"],
}
SENT: list[str] = []  # every mail that left


def impact(to: str, subject: str, body: str) -> str:
    return f"{len(LISTS[to]):,} people get it, and it cannot be taken back"


def preview(to: str, subject: str, body: str) -> dict[str, str]:
    return {"To": f"{to} ({len(LISTS[to]):,} recipients)", "Subject": subject, "Body": body}


@desk.gate(
    risk="high",
    reversible=False,
    affects="customers",
    impact=impact,
    preview=preview,
    allow=["approve", "edit", "reject"],
)
def send(to: str, subject: str, body: str) -> str:
    SENT.extend(LISTS[to])
    return f"Email sent to {len(LISTS[to]):,} recipients"


@desk.workflow
def campaign(run: sayso.Running, subject: str, body: str) -> str:
    try:
        run.call(send, "testers@company.example", subject, body)
        return str(run.call(send, "all_customers@company.example", subject, body))
    except sayso.Rejected as no:
        return f"stopped by {no.by}: {no.note}"


def tell(ask: sayso.Ask) -> None:
    """Show what the person was shown, what they said, and what came of it."""
    for name, value in json.loads(ask.content.preview or "[]"):
        print(f"  {name}: {value}")
    print(f"  Impact: {ask.content.impact}")
    if ask.decision:
        print(f"  {ask.decision.by.id} said {ask.decision.verdict}", end=": ")
    print(f"{ask.effect.status}, {ask.effect.result}" if ask.effect else "  nothing was done")


def main() -> None:
    for subject in ("New Year Sale - 50% Off", "Last chance"):
        run = desk.run(campaign, subject, "Dear customer, ...")
        print(f"{subject}: {run.result()}")
        tell(run.asks[-1])
    print(f"{len(SENT):,} mails left")


if __name__ == "__main__":
    if sys.stdin.isatty():
        main()
    else:
        with scripted() as reviewer:
            reviewer.approve("send")
            late = ("all_customers@company.example", "Last chance")
            reviewer.reject(
                lambda ask: (ask.args.get("to"), ask.args.get("subject")) == late, "One is enough"
            )
            main()
