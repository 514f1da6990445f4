"""What the assistant can do, and its models: functions of what they are shown."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage

SENT: list[str] = []


def write_email(to: str, subject: str, content: str) -> str:
    """Send a mail."""
    SENT.append(f"mail to {to}: {subject}")
    return f"Email sent to {to}: {content}"


def schedule_meeting(attendees: list[str], subject: str, duration_minutes: int) -> str:
    """Put a meeting into the calendar."""
    SENT.append(f"meeting with {', '.join(attendees)}: {duration_minutes} minutes")
    return f"Meeting '{subject}' scheduled"


TOOLS: dict[str, Callable[..., str]] = {
    "write_email": write_email,
    "schedule_meeting": schedule_meeting,
}


def triage_model(email: str) -> Literal["ignore", "notify", "respond"]:
    """Sort a mail."""
    if "unsubscribe" in email:
        return "ignore"
    return "notify" if "build failed" in email else "respond"


def response_model(messages: Sequence[AnyMessage]) -> AIMessage:
    """Propose a meeting and a mail; write the mail again if the person wants it otherwise."""
    told = [str(message.content) for message in messages if message.type == "tool"]
    meeting = {"attendees": ["bob"], "subject": "Tax planning", "duration_minutes": 45}
    if not told:
        mail = {"to": "bob", "subject": "Re: tax planning", "content": "See you then."}
        return calling(schedule_meeting=meeting, write_email=mail)
    if "shorter" in told[-1]:
        return calling(write_email={"to": "bob", "subject": "Re: tax", "content": "OK."})
    return AIMessage("Done.")


def calling(**calls: dict[str, Any]) -> AIMessage:
    """Return a message with these calls."""
    made = [
        {"name": name, "args": args, "id": f"{name}-{len(str(args))}"}
        for name, args in calls.items()
    ]
    return AIMessage("", tool_calls=made)
