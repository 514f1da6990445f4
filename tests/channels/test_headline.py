"""A list has room for a few words, and they are ours."""

import pytest

from sayso import Desk
from sayso.channels.facts import BRIEF
from sayso.channels.headline import headline, named


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        (
            "payments.refund",
            {"customer": "Ada", "amount": 1240.0, "currency": "EUR", "note": "a\nb"},
            "Refund · 1,240.00 EUR · Ada",
        ),
        (
            "run_sql",
            {"database": "prod", "statement": "DROP TABLE a; DROP TABLE b"},
            "Run sql · DROP TABLE a and 1 more · prod",
        ),
        ("label", {"label": "bug", "ticket": 5521}, "Label · bug · ticket 5521"),
        (
            "send_mail",
            {"to": "all@corp.com", "subject": "Sale", "body": "..."},
            "Send mail · all@corp.com · Sale",
        ),
        ("delete", {"path": "/etc/passwd"}, "Delete · /etc/passwd"),
        ("noop", {}, "Noop"),
    ],
)
def test_a_call_is_told_by_what_sets_it_apart(
    desk: Desk, tool: str, args: dict[str, object], said: str
) -> None:
    assert headline(desk.open(tool, args)) == said


def test_the_title_an_agent_gives_its_call_is_not_the_headline(desk: Desk) -> None:
    """E29: the summary says one thing, the call does another."""
    ask = desk.open("drop_table", {"table": "users"}, title="Read the weather report")

    assert headline(ask) == "Drop table · users"


def test_a_question_is_its_own_headline(desk: Desk) -> None:
    assert headline(desk.later.question("Which region?").ask) == "Which region?"


@pytest.mark.parametrize("tool", ["…", "...", "_", "🔥", "a.b.", "<script>"])
def test_any_name_of_a_tool_says_something(tool: str) -> None:
    assert named(tool).strip()


def test_only_what_is_short_is_looked_at(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row of a list has a headline, and an agent decides how long its arguments are."""
    read: list[str] = []

    def counted(text: str) -> None:
        read.append(text)

    monkeypatch.setattr("sayso.channels.facts.blob_in", counted)
    texts = {f"k{number:03}": "x" * 3_000 for number in range(200)}
    ask = desk.open("tool", {**texts, "a_sql": "select 1 " + "/* a" * 4_990})

    assert headline(ask) == "Tool"
    assert sum(map(len, read)) <= 2 * BRIEF.all  # a text is asked once for each of two facts


def test_a_mail_with_a_long_body_is_told_by_whom_it_goes_to(desk: Desk) -> None:
    args = {"to": "all@corp.com", "subject": "Sale", "body": "word " * 10_000}

    assert headline(desk.open("send_mail", args)) == "Send mail · all@corp.com · Sale"
