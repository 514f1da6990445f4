"""What an ask says of past cases: whether nothing like it was approved, and the nearest ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from sayso.channels.fence import Fence, told
from sayso.model.ask import Ask
from sayso.model.digest import read
from sayso.model.text import one_line
from sayso.model.verdicts import VERDICTS

if TYPE_CHECKING:
    from rich.console import RenderableType


def cases_row(ask: Ask) -> RenderableType | None:
    """Draw the nearest cases of a call; `None` if nobody looked."""
    if ask.content.unseen is None:
        return None
    found = read(ask.content.unseen)
    style = "yellow" if found["unseen"] else ""
    return told(Text(_said(found), style=style), *_nearest(found["nearest"]))


def precedent(ask: Ask) -> str | None:
    """Say whether anything like it was approved before; `None` if nobody looked."""
    return None if ask.content.unseen is None else _said(read(ask.content.unseen))


def majority(verdicts: Sequence[str]) -> str:
    """Say what people mostly decided on the nearest cases: `4 of the 5 nearest were rejected, ...`."""
    (verdict, most), *others = Counter(verdicts).most_common()
    if not others:
        count = {1: "The nearest was", 2: "Both of the nearest were"}.get(
            most, f"All {most} nearest were"
        )
        return f"{count} {_past(verdict)}."
    rest = ", ".join(f"{count} {_past(other)}" for other, count in others)
    were = "was" if most == 1 else "were"
    return f"{most} of the {len(verdicts)} nearest {were} {_past(verdict)}, {rest}."


def _past(verdict: str) -> str:
    return next(said.past for name, said in VERDICTS["action"].items() if name == verdict)


def _said(found: dict[str, Any]) -> str:
    verdicts = [case["verdict"] for case in found["nearest"]]
    return " ".join([_sentence(found), *([majority(verdicts)] if verdicts else [])])


def _sentence(found: dict[str, Any]) -> str:
    bound = f"the bound is {found['bound']:.2f}"
    if not found["nearest"]:
        count = (
            f"none of {_cases(found['of'])} shares a word" if found["of"] else "there is no case"
        )
        return f"Nothing like it: {count}, {bound}."
    best = found["nearest"][0]
    reached = f"the nearest of {_cases(found['of'])} reaches {best['score']:.2f}, {bound}"
    if not found["unseen"]:
        return f"Like what was approved before: {reached}."
    if best["score"] < found["bound"]:
        return f"Nothing like it: {reached}."
    if not _agreed(best):
        return f"Nothing like it was approved: {reached}, and people did not agree to it."
    against = next((case for case in found["nearest"] if not _agreed(case)), best)
    return (
        f"People did not agree to one like it: {against['id']} reaches {against['score']:.2f}, "
        f"{bound}."
    )


def _agreed(case: dict[str, Any]) -> bool:
    return bool(case.get("agreed", case["verdict"] == "approve"))


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count:,}{'+' if count >= 1000 else ''} cases"


def _nearest(cases: list[dict[str, Any]]) -> Iterator[RenderableType]:
    for case in cases:
        by = one_line(str(case["by"]), 40)
        yield Text(f"{case['score']:.2f}  {case['id']}, {_past(case['verdict'])} by {by}:")
        yield Fence(str(case["about"]))
        if case["said"]:
            yield Fence(str(case["said"]))
