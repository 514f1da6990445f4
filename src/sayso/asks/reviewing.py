"""What people do with an ask, from Python: decide it, take that back, look into it."""

from __future__ import annotations

from sayso.asks.docket import Docket
from sayso.errors import BadValue, Misuse, UnknownAsk
from sayso.model.ask import Ask, Ballot
from sayso.model.span import Span, span
from sayso.model.verdicts import RejectKind, Verdict


class Reviews:
    """The verbs of reviewers."""

    docket: Docket

    def decide(
        self,
        ask: Ask | str,
        verdict: Verdict,
        *,
        seen: str | None = None,
        by: str | None = None,
        args: object = None,
        answer: object = None,
        option: str | None = None,
        note: str | None = None,
        kind: RejectKind | None = None,
        end: bool = False,
        tool: str | None = None,
        hold: Span = 0,
        harmful: bool | None = None,
    ) -> Ask:
        """Record one person's verdict, and return the ask afterwards.

        Of any number of people deciding at once one wins; the others get
        `AskClosed`, which carries the winner's decision.

        Args:
            ask: The ask as it was shown, or its id; with an id, `seen` is required.
            verdict: `approve`, `edit`, `reject` or `respond`.
            seen: The digest of what was shown.
            by: Who decides; may be left out in solo mode.
            args: What an edit changes.
            answer: What a response says.
            option: The label of the chosen option.
            note: A word to the agent.
            kind: Why a rejection: `harmful`, `taste` or `not-now`.
            end: With a rejection: end the run.
            tool: The tool an edit is meant for; it can never change it.
            hold: For how long the decision can be taken back before it counts.
            harmful: With an edit: whether the call would have done harm as it was proposed.

        Raises:
            AskClosed: somebody was faster; the error carries their decision.
            AskChanged: what was seen is not what is shown now.
            VerdictNotAllowed, InvalidEdit, InvalidAnswer: it does not fit; nothing changed.
            UnknownPerson, Forbidden, CallerGone: it may not be decided so; nothing changed.
        """
        if verdict not in ("approve", "edit", "reject", "respond"):
            raise BadValue(f"{verdict!r} is no verdict: approve, edit, reject or respond.")
        ballot = Ballot(
            verdict=verdict,
            args=args,
            answer=answer,
            option=option,
            note=note,
            kind=kind,
            end=end,
            tool=tool,
            hold=span(hold).total_seconds() if hold else 0.0,
            harmful=harmful,
        )
        digest = _seen(ask, seen)
        return self.docket.decide(id_of(ask), ballot, seen=digest, by=by)

    def approve(
        self,
        ask: Ask | str,
        *,
        option: str | None = None,
        note: str | None = None,
        by: str | None = None,
        seen: str | None = None,
        hold: Span = 0,
    ) -> Ask:
        """Say yes to what was shown; for a choice, name the `option`."""
        return self.decide(ask, "approve", option=option, note=note, by=by, seen=seen, hold=hold)

    def edit(
        self,
        ask: Ask | str,
        changes: object,
        *,
        note: str | None = None,
        by: str | None = None,
        seen: str | None = None,
        hold: Span = 0,
        harmful: bool | None = None,
    ) -> Ask:
        """Say yes with changes: a patch of arguments, the new text of a draft, new steps of a plan.

        `harmful` says whether the call would have done harm as it was: it counts for the trust in the
        agent where the edit touches what matters.
        """
        return self.decide(
            ask, "edit", args=changes, note=note, by=by, seen=seen, hold=hold, harmful=harmful
        )

    def reject(
        self,
        ask: Ask | str,
        note: str | None = None,
        *,
        kind: RejectKind | None = None,
        end: bool = False,
        by: str | None = None,
        seen: str | None = None,
        hold: Span = 0,
    ) -> Ask:
        """Say no, perhaps why, and of which kind: `harmful`, `taste` or `not-now`."""
        return self.decide(
            ask, "reject", note=note, kind=kind, end=end, by=by, seen=seen, hold=hold
        )

    def respond(
        self,
        ask: Ask | str,
        answer: object = None,
        *,
        note: str | None = None,
        by: str | None = None,
        seen: str | None = None,
        hold: Span = 0,
    ) -> Ask:
        """Answer: a question with its value, anything else with words for the agent."""
        return self.decide(ask, "respond", answer=answer, note=note, by=by, seen=seen, hold=hold)

    def take_back(self, ask: Ask | str, note: str | None = None, *, by: str | None = None) -> Ask:
        """Take one's word on a settling ask back: it is open again, without that vote.

        Raises:
            AskClosed: it is too late.
            Misuse: nothing is settling.
            Forbidden: this person said nothing that could be taken back.
        """
        return self.docket.take_back(id_of(ask), by=by, note=note)

    def claim(self, ask: Ask | str, *, by: str | None = None) -> Ask:
        """Say that one is looking into an ask. Others may still decide it.

        Raises:
            Claimed: somebody else is looking into it.
            AskClosed, Forbidden: it is closed, or this person could not decide it.
        """
        return self.docket.claim(id_of(ask), by=by)

    def assign(self, ask: Ask | str, to: str | None, *, by: str | None = None) -> Ask:
        """Give an ask to somebody to look into, or with `None` to nobody in particular.

        Raises:
            AskClosed, Forbidden, UnknownPerson: it is closed, or they could not decide it.
        """
        return self.docket.assign(id_of(ask), to, by=by)


def id_of(ask: Ask | str) -> str:
    """Return the id; what is neither an ask nor an id is an ask that nobody knows."""
    if not isinstance(ask, Ask | str):
        raise UnknownAsk(ask)
    return ask if isinstance(ask, str) else ask.id


def _seen(ask: Ask | str, seen: str | None) -> str:
    """Return the digest that a decision is about."""
    ask_id = id_of(ask)
    digest = seen if seen is not None or isinstance(ask, str) else ask.digest
    if not isinstance(digest, str):
        raise Misuse(
            f"To decide {ask_id} by its id, name the digest you saw: seen=ask.digest "
            f"(sayso inbox show {ask_id} prints it)."
        )
    return digest
