"""What the declaration of a tool means for a call: what is taken from it, and what is refused.

Whoever asks from elsewhere names a tool and its arguments. All else about the tool is as the desk
has it declared; a request adds to that and replaces nothing (E47).
"""

from __future__ import annotations

from typing import Any

from sayso.errors import BadValue
from sayso.model.content import Content, Proposal
from sayso.model.declaration import COMPUTED, Declaration, Fit, fit, grave, widened
from sayso.model.digest import canonical, read
from sayso.model.text import one_line
from sayso.model.tool import HIDDEN


def as_declared(declared: Declaration, content: Content) -> Content:
    """Return what somebody elsewhere asks for as its tool is declared.

    Raises:
        BadValue: its arguments do not fit, or it hides one that is no secret; `path` names it.
    """
    args = content.proposal.args
    for name in content.hidden:
        if name not in declared.secret:
            raise BadValue(
                f"{declared.name} declares no secret argument {one_line(name, 60)!r}, so people see "
                "its value. Send the value, and leave the name out of hidden=.",
                path="hidden",
            )
    kept = {name: HIDDEN for name in declared.secret if name in args}
    args |= kept
    found = fit(declared, args)
    if found.wrong:
        where, what = next(iter(found.wrong.items()))
        raise BadValue(
            f"The arguments do not fit what is declared of {declared.name}: {where}: {what}",
            path=f"args.{where}",
        )
    return content.changed(
        proposal=Proposal(declared.name, canonical(args), _shape(declared, args)),
        hidden=tuple(kept),
        stakes=_stakes(declared, content.stakes),
        declared=True,
        **_said(declared, content),
    )


def as_ruled(declared: Declaration, content: Content) -> Content:
    """Return a call as rules are to see it: as it was put, and not milder than is declared by now."""
    return content.changed(**_said(declared, content))


def fitting(declared: Declaration, content: Content) -> Fit:
    """Return how a call that was put before fits what is declared by now."""
    if not declared.shapes and not content.posted:
        return Fit()  # only its tier is known, and its code knows its arguments
    args = content.proposal.args
    shown = [name for name in content.hidden if name not in declared.secret]
    if content.posted and shown:
        return Fit((), dict.fromkeys(shown, "is no secret, and its value is not there"))
    if content.posted:
        args |= {name: HIDDEN for name in declared.secret if name in args}
    return fit(declared, args)


def _said(declared: Declaration, content: Content) -> dict[str, Any]:
    return {
        "risk": _risk(declared, content),
        "reversible": _reversible(declared.reversible, content),
        "affects": declared.affects or content.affects,
    }


def _risk(declared: Declaration, content: Content) -> Any:  # noqa: ANN401 - a word
    """Return the graver of what is declared and what was stated.

    One that only code can tell is the worst there is, unless that code put the call itself.
    """
    if declared.risk is None:
        return content.risk
    if declared.risk == COMPUTED:
        return declared.worst if content.posted else content.risk
    if content.risk is not None and grave(content.risk) < grave(declared.risk):
        return content.risk
    return declared.risk


def _reversible(declared: bool | None, content: Content) -> bool | None:  # noqa: FBT001
    """Return whether it can be undone. A request that says so is not believed; one that denies is."""
    if declared is False or content.reversible is False:
        return False
    return declared if content.posted else content.reversible


def _shape(declared: Declaration, args: dict[str, Any]) -> str | None:
    """Return the schema that people edit by: the first, with what nobody declared beside it."""
    return widened(declared.shapes[0], args) if declared.shapes else None


def _stakes(declared: Declaration, stakes: str | None) -> str | None:
    """Return what a call counts for. What code sorts, only that code can sort, so it earns nothing."""
    if stakes is None or declared.bucket:
        return None
    if declared.matters is None:
        return stakes
    return canonical({**read(stakes), "matters": list(declared.matters)})
