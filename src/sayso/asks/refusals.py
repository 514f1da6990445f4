"""The words in which a model hears that its call was not made: the same for every agent and host."""

from __future__ import annotations

from sayso.errors import (
    Answered,
    BadValue,
    Denied,
    NotApproved,
    Rejected,
    SaysoError,
    Skipped,
    StepFailed,
)

AGAIN = "Do not make this call again"
_NO = f"{AGAIN}. Go on another way, or say in your answer that it was not done."


def told(problem: SaysoError) -> str:
    """Return what a model should hear of a call that has no result, as a gate with `tell=True` does.

    Args:
        problem: The error that a gate raised: `Rejected` (by a person, by the clock, withdrawn),
            `Answered`, `Skipped`, `Denied`, or another one of sayso.

    Raises:
        BadValue: it is none of sayso's. A tool that failed has no words of ours.
    """
    if isinstance(problem, Answered):
        return f"Not carried out. {problem.by} says: {problem.text}"
    if isinstance(problem, Skipped):
        who = problem.by or "a person"
        return (
            f"It is not known whether this happened, and {who} said to leave it at that. {AGAIN}."
        )
    if not isinstance(problem, SaysoError):
        raise BadValue(
            f"told() takes an error of sayso, such as Rejected; {type(problem).__name__} is none. "
            "Let it be raised: the tool has failed."
        )
    return _unmade(problem) or str(problem)


def _unmade(problem: SaysoError) -> str | None:
    """Say why a call was never begun; nothing, if it may have been."""
    match problem:
        case Rejected():
            return f"Not carried out: {_why(problem)} {_NO}"
        case Denied():
            return f"Not carried out: {sentence(str(problem))} {_NO}"
        case StepFailed(kind="Denied"):
            return f"Not carried out: {sentence(problem.message)} {_NO}"
        case NotApproved():
            return f"Not carried out: {sentence(str(problem))}"
        case StepFailed(kind="NotApproved"):
            return f"Not carried out: {sentence(problem.message)}"
        case _:
            return None


def _why(no: Rejected) -> str:
    """Say who refused, or that nobody decided."""
    decision = no.decision
    if decision is None:
        return "the question was taken back before anybody decided it."
    if decision.by.kind == "clock":
        return sentence(no.note or "nobody decided in time")
    return f"{no.by} said no: {sentence(no.note)}" if no.note else f"{no.by} said no."


def sentence(text: str) -> str:
    """Return what somebody said with an end to it, so that ours can follow."""
    return text if text.rstrip()[-1:] in (".", "!", "?") else f"{text.rstrip()}."
