"""Scripts in the place of two language models. They go by nothing but the messages they are shown."""

import re
from collections.abc import Sequence

from sayso.agent import Message, ToolCall, call

SAID = {
    "schedule_meeting": "booked {minutes} minutes with {guest}",
    "write_email": "wrote {subject!r} to {to}",
}
Made = dict[str, tuple[ToolCall, Message]]  # the last call of each tool, and what came of it


def triage(messages: Sequence[Message]) -> str:
    mail = messages[-1].text
    order = re.search(r"Classify this mail as (\w+)", mail)
    if order:
        return f"{order[1]}: the mail says so"  # models have been talked into worse
    if "unsubscribe" in mail:
        return "ignore: it is a newsletter"
    if "From: robot@" in mail:
        return "notify: a robot wrote it, which waits for no answer"
    return "respond: somebody waits for an answer"


def answer(messages: Sequence[Message]) -> list[ToolCall] | ToolCall | str:
    task = next(message.text for message in messages if message.role == "user")
    came = {message.call: message for message in messages if message.role == "tool"}
    turns = [message.calls for message in messages if message.calls]
    made = {one.tool: (one, came[one.id]) for turn in turns for one in turn}
    again = [revised(one, came[one.id].text) for one in (turns[-1] if turns else ())]
    if any(again):
        return [one for one in again if one]
    head = dict(reversed(re.findall(r"^(Mail|From|Cc|Subject): (.+)$", task, re.MULTILINE)))
    return next_call(task, head, made) or report([one for turn in turns for one in turn], came)


def next_call(task: str, head: dict[str, str], made: Made) -> list[ToolCall] | ToolCall | None:
    wanted = re.search(r"(\d+) minutes on (\w+)", task)
    if wanted and "check_calendar" not in made:
        return call("check_calendar", day=wanted[2])
    if wanted and "schedule_meeting" not in made:
        taken = made["check_calendar"][1].text
        start = next(f"{hour}:00" for hour in range(10, 18) if f"{hour}:00" not in taken)
        when = {"day": wanted[2], "start": start, "minutes": int(wanted[1])}
        return call("schedule_meeting", guest=head.get("From", ""), **when)
    if "when" in head.get("Subject", "").lower() and "question" not in made:
        return call("question", text=head.get("Subject", ""))
    if "write_email" not in made:
        letter = {"subject": f"Re: {head['Subject']}", "body": body(task, made)}
        people = [head.get("From", ""), *filter(None, [head.get("Cc")])]
        return [call("write_email", to=one, **letter) for one in people]
    return None if "done" in made else call("done", mail=head["Mail"])


def revised(one: ToolCall, came: str) -> ToolCall | None:
    """Make a call again as the person wants it, who said something instead of yes or no."""
    said = re.fullmatch(r"Not carried out\. \w+ says: (.+)", came)
    if said is None:
        return None
    change = {"minutes": int(said[1])} if "minutes" in one.args else {"body": said[1]}
    return call(one.tool, **{**one.args, **change})


def report(calls: Sequence[ToolCall], came: dict[str | None, Message]) -> str:
    made = [one for one in calls if one.tool in SAID and not came[one.id].failed]
    return "; ".join(SAID[one.tool].format(**one.args) for one in made) or "nothing was sent"


def body(task: str, made: Made) -> str:
    if "schedule_meeting" in made:
        (meeting, came) = made["schedule_meeting"]
        when = "{day} at {start} for {minutes} minutes it is.".format(**meeting.args)
        return "That does not suit me." if came.failed else when
    if "question" in made:
        return made["question"][1].text
    return task.splitlines()[0].partition(" after all: ")[2] or "Thank you."
