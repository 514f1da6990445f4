"""The assistant: sorts a mail, asks its person, answers and schedules; nothing leaves unseen."""

import office
import sayso
import scripts

desk = sayso.Desk()
SENSITIVE = ["write_email", "schedule_meeting"]  # a person sees these calls first; the others run
LONGEST = 20_000  # characters of a mail; all of it stays in the mailbox
RULES = "Say respond, notify or ignore about the mail that you are given, a colon, and why."


def check_calendar(day: str) -> list[str]:
    """List when the meetings of a day begin."""
    return [meeting["start"] for meeting in office.meetings() if meeting["day"] == day]


def schedule_meeting(guest: str, day: str, start: str, minutes: int) -> str:
    """Put a meeting into the calendar."""
    office.book(day=day, start=start, minutes=minutes, guest=guest)
    return f"{minutes} minutes with {guest}, {day} {start}"


@sayso.tool(reversible=False)
def write_email(to: str, subject: str, body: str) -> str:
    """Send a mail."""
    office.put(office.sent(), {"To": to, "Subject": subject}, body)
    return f"sent to {to}"


@sayso.tool(asks=True)
def question(text: str) -> str:
    """Ask the person whose mail this is."""
    said = sayso.question(text)
    return "They gave no answer." if said is None else str(said)


def done(mail: str) -> str:
    """Mark a mail as dealt with."""
    office.mark_answered(mail)
    return "marked"


triage = sayso.Agent("triage", sayso.ScriptedModel(scripts.triage), instructions=RULES)
assistant = sayso.Agent(
    "assistant",
    sayso.ScriptedModel(scripts.answer),
    [check_calendar, schedule_meeting, write_email, question, done],
    confirm=SENSITIVE,
)


def read(mail: str) -> str:
    return office.read(office.inbox(), mail)[:LONGEST]


@desk.workflow
def assist(run: sayso.Running, mail: str) -> str:
    text = run.step(read, mail)
    word, _, reason = run.agent(triage, text).partition(": ")
    if word == "ignore":
        return f"ignored: {reason}"
    wish = ""
    if word != "respond":  # notify; or a word that nobody asked for, which a person had better see
        title = text.partition("\n\n")[0].replace("\n", ", ")[:200]
        said = run.notice(title, {"triage": word, "mail": text}, why=reason)
        if said == "ignore":
            return f"ignored by a person; triage said {word}: {reason}"
        wish = f"The person wants it answered after all: {said.text or 'as you see fit'}\n"
    return str(run.agent(assistant, f"{wish}Mail: {mail}\n{text}"))
