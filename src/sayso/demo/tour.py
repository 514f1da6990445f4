"""What visitors of the company see first, and where everything else is."""

from __future__ import annotations

from sayso.demo.billing import TRANSFER
from sayso.web.stops import Chapter, Stop, Tour

_STOPS = (
    Stop(
        "order 1190",
        "Approve a refund",
        "What would happen is read from the frozen call; what the agent says stands apart. "
        "Approve it. For eight seconds the button Undo (or Z) takes it back.",
    ),
    Stop(
        "renewals, annual",
        "Change it before it goes",
        "2,451 mails are about to leave. Change the subject, look at the difference, approve: "
        "what leaves is what you saw, and the agent sees its call as you made it.",
    ),
    Stop(
        "renewals, monthly",
        "Change a plan",
        "Remove the step that sends, and approve. The agent follows your plan, not its own.",
    ),
    Stop(
        "apology for Monday",
        "Send a draft back",
        "Say what is missing, and a new version comes, with what changed since the last one.",
    ),
    Stop(
        "Noor to Lisbon",
        "Choose",
        "Three flights and a deadline. One click (or 1, 2, 3) decides.",
    ),
    Stop(
        "ticket 5530",
        "Three calls of one turn",
        "Decide them together, or each by itself: the agent hears of all of them at once.",
    ),
    Stop(
        "contacts from the fair",
        "Watch it work",
        "Say yes, and see on the page of the tour how far it is. Kill the demo in the middle: started "
        "with --keep DIR (make demo DEMO='--keep DIR'), the next one goes on where it stopped.",
    ),
    Stop(
        TRANSFER,
        "Did it happen?",
        "The process that made this transfer was killed in the middle, for real. Nothing is "
        "repeated silently: you are asked.",
    ),
)

_CALLS = Chapter(
    "Calls that need a yes",
    (
        Stop("order 1182", "A large refund", "Before it, five like it were decided: beside it."),
        Stop("supplier payments of May", "A list of payments", "One of the five came twice."),
        Stop(
            "full disk",
            "A critical statement",
            "In a team it takes two people; here you type its name.",
        ),
        Stop(
            "ticket 5521",
            "Labels",
            "Of low risk: select several in the list, and decide them at once.",
        ),
        Stop(
            "ticket 5541",
            "Something nobody has seen before",
            "Closing tickets runs alone once people have approved a case like it. This is none.",
        ),
        Stop(
            "order 1101",
            "The same customer again",
            "The agent goes on with the memory of its thread, and knows what was paid before.",
        ),
        Stop("keys of the warehouse", "A plain yes or no", "Carried out by the program itself."),
        Stop(
            "broken parcels",
            "Vouchers that nobody waits for",
            "The agent wrote its report meanwhile, and hears of your decision later.",
        ),
    ),
)
_AGENTS = Chapter(
    "Agents and their plans",
    (
        Stop(
            "two days in Lucerne",
            "A plan, then each of its steps",
            "Approve the plan; every booking asks once more.",
        ),
        Stop(
            "customers of 2019",
            "A tool that asks while it runs",
            "Its backup was made before it asked, and is not made again.",
        ),
        Stop(
            "a slow shop",
            "An agent asks an agent, which asks you",
            "Your answer goes back all the way to the customer.",
        ),
        Stop(
            "request under Article 15",
            "Mail nobody had to answer",
            "Answer it after all, and the assistant proposes a mail and a meeting.",
        ),
    ),
)
_WORDS = Chapter(
    "Words and doubts",
    (
        Stop(
            "size of the market",
            "An answer that is not sure of itself",
            "Two sources disagree, so it asks. Correct it, and it is written again.",
        ),
        Stop(
            "summary of May",
            "Thumbs up or down",
            "Call it bad and say why: it is made again, and remembered for the next month.",
        ),
        Stop(
            "note to the team",
            "A draft that need not wait",
            "Look at it within the hour, or it goes out as it is: it was declared to be optional.",
        ),
        Stop(
            "press release",
            "Two readings in a row",
            "First what the law says, then whether it goes out.",
        ),
    ),
)
_QUESTIONS = Chapter(
    "Questions of every type",
    (
        Stop("market report: audience", "A text", "The style depends on it."),
        Stop("market report: interviews", "A number", "A word is refused, on its field."),
        Stop("market report: region", "One of three", "All of them have data."),
        Stop("market report: deadline", "A day", "With the calendar of your browser."),
        Stop("market report: sources", "A list", "One to a line."),
        Stop("revenue chart", "With a picture beside it", "And the numbers behind it."),
    ),
)


def tour(sayso: str, desk: str, again: str = "") -> Tour:
    """Return the tour of a company; `sayso` and `desk` are the command and its desk, as typed.

    `again` is the command line that opens the company anew.
    """
    commands = (
        (f"{sayso} top --desk {desk}", "Runs, asks and what happened lately, live; a approves."),
        (f"{sayso} inbox watch --desk {desk}", "Each ask as it comes, and what became of it."),
        (f"{sayso} runs list --desk {desk}", "Every run; `runs show ID` tells what one did."),
        (f"{sayso} audit verify --desk {desk}", "Nobody has changed a line of the journal."),
    )
    chapters = (_CALLS, _AGENTS, _WORDS, _QUESTIONS)
    return Tour("A small company, and you", _TEXT, _STOPS, chapters, commands, again)


_TEXT = (
    "Its agents have come as far as they may without you. Decide something, and a worker carries it "
    "on at once. Their models are scripts, so nothing leaves this machine; everything else is as it "
    "would be in yours."
)
