"""What can be said to an ask, as numbered choices, and the command that says it.

Exactly the verdicts that are allowed are offered, under the words of
`model.verdicts`. A plan keeps its numbers whatever is allowed, because people
who know `1 approve, 2 modify, 3 cancel` from elsewhere type them by heart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sayso.model.ask import Ask
from sayso.model.verdicts import VERDICTS, Kind, Verdict, key_of

_ENDING, _ENDS = "End the run", "d"
# What no letter chooses: "c" at a plan may be meant as "Cancel".
_NO_LETTER: tuple[tuple[Kind, Verdict], ...] = (("plan", "respond"),)
_SAID: dict[Verdict, tuple[str, ...]] = {"approve": ("y", "yes"), "reject": ("n", "no")}
# Where a no means "go on without": a plan's no ends the run anyway, and a doubt is not about it.
_ENDED: tuple[Kind, ...] = ("action", "draft", "question", "choice", "notice")


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing to choose: by its number, its letter, or its words."""

    number: int
    letter: str
    button: str
    verdict: Verdict
    option: str | None = None
    end: bool = False
    also: tuple[str, ...] = ()

    def answers_to(self, typed: str) -> bool:
        """Whether somebody who typed this meant it."""
        if self.option is not None:
            return typed == str(self.number)
        return typed in (
            str(self.number),
            self.letter,
            self.button.lower(),
            self.verdict,
            *self.also,
        )


def offers(ask: Ask) -> tuple[Offer, ...]:
    """Return what can be chosen now: the options of a choice, the other verdicts, the run's end."""
    listed = ask.content.options if "approve" in ask.allow and ask.kind == "choice" else ()
    found = [
        Offer(number, "", option.label, "approve", option.label)
        for number, option in enumerate(listed, start=1)
    ]
    rest = [v for v in ask.allow if not (listed and v == "approve")]
    for place, verdict in enumerate(rest, start=len(found) + 1):
        number = tuple(VERDICTS["plan"]).index(verdict) + 1 if ask.kind == "plan" else place
        letter = "" if (ask.kind, verdict) in _NO_LETTER else key_of(ask.kind, verdict)
        also: tuple[str, ...] = ("cancel",) if verdict == "reject" else ()
        if "approve" in rest and ask.kind != "doubt":  # a yes or a no, and not an answer
            also += _SAID.get(verdict, ())
        button = ask.meaning(verdict).button
        found.append(Offer(number, letter, button, verdict, also=also))
    if ask.of_run and ask.kind in _ENDED and "reject" in ask.allow:
        found.append(Offer(len(found) + 1, _ENDS, _ENDING, "reject", end=True))
    return tuple(found)


def menu(ask: Ask) -> list[str]:
    """Return the lines that offer the choices. Options are numbered on the card already."""
    made = offers(ask)
    listed = [offer for offer in made if offer.option is not None]
    lines = ["Choose an option:"]
    if len(listed) == 1:
        lines.append("1. The option above")
    elif listed:
        lines.append(f"1-{len(listed)}. The option of that number")
    for offer in made[len(listed) :]:
        letter = f" ({offer.letter})" if offer.letter and ask.kind != "plan" else ""
        lines.append(f"{offer.number}. {offer.button}{letter}")
    return lines


def numbers(ask: Ask) -> str:
    """Return the numbers that can be typed: `1-4`, or `1, 3` when there are gaps."""
    given = [offer.number for offer in offers(ask)]
    whole = given == list(range(given[0], given[-1] + 1)) and len(given) > 1
    return f"{given[0]}-{given[-1]}" if whole else ", ".join(map(str, given))


def chosen(typed: str, ask: Ask) -> Offer | None:
    """Return what somebody meant by a line, `None` if it is none of the choices."""
    wanted = typed.strip().rstrip(".)").lower()
    return next((offer for offer in offers(ask) if wanted and offer.answers_to(wanted)), None)


def command(ask: Ask, *, desk: str | None = None) -> str:
    """Return the command line that decides an ask, naming the digest that was shown.

    A doubt is looked at first: no command that can be copied runs a call again.
    """
    where = f" --desk {desk}" if desk else ""
    if ask.kind == "doubt":
        return f"sayso inbox show {ask.id}{where}"
    verdict = ask.allow[0] if ask.allow else "approve"
    takes = ask.meaning(verdict).takes
    more = {"option": " --option N", "answer": " ANSWER", "text": " TEXT"}.get(takes, "")
    return f"sayso inbox {verdict} {ask.id}{more} --seen {ask.digest[:12]}{where}"


_SETTLES: Mapping[Verdict, str] = {"respond": " RESULT", "approve": "", "reject": ""}


def doubt_commands(ask: Ask, *, desk: str | None = None) -> list[str]:
    """Return the command of each answer to a doubt; the one that may pay twice says so."""
    where = f" --desk {desk}" if desk else ""
    again = {"approve": " --run-again"} if ask.asks_again("approve") else {}
    return [
        f"{ask.meaning(verdict).button}: sayso inbox {verdict} {ask.id}{_SETTLES[verdict]} "
        f"--seen {ask.digest[:12]}{again.get(verdict, '')}{where}"
        for verdict in ask.allow
        if verdict in _SETTLES
    ]
