"""The mail and the calendar of one person, in the current folder, to be looked at by anybody.

Mail is a Maildir, ./mail; what was sent is in its folder `sent`. A meeting is a line of
./calendar.jsonl.
"""

import json
from email import message_from_bytes, policy
from email.message import EmailMessage
from mailbox import Maildir
from pathlib import Path
from typing import Any

CALENDAR = Path("calendar.jsonl")


def inbox() -> Maildir:
    return Maildir("mail")


def sent() -> Maildir:
    return inbox().add_folder("sent")


def put(box: Maildir, head: dict[str, str], body: str) -> str:
    mail = EmailMessage()
    for name, value in head.items():
        mail[name] = value
    mail.set_content(body)
    return box.add(mail)


def read(box: Maildir, key: str) -> str:
    mail = message_from_bytes(box.get_bytes(key), policy=policy.default)
    head = [f"{name}: {mail[name]}" for name in ("From", "To", "Cc", "Subject") if mail[name]]
    body = mail.get_body(("plain",))
    return "\n".join([*head, "", body.get_content() if body else "(no text)"]).strip()


def mark_answered(key: str) -> None:
    box = inbox()
    mail = box[key]
    mail.set_subdir("cur")
    mail.set_flags("RS")
    box[key] = mail


def meetings() -> list[dict[str, Any]]:
    lines = CALENDAR.read_text().splitlines() if CALENDAR.exists() else []
    return [json.loads(line) for line in lines]


def book(**meeting: object) -> None:
    with CALENDAR.open("a") as calendar:
        calendar.write(f"{json.dumps(meeting)}\n")
