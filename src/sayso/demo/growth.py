"""Growth: an agent that plans first, and a text that two people read one after the other."""

from __future__ import annotations

from typing import Any, Literal

import sayso
from sayso.agent import ToolCall, call
from sayso.demo.jobs import Department, Job, Said
from sayso.demo.reading import Messages, plan_of, task_of, told

Segment = Literal["annual", "monthly", "lapsed"]
_SIZES: dict[str, int] = {"annual": 2451, "monthly": 9320, "lapsed": 688}


def count(segment: Segment) -> str:
    """Count the customers of a segment."""
    return f"{_SIZES[segment]:,} customers are {segment}."


def _preview(segment: str, subject: str, body: str) -> dict[str, object]:
    return {
        "recipients": _SIZES.get(segment, 0),
        "first of them": "Ada Lindqvist, Jonas Weber, Priya Nair",
        "subject": subject,
        "as Ada reads it": body.replace("{name}", "Ada"),
    }


@sayso.tool(
    risk="high",
    reversible=False,
    affects="customers",
    preview=_preview,
    impact=lambda segment, **_: f"{_SIZES.get(segment, 0):,} mails leave at once.",
)
def send_renewals(segment: Segment, subject: str, body: str) -> str:
    """Send the renewal mail to all customers of a segment."""
    return f"{_SIZES[segment]:,} mails with the subject {subject!r} were sent."


def think(messages: Messages, tools: tuple[str, ...]) -> list[Any] | ToolCall | str:
    """Stand in for a model: it follows the plan it is shown, not the one it made."""
    segment = next(name for name in _SIZES if name in task_of(messages))
    if tools == ("plan",):
        return [
            {"title": f"Count the {segment} customers", "tool": "count"},
            {"title": "Write the renewal mail", "detail": "Two sentences and the date."},
            {"title": f"Send it to the {segment} customers", "tool": "send_renewals"},
        ]
    verbs = {step.split()[0].lower() for step in plan_of(messages)}
    if "count" in verbs and not told(messages, "count"):
        return call("count", segment=segment)
    if "send" in verbs and not told(messages, "send_renewals"):
        return call("send_renewals", segment=segment, **_mail(segment))
    return (
        " ".join(told(messages, "send_renewals")) or "Nothing was sent: the plan does not say so."
    )


def _mail(segment: str) -> dict[str, Any]:
    return {
        "subject": "Your plan renews on 1 June",
        "body": "Dear {name},\n\nyour plan renews on 1 June at the price you know. "
        "Nothing to do; to change it, answer this mail.\n",
        "_why": f"The {segment} plans renew in 14 days, and the law wants a notice before that.",
        "_confidence": 0.78,
    }


agent = sayso.Agent(
    "growth", sayso.ScriptedModel(think), [count, send_renewals], plan_every=10, explain=True
)


_RELEASE = """\
Tea by subscription reaches 10,000 homes

The company doubled its customers within a year{claim}.
From June on, all parcels are sent without plastic."""


_CLAIM = " and is now the fastest tea house in the country"


def publish(text: str) -> str:
    """Put a text on the page of the press."""
    return f"Published: {text.splitlines()[0]}"


def press_release(run: sayso.Running) -> str:
    """Have a text read for what the law says, then for what it promises, then publish it."""

    def write(guidance: str | None) -> str:
        return _RELEASE.format(claim=_CLAIM if guidance is None else f" ({guidance})")

    legal = run.draft(write, title="Press release: may we say this?", agent="growth", why=_LEGAL)
    if legal is None:
        return "Dropped at the first reading."
    yes = run.confirm("Publish the press release?", {"text": legal}, agent="growth", why=_BRAND)
    return run.effect(publish, legal) if yes else f"Not published: {yes.note or 'no reason'}"


_LEGAL = "Fastest is a claim that somebody may want proven."
_BRAND = "The wording is settled; it goes out at ten."


def department() -> Department:
    """Return what growth is at: one plan to review, one mail to send, one that was sent."""
    past = (Said(), Said(verdict="edit", args={"subject": "We miss you"}, note="Warmer"))
    jobs = (
        Job("renewals, lapsed", agent, ("Write to the lapsed customers.",), past),
        Job("renewals, annual", agent, ("Tell the annual customers of the renewal.",), (Said(),)),
        Job("renewals, monthly", agent, ("Tell the monthly customers of the renewal.",)),
        Job("press release", press_release),
    )
    return Department((press_release,), jobs)
