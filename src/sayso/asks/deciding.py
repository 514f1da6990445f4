"""Taking a verdict: checks, the vote, and the decision once enough people agree.

Everything is checked when it is submitted, against what is stored, so a
reviewer hears of a bad edit at once and the agent never does (E15). The
deadline and the lease are checked again by the statement that writes (E22).
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sayso.asks.deadlines import keep_time
from sayso.asks.identity import check_own, check_role, reviewer
from sayso.asks.lawbook import InForce, Lawbook
from sayso.asks.opening import without
from sayso.asks.praising import praise_of, speak
from sayso.asks.ruling import (
    critical,
    denied,
    other_version,
    outgrown,
    raised,
    rule,
    tighter,
    unchanged,
)
from sayso.asks.spending import resolution
from sayso.asks.standing import Standing, grow, stamped, standing, tries
from sayso.asks.vouching import learned
from sayso.asks.withdrawing import check_stop
from sayso.errors import (
    AskChanged,
    AskClosed,
    BadValue,
    CallerGone,
    Forbidden,
    InvalidAnswer,
    InvalidEdit,
    Settling,
    SignInAgain,
    VerdictNotAllowed,
)
from sayso.model.actor import Actor, Origin
from sayso.model.ask import CONSENTS, Ask, Ballot
from sayso.model.content import LIMIT, Content, check_words
from sayso.model.digest import canonical, frozen
from sayso.model.event import Event
from sayso.model.faults import violations
from sayso.model.folding import cast, raised_to, vote_of
from sayso.model.tally import decides
from sayso.model.text import one_line
from sayso.model.verdicts import REJECT_KINDS, Verdict
from sayso.store.contract import Append, Store

MOST_HOLD = 86_400.0
_EMPTY = "The answer is empty: write it, or give another verdict."
_EDITED = {"draft": "text", "plan": "steps"}


def decide(
    store: Store,
    ask_id: str,
    ballot: Ballot,
    *,
    seen: str,
    by: str | None,
    origin: Origin,
    law: Lawbook | None = None,
    fresh: bool = True,
) -> Ask:
    """Record one person's verdict on the version whose digest they saw.

    Returns the ask afterwards: decided, or still open if others must agree. The policy is
    asked again, on what would run: if it wants more than when the ask was opened, a new
    version says so, and nobody's earlier word counts for it. `fresh` says whether the person has
    just shown who they are; without that nothing critical is decided, on a desk with people.

    Raises:
        Denied: the policy does not allow it any more, or not as edited.
        SignInAgain: it is critical, or would be as edited, and they are not fresh.
        AskClosed: somebody was faster; the error carries their decision.
        AskChanged: what was seen is not what is shown now.
        VerdictNotAllowed, InvalidEdit, InvalidAnswer, Forbidden: nothing changed.
        BadPolicy: no policy can be used, so that nothing is approved.
        UnknownAsk: there is none of this id, or none that this person sees.
    """
    turn = tries(ask_id)
    while True:
        next(turn)
        at = standing(store, ask_id)
        if keep_time(store, at) is not None:
            continue
        person = reviewer(at.ask, at.roster, by, origin)
        check_shown(at, ballot.verdict, seen)
        asked = _held_against(store, law, at, ballot)
        _check_role(at, person, ballot.verdict, law)
        if at.ask.stake is not None and ballot.kind == "harmful":
            ballot = ballot._replace(hold=0.0)  # calls like it would run alone meanwhile
        said = _said(at.ask, ballot, seen, origin, asked)
        if ballot.end and at.ask.content.run is not None:
            check_stop(store, at.ask.content.run, by=by, origin=origin, but=ask_id)
        if not fresh and not at.roster.solo:
            _check_critical(at, asked, said)
        if not _lawful(store, at, asked, said, seen, person):
            continue
        appends, ask = _appends(at, person, ballot, said, asked)
        praise = praise_of(store, at, ask)
        lines = [] if praise else learned(store, at, ask)
        if not appends or store.commit(*appends, *resolution(store, ask), *lines):
            if praise:
                speak(store, praise)
            return ask


def _held_against(
    store: Store, law: Lawbook | None, at: Standing, ballot: Ballot
) -> InForce | None:
    """Return the law that a yes is held against once more; a no is always possible."""
    return law.current(store, at.law) if law is not None and ballot.verdict in CONSENTS else None


def _check_role(at: Standing, person: Actor, verdict: Verdict, law: Lawbook | None) -> None:
    """Refuse a vote that could not count.

    While no policy can be used, the roles that it would give do not count: then that is the reason.
    """
    try:
        check_role(at.ask, person, at.roster, verdict=verdict)
    except Forbidden as error:
        broken = None if law is None else law.broken
        raise broken or error from None


def _check_critical(at: Standing, law: InForce | None, said: dict[str, Any]) -> None:
    if critical(_proposed(at.ask, said), law, at.now):
        raise SignInAgain(f"Deciding {at.ask.id}, which is critical,")


def _proposed(ask: Ask, said: dict[str, Any]) -> Content:
    """Return what this verdict is about: an edit is about what it makes of it."""
    args = said.get("args")
    return ask.content if args is None else ask.content.with_args(args)


def _lawful(
    store: Store, at: Standing, law: InForce | None, said: dict[str, Any], seen: str, person: Actor
) -> bool:
    """Ask the policy of now about what would run. An edit carries what it wants along.

    Returns false if somebody else was faster, and it has to be looked at again.

    Raises:
        Denied: it is not allowed.
        AskChanged: it wants more people now; the new version says so.
        Forbidden: as edited, it is for others than whoever asked for it.
        UnknownRole, Unsatisfiable: it wants people that this desk does not have.
    """
    args = said.get("args")
    if law is None or (args is None and unchanged(law, at.ask.content)):
        return True
    content = _proposed(at.ask, said)
    if content.kind == "doubt":
        return True
    ruling = rule(law, content, at.now, requested=content.ruled.requested)
    if ruling.effect == "deny":
        raise denied(content, ruling)
    if not (outgrown(at.ask, ruling) if args is None else tighter(content, ruling, at.now)):
        return True
    more = raised(content, ruling, at.now)
    to = raised_to(content, more)
    to.needs.check(without(at.roster, to))
    if args is not None:
        if not at.roster.solo:  # an edit carries the editor's vote
            check_own(at.ask, to, person)
        said["raised"] = more
        return True
    payload = stamped(Origin("policy", ""), **more)
    actor = Actor("policy", ", ".join(ruling.rules) or ruling.tier or "default")
    event, ask = grow(at.ask, "ask.raised", at=at.now, actor=actor, payload=payload)
    if store.commit(Append(event=event, ask=ask, law=law.mark)):
        raise AskChanged(ask, one_line(seen, 64), ask.content.sentence)
    return False


def check_shown(at: Standing, verdict: Verdict, seen: str) -> None:
    """Refuse a verdict on what is closed, or is not what was shown.

    Raises:
        AskClosed, Settling, AskChanged, CallerGone, VerdictNotAllowed: says which.
    """
    ask = at.ask
    if ask.settling:
        raise Settling(ask, attempted=verdict)
    if not ask.open:
        raise AskClosed(ask, attempted=verdict)
    if seen != ask.digest:
        raise AskChanged(ask, one_line(seen, 64))
    if ask.gone and ask.acts(verdict):
        raise CallerGone(ask)
    if verdict not in ask.allow:
        raise VerdictNotAllowed(ask, verdict, ask.allow)


def check_fits(ask: Ask, ballot: Ballot) -> None:
    """Refuse an edit or an answer that would be refused, before anybody is asked for a yes to it.

    Raises:
        InvalidEdit, InvalidAnswer, BadValue: says what does not fit.
    """
    _said(ask, ballot, ask.digest, Origin("terminal", ""))


def _appends(
    at: Standing, person: Actor, ballot: Ballot, said: dict[str, Any], law: InForce | None
) -> tuple[list[Append], Ask]:
    """Work out the events of this vote: perhaps a new version, then the vote or the decision."""
    ask = at.ask
    held = ask.acts(ballot.verdict)
    events = []
    if ballot.verdict == "edit":
        event, ask = grow(ask, "ask.edited", at=at.now, actor=person, payload=said)
        events.append(_vote_of(at, event, ask, law, held=held))
        said = {name: value for name, value in said.items() if name not in ("args", "raised")}
    kind = _kind_of(ask, person, said, at)
    if kind is None or (kind == "ask.voted" and events):
        return events, ask  # said before, or the edit itself carries the editor's vote
    hold = _hold(ask, ballot) if kind == "ask.decided" else 0.0
    if hold:
        kind = "ask.settling"
        # From what the journal will say of the time: a clock that was set back shortens nothing.
        since = max(at.now, ask.changed_at or at.now)
        said = {**said, "until": (since + timedelta(seconds=hold)).isoformat()}
    event, ask = grow(ask, kind, at=at.now, actor=person, payload=said)
    events.append(_vote_of(at, event, ask, law, held=held))
    return events, ask


def _vote_of(at: Standing, event: Event, ask: Ask, law: InForce | None, *, held: bool) -> Append:
    """Return the write of a person's word: in time, by somebody still there, under this very law."""
    return Append(
        event=event,
        ask=ask,
        before=at.ask.due_at,
        held=held,
        people=at.people,
        law=None if law is None else law.mark,
    )


def _hold(ask: Ask, ballot: Ballot) -> float:
    """Return for how long a decision can be taken back before it counts.

    What the policy wants is for a yes: a no can be followed by another question at any time.
    """
    wanted = ask.content.ruled.cool_off if ballot.verdict in CONSENTS else 0.0
    return max(ballot.hold, wanted)


def _kind_of(ask: Ask, person: Actor, said: dict[str, Any], at: Standing) -> str | None:
    """Whether this vote decides, merely counts, or repeats what the person said before."""
    if at.roster.solo:  # one word is enough
        return "ask.decided"
    vote = vote_of(person, said, ask, at.events[-1])
    if decides(ask, cast(ask.votes, vote), at.roster):
        return "ask.decided"
    same = (vote.verdict, vote.answer, vote.note)
    if any(old.by == person and (old.verdict, old.answer, old.note) == same for old in ask.votes):
        return None
    return "ask.voted"


def _said(
    ask: Ask, ballot: Ballot, seen: str, origin: Origin, law: InForce | None = None
) -> dict[str, Any]:
    """Return the checked verdict as it goes into the journal."""
    if ballot.kind is not None and (ballot.verdict != "reject" or ballot.kind not in REJECT_KINDS):
        raise BadValue(f"kind={ballot.kind!r}: a rejection may be {', '.join(REJECT_KINDS)}.")
    if ballot.harmful is not None and ballot.verdict != "edit":
        raise BadValue(
            "harmful= goes with edit: it says whether the call would have done harm unedited. Reject "
            "with kind='harmful' what must not be done at all."
        )
    if ballot.end and ballot.verdict != "reject":
        raise BadValue("end=True goes with reject only: it ends the run.")
    check_words(ballot.note, "note")
    if not 0 <= ballot.hold <= MOST_HOLD:
        raise BadValue(f"hold={ballot.hold!r}: a decision settles for 0 s to 1 d.")
    if ballot.args is not None and ballot.verdict != "edit":
        raise BadValue(f"{ballot.verdict!r} takes no arguments; to change them use 'edit'.")
    return stamped(
        origin,
        verdict=ballot.verdict,
        seen=seen,
        args=_edited_args(ask, ballot) if ballot.verdict == "edit" else None,
        answer=_answer(ask, ballot),
        note=ballot.note or None,
        kind=ballot.kind,
        end=ballot.end or None,
        harmful=ballot.harmful,
        ruled=other_version(law, ask.content),
    )


def _edited_args(ask: Ask, ballot: Ballot) -> dict[str, Any]:
    if ballot.tool is not None and ballot.tool != ask.tool:
        raise InvalidEdit(
            f"{ask.id} proposes {ask.tool!r}; an edit cannot make it {ballot.tool!r}. "
            "Reject it and let the agent propose the other tool."
        )
    name = _EDITED.get(ask.kind)
    given = {name: ballot.args} if name and not isinstance(ballot.args, dict) else ballot.args
    if not isinstance(given, dict) or not given:
        raise InvalidEdit("An edit names what changes, such as {'amount': 40}.")
    hidden = sorted(set(given) & set(ask.content.hidden))
    if hidden:
        raise InvalidEdit(f"{', '.join(hidden)} is hidden on this ask and cannot be edited.")
    try:
        kept = {name: ask.args[name] for name in ask.content.hidden if name in ask.args}
        edited = {**(kept if ballot.whole else ask.args), **frozen(given, what="edit")}
    except BadValue as error:
        raise InvalidEdit(str(error), fields={error.path: "cannot be stored"}) from error
    wrong = violations(ask.proposal.schema, edited)
    if wrong:
        raise InvalidEdit("The edit does not fit, and nothing was changed.", fields=wrong)
    if canonical(edited) == ask.proposal.arguments:
        raise InvalidEdit("The edit changes nothing; to accept it as it is, approve.")
    return edited


def _answer(ask: Ask, ballot: Ballot) -> Any:  # noqa: ANN401 - an answer is of the asked type
    takes = ask.meaning(ballot.verdict).takes
    if takes == "option":
        return _chosen(ask, ballot)
    if takes == "guidance":
        return _text(ballot, empty=True)
    if takes == "text":
        return _text(ballot, empty=False)
    if takes != "answer":
        if ballot.answer is not None:
            raise BadValue(f"{ballot.verdict!r} takes no answer here; put words into note=.")
        return None
    try:
        answer = frozen(ballot.answer, limit=LIMIT, what="answer")
    except BadValue as error:
        raise InvalidAnswer(str(error)) from error
    schema = ask.content.answer
    wrong = violations(schema, answer) if schema is not None else {}
    if wrong:
        raise InvalidAnswer("The answer does not fit the question.", fields=wrong)
    if ask.kind != "doubt" and isinstance(answer, str) and not answer.strip():
        raise InvalidAnswer(_EMPTY)  # a result that is an empty text is one
    return answer


def _text(ballot: Ballot, *, empty: bool) -> str:
    text = "" if ballot.answer is None else ballot.answer
    if not isinstance(text, str):
        raise InvalidAnswer(f"The answer here is text, not {type(text).__name__}.")
    if not text.strip() and not empty:
        raise InvalidAnswer(_EMPTY)
    try:
        return check_words(text, "answer") or ""
    except BadValue as error:
        raise InvalidAnswer(str(error)) from error


def _chosen(ask: Ask, ballot: Ballot) -> Any:  # noqa: ANN401 - an option's value may be anything
    labels = [option.label for option in ask.content.options]
    wanted = ballot.option if ballot.option is not None else ballot.answer
    for option in ask.content.options:
        if option.label == wanted:
            return {"option": option.label, "value": option.value}
    raise InvalidAnswer(f"{wanted!r} is none of the options: {', '.join(map(repr, labels))}.")
