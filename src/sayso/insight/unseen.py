"""Whether anything like a call was ever approved: what a card shows, and what the policy hears.

Only to be seen before spares a call nothing that it would not be spared anyway: the policy hears
of calls that are new, and may want people for them. What cases say never reaches it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sayso.insight.case import Case, as_text, clipped, is_case
from sayso.insight.nearest import (
    Scored,
    Sought,
    candidates,
    ranked,
    shown,
    sought,
)
from sayso.insight.reading import asks_of
from sayso.insight.words import words_of
from sayso.model.content import Proposal
from sayso.model.digest import canonical
from sayso.store.casebook import CaseFilter, CaseRow, seen_by_team
from sayso.store.contract import Store

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Face:
    """A text of a case that a call is compared with, and whether people agreed to that text.

    A case that was edited has two: what was approved, and what was proposed and cut down.
    """

    found: Scored
    agreed: bool


def precedents(store: Store, proposal: Proposal, bound: float, team: str | None) -> str:
    """Look up the nearest cases of the same tool, as JSON for the card.

    Whoever sees the card sees them, so they are those of its team, and those of none.

    A call has been seen if something that was approved reaches the bound, and nothing reaches it
    that people refused, answered, or edited before they approved it.
    """
    wanted = CaseFilter(tool=proposal.tool, kind="action", teams=seen_by_team(team))
    faces = _faces(store, as_text(proposal.args), wanted)
    chosen = _chosen(faces, bound)
    cases = {case.id: case for case in shown(store, [face.found for face in chosen])}
    nearest = [(cases[face.found.row.id], face) for face in chosen if face.found.row.id in cases]
    near = [face for face in chosen if face.found.score >= bound]
    seen = all(face.agreed for face in near) and any(
        face.agreed and face.found.score >= bound for _, face in nearest
    )
    return canonical(
        {
            "bound": bound,
            "of": store.count_cases(wanted),
            "unseen": not seen,
            "nearest": [_brief(case, face) for case, face in nearest],
        }
    )


def _faces(store: Store, text: str, wanted: CaseFilter) -> list[_Face]:
    """Return what cases proposed and what they approved, the most alike first."""
    wish = sought(store, text)
    # Searched apart: many that were approved must not crowd out the one that was refused.
    good = candidates(store, wish, wanted._replace(verdicts=("approve",)))
    bad = candidates(store, wish, wanted._replace(verdicts=("edit", "reject", "respond")))
    agreed = [Scored(row, wish.likeness(row.about.split())) for row in good]
    agreed += _as_approved(store, wish, [row for row in bad if row.verdict == "edit"])
    against = [Scored(row, wish.likeness(row.about.split())) for row in bad]
    # Of two that are equally alike the one that was refused comes first.
    faces = [_Face(one, agreed=False) for one in ranked(against)]
    faces += [_Face(one, agreed=True) for one in ranked(agreed)]
    return sorted(faces, key=lambda face: face.found.score, reverse=True)


def _as_approved(store: Store, wish: Sought, rows: Sequence[CaseRow]) -> list[Scored]:
    """Compare with what was approved of cases that were edited: the index has what was proposed."""
    edited = {row.id: row for row in rows}
    asks = [ask for ask in asks_of(store, list(edited)) if is_case(ask)]
    return [Scored(edited[ask.id], wish.likeness(words_of(as_text(ask.args)))) for ask in asks]


def _chosen(faces: Sequence[_Face], bound: float) -> list[_Face]:
    """Return the nearest, each case once; what makes the call unseen is always among them."""
    against = [face for face in faces if not face.agreed and face.found.score >= bound][:1]
    chosen = {face.found.row.id: face for face in against}
    for face in faces:
        if len(chosen) == _SHOWN:
            break
        chosen.setdefault(face.found.row.id, face)
    return sorted(chosen.values(), key=lambda face: face.found.score, reverse=True)


def _brief(case: Case, face: _Face) -> dict[str, object]:
    said = [*case.edits, *([case.note] if case.note else [])]
    return {
        "id": case.id,
        "score": face.found.score,
        "verdict": case.verdict,
        "agreed": face.agreed,
        "by": case.by,
        "about": clipped(case.about, 120),
        "said": clipped("; ".join(said), 120),
    }
