"""Whether anything like a call was ever approved: what a card shows, and what the policy hears.

Only to be seen before spares a call nothing that it would not be spared anyway: the policy hears
of calls that are new, and may want people for them. What cases say never reaches it.
"""

from __future__ import annotations

from sayso.insight.case import Case, as_text
from sayso.insight.nearest import scored, shown
from sayso.model.content import Proposal
from sayso.model.digest import canonical
from sayso.model.text import one_line
from sayso.store.casebook import CaseFilter
from sayso.store.contract import Store

_SHOWN = 3


def precedents(store: Store, proposal: Proposal, bound: float) -> str:
    """Look up the nearest cases of the same tool, as JSON for the card.

    A call has been seen if the nearest case reaches the bound and was approved: that
    something like it was refused makes it no less unusual.
    """
    wanted = CaseFilter(tool=proposal.tool, kind="action")
    found = scored(store, as_text(proposal.args), wanted, whole=False)
    nearest = shown(store, found[:_SHOWN])
    seen = bool(nearest) and nearest[0].good and nearest[0].score >= bound
    return canonical(
        {
            "bound": bound,
            "of": store.count_cases(wanted),
            "unseen": not seen,
            "nearest": [_brief(case) for case in nearest],
        }
    )


def _brief(case: Case) -> dict[str, object]:
    said = [*case.edits, *([case.note] if case.note else [])]
    return {
        "id": case.id,
        "score": case.score,
        "verdict": case.verdict,
        "by": case.by,
        "about": one_line(case.about, 120),
        "said": one_line("; ".join(said), 120),
    }
