"""Every error sayso raises, in one tree, split by whose fault it is.

```
SaysoError
├── Misuse                 the call itself is wrong; nothing was written
│   ├── BadValue           a value that cannot be stored, is too large, or is of the wrong shape
│   ├── UnknownAsk         no ask has this id
│   ├── UnknownRun         no run has this id
│   ├── UnknownFile        the ask has no file of this number
│   ├── UnknownPerson      nobody of this name may decide here
│   ├── UnknownRole        nobody could ever hold this role
│   ├── UnknownWebhook     no webhook, or no delivery, has this id
│   ├── UnknownKey         nothing is known of a key of this id
│   ├── UnknownTool        nothing is known of a tool of this name
│   ├── VerdictNotAllowed  this ask does not offer that verdict
│   ├── InvalidEdit        the edit breaks the schema; `fields` says where
│   ├── InvalidAnswer      the answer breaks the schema; `fields` says where
│   ├── Unsatisfiable      no set of people could ever meet this requirement
│   └── BadPolicy          a policy that makes no sense; `line` and `column` say where
├── Conflict               the call was right, the world had moved on
│   ├── AskClosed          somebody was faster; `decision` is theirs
│   ├── Settling           decided, and whoever did may still take it back
│   ├── AskChanged         the digest named is not the one that is shown now
│   ├── Claimed            somebody else is looking into it
│   ├── WouldStop          something nobody could decide any more; `stops` says what
│   ├── AlreadyReported    the harm of this call was reported before
│   ├── TooManyAsks        an agent asks more of people than the policy lets it
│   ├── TooManyTries       too many wrong passwords; `after` says when to try again
│   ├── KeyConflict        the idempotency key belongs to an ask with other content
│   ├── StillOpen          the time to wait is over and nobody has decided
│   ├── NotApproved        there is no approval to spend
│   ├── AlreadySpent       the approval was spent before
│   ├── CallerGone         the program that asked is no longer there to act
│   ├── FinishedLate       the effect had been given up; the result was kept as evidence
│   ├── ThreadBusy         another run of this thread is not over yet
│   ├── RunOver            the run has ended, so this came too late
│   └── StillRunning       the time to wait is over and the run is not
├── Forbidden              who asks may not do this
│   ├── AgentsCannotDecide an agent's credential was shown where people decide
│   ├── BadSignature       a webhook's message is forged, altered or replayed
│   ├── NotSignedIn        no credential, or one that does not count
│   ├── SignInAgain        signed in too long ago for this
│   └── WrongScope         the credential does not reach this far
├── Denied                 the policy does not allow this call, whoever asks
├── StoreError             the database could not do its part
│   ├── StoreBusy          locked by somebody else for too long
│   ├── StoreFull          no room left
│   ├── StoreUnavailable   not reachable, or the connection broke
│   ├── SchemaMismatch     the database is newer or older than this program
│   └── Tampered           what is stored is not what was written
├── RunError               what became of a run, or of a step in it
│   ├── Diverged           the code of a run no longer does what its journal says it did
│   ├── StepFailed         a step or a call failed; `kind` names the exception
│   ├── RunFailed          the run ended with an error
│   ├── RunCancelled       the run was cancelled
│   └── RunParked          the run cannot go on without a person
├── ModelFailed            the model did not reply, and will not to the same prompt
│   └── ModelUnavailable   not now: too many requests, a broken connection, an overloaded provider
└── Outcome                not faults: what people said, raised where a value was expected
    ├── Rejected           a person, or the clock, said no
    ├── Answered           a person answered instead of approving
    └── Skipped            in doubt whether it happened, a person said to leave it
```

Each class has a stable `code`, which the HTTP API sends too. The asks and
decisions they carry are described here by small protocols, because this
module is the floor of the house and imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar, Protocol


class _Who(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def id(self) -> str: ...


class _Decided(Protocol):
    @property
    def verdict(self) -> str: ...
    @property
    def by(self) -> _Who: ...
    @property
    def at(self) -> datetime: ...
    @property
    def note(self) -> str | None: ...
    @property
    def text(self) -> str | None: ...


class _Asked(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def decision(self) -> _Decided | None: ...
    @property
    def pending(self) -> _Decided | None: ...
    @property
    def settles_at(self) -> datetime | None: ...
    @property
    def past(self) -> str: ...


def _ending(ask: _Asked) -> str:
    decision = ask.decision
    if decision is None:
        return "was withdrawn"
    when = decision.at.strftime("%Y-%m-%d %H:%M UTC")
    return f"was {ask.past} by {decision.by.id} at {when}"


class SaysoError(Exception):
    """The root of everything sayso raises on purpose.

    Next: catch it to catch everything below, and go by `code`.
    """

    code: ClassVar[str] = "error"

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the way back from another process, whatever the constructor takes."""
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(
    kind: type[SaysoError], args: tuple[object, ...], attributes: dict[str, object]
) -> SaysoError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class Misuse(SaysoError):
    """The call itself is wrong. Nothing was written; correct it and call again.

    Next: read what the message says, and correct the call.
    """

    code = "misuse"


class BadValue(Misuse):
    """A value cannot be stored as it is; `path` says where it sits.

    It has no form in JSON, is too large, or is of the wrong shape.

    Next: read what the message says about the value, and give another one.
    """

    code = "bad-value"

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class UnknownAsk(Misuse):
    """No ask has this id.

    Or there is one that whoever asks may not see.

    Next: check the id, and that you and the program use the same desk (`SAYSO_URL`).
    """

    code = "unknown-ask"

    def __init__(self, ask_id: object) -> None:
        super().__init__(
            f"There is no ask {ask_id!r} on this desk. `sayso inbox list` shows what is open; "
            "check that the program and you use the same database (SAYSO_URL)."
        )
        self.ask_id = ask_id


class UnknownRun(Misuse):
    """No run has this id.

    Or there is one that whoever asks may not see.

    Next: check the id, and that you and the program use the same desk (`SAYSO_URL`).
    """

    code = "unknown-run"

    def __init__(self, run_id: object) -> None:
        super().__init__(
            f"There is no run {run_id!r} on this desk. `sayso runs list` shows them; check that "
            "the program and you use the same database (SAYSO_URL)."
        )
        self.run_id = run_id


class UnknownFile(Misuse):
    """The ask has no file of this number.

    Or what it said was erased.

    Next: look at `ask.content.files`; the first has the number 1.
    """

    code = "unknown-file"

    def __init__(self, ask_id: str, number: object, there: int) -> None:
        have = f"It has {there}, counted from 1" if there else "It has none"
        super().__init__(f"There is no file {number!r} beside {ask_id}. {have}.")
        self.ask_id = ask_id
        self.number = number


class UnknownPerson(Misuse):
    """Nobody of this name may decide here.

    Next: take a name that `sayso people list` shows, or add the person.
    """

    code = "unknown-person"

    def __init__(self, name: str, advice: str) -> None:
        super().__init__(f"{name!r} is not a person on this desk. {advice}")
        self.name = name


class UnknownRole(Misuse):
    """Nobody on this desk holds this role.

    Next: give the role to somebody, `sayso people add NAME --role ROLE`, or ask for another.
    """

    code = "unknown-role"

    def __init__(self, role: str, known: tuple[str, ...]) -> None:
        have = ", ".join(known) if known else "none yet"
        super().__init__(
            f"Nobody holds the role {role!r}. Roles in use: {have}. "
            f"Give it to somebody: sayso people add NAME --role {role}"
        )
        self.role = role
        self.known = known


class UnknownWebhook(Misuse):
    """No webhook, or no delivery to one, has this id.

    Next: take an id that `sayso webhooks list` or `deliveries` shows.
    """

    code = "unknown-webhook"

    def __init__(self, unknown: object, what: str = "webhook") -> None:
        shown = "sayso webhooks list" if what == "webhook" else "sayso webhooks deliveries"
        super().__init__(f"There is no {what} {unknown!r} on this desk. `{shown}` shows them.")
        self.unknown = unknown


class UnknownKey(Misuse):
    """Nothing is known of a key of this id: no call of it was ever judged.

    Next: take an id that `sayso trust` shows.
    """

    code = "unknown-key"

    def __init__(self, unknown: object) -> None:
        super().__init__(f"There is no key {unknown!r} on this desk. `sayso trust` shows them.")
        self.unknown = unknown


class UnknownTool(Misuse):
    """Nothing is known of a tool of this name, or no such source declares it.

    Next: take a name, and a source, that `sayso tools` shows.
    """

    code = "unknown-tool"

    def __init__(self, unknown: str, known: Iterable[str], source: str | None = None) -> None:
        listed = ", ".join(sorted(known)) or "none"
        if source is None:
            what = f"Nothing is known of a tool {unknown!r} here. Tools: {listed}."
        else:
            what = f"Nothing in {source!r} declares the tool {unknown!r}. Its code: {listed}."
        super().__init__(what)
        self.unknown = unknown


class VerdictNotAllowed(Misuse):
    """This ask does not offer that verdict.

    Next: take one of `allowed`.
    """

    code = "verdict-not-allowed"

    def __init__(self, ask: _Asked, attempted: str, allowed: tuple[str, ...]) -> None:
        super().__init__(
            f'{ask.id} "{ask.label}" cannot be decided with {attempted!r}. '
            f"It offers: {', '.join(allowed)}."
        )
        self.ask = ask
        self.attempted = attempted
        self.allowed = allowed


class _Invalid(Misuse):
    """What a person sent does not fit; `fields` maps each path to what is wrong with it."""

    def __init__(self, message: str, *, fields: dict[str, str] | None = None) -> None:
        self.fields = fields or {}
        detail = "; ".join(f"{path or 'value'}: {text}" for path, text in self.fields.items())
        super().__init__(f"{message} {detail}" if detail else message)


class InvalidEdit(_Invalid):
    """The edit does not fit the proposal. The ask is as it was.

    It breaks the schema, names another tool, or touches what is hidden.

    Next: correct what `fields` names, and send it again.
    """

    code = "invalid-edit"


class InvalidAnswer(_Invalid):
    """The answer does not fit the question. The ask is as it was.

    It is not of the type that was asked for.

    Next: correct what `fields` names, and send it again.
    """

    code = "invalid-answer"


class Unsatisfiable(Misuse):
    """No set of people on this desk could ever meet the requirement.

    Next: add people, or ask for less.
    """

    code = "unsatisfiable"


class BadPolicy(Misuse):
    """A policy makes no sense, so it is not in force. `file`, `line` and `column` say where.

    Or the people of the desk could never do what it wants.

    Next: correct the file; `sayso policy check` says what is wrong with it.
    """

    code = "bad-policy"

    def __init__(
        self, message: str, *, line: int | None = None, column: int | None = None, file: str = ""
    ) -> None:
        where = ":".join(str(part) for part in (file, line, column) if part)
        super().__init__(f"{where}: {message}" if file and where else message)
        self.reason = message
        self.file = file
        self.line = line
        self.column = column


class Conflict(SaysoError):
    """The call was right when it was made, but something else happened first.

    Next: look at how things stand now, then see whether it is still wanted.
    """

    code = "conflict"


class AskClosed(Conflict):
    """The ask is closed already. `decision` is the one that stands, `None` if it was withdrawn.

    Next: go by that decision. To ask once more, open a new ask.
    """

    code = "ask-closed"

    def __init__(self, ask: _Asked, *, attempted: str) -> None:
        super().__init__(
            f'{ask.id} "{ask.label}" {_ending(ask)}, so "{attempted}" came too late. '
            "Open a new ask to try again."
        )
        self.ask = ask
        self.attempted = attempted
        self.decision = ask.decision


class Settling(Conflict):
    """The ask is decided, and whoever decided it may still take that back. `pending` is what they said.

    Next: wait until it counts; whoever decided it may take it back until then.
    """

    code = "settling"

    def __init__(self, ask: _Asked, *, attempted: str) -> None:
        until = f"{ask.settles_at:%Y-%m-%d %H:%M:%S %Z}" if ask.settles_at else "soon"
        who = ask.pending.by.id if ask.pending else "somebody"
        what = ask.pending.verdict if ask.pending else "a verdict"
        super().__init__(
            f'{ask.id} "{ask.label}": {who} said {what}, which counts at {until} unless it is '
            f'taken back, so "{attempted}" came too late. To change it: sayso inbox take-back {ask.id}'
        )
        self.ask = ask
        self.attempted = attempted
        self.pending = ask.pending


class AskChanged(Conflict):
    """The digest named is not the one shown now. `ask` is what to look at again.

    Next: look at `ask` as it is now, and decide on that.
    """

    code = "ask-changed"

    def __init__(self, ask: _Asked, seen: str, reason: str = "") -> None:
        because = f" ({reason})" if reason else ""
        super().__init__(
            f'{ask.id} "{ask.label}" is not what was shown to you: you saw {seen[:12] or "nothing"}, '
            f"it is now {ask.digest[:12]}{because}. Look at it again and decide on that."
        )
        self.ask = ask
        self.seen = seen


class Claimed(Conflict):
    """Somebody else is looking into the ask: `by`.

    Next: ask them, or assign it to yourself.
    """

    code = "claimed"

    def __init__(self, ask: _Asked, by: str) -> None:
        super().__init__(
            f'{ask.id} "{ask.label}": {by} is looking into it. Ask them, or take it over by '
            f"assigning it: sayso inbox assign {ask.id} NAME"
        )
        self.ask = ask
        self.by = by


class WouldStop(Conflict):
    """Without this person nobody could decide something: `stops` says what. Nothing was changed.

    Next: give somebody else their roles first, or say that you are sure.
    """

    code = "would-stop"

    def __init__(self, name: str, stops: tuple[str, ...]) -> None:
        told = " ".join(one.rstrip(".") + "." for one in stops)
        super().__init__(
            f"{name} was not removed, because others cannot do all that they can. {told} Give "
            "somebody else their roles first, or say that you are sure: "
            f"sayso people remove {name} --yes, or sure=true."
        )
        self.name = name
        self.stops = stops


class AlreadyReported(Conflict):
    """Somebody reported the harm of this call before: `by`. It counts once.

    Next: nothing, it is in the record of the key; to add to it, leave a note on the ask.
    """

    code = "already-reported"

    def __init__(self, ask: _Asked, by: str) -> None:
        super().__init__(f'{ask.id} "{ask.label}": {by} has reported its harm already.')
        self.ask = ask
        self.by = by


class TooManyAsks(Conflict):
    """An agent asks more of people than the policy lets it. Nothing was opened; `after` says when to try.

    Next: try again after that, or once people have decided some; the pace is in the policy.
    """

    code = "too-many-asks"

    def __init__(self, agent: str, reason: str, after: float | None) -> None:
        when = "once some of them are decided" if after is None else f"in {after:.0f} s"
        super().__init__(
            f"{agent} {reason}. Nothing was opened; try again {when}, or change [agents] in the "
            "policy."
        )
        self.agent = agent
        self.after = after


class TooManyTries(Conflict):
    """Too many wrong passwords for one account from one place. `after` seconds on, try again.

    Next: wait, then try again.
    """

    code = "too-many-tries"

    def __init__(self, after: float) -> None:
        super().__init__(
            f"Too many wrong passwords from this address. Try again in {max(1, round(after))} s."
        )
        self.after = after


class KeyConflict(Conflict):
    """The idempotency key belongs to an ask with other content.

    Next: use a new key for a new question.
    """

    code = "key-conflict"

    def __init__(self, ask: _Asked, key: str) -> None:
        super().__init__(
            f'The key {key!r} belongs to {ask.id} "{ask.label}", which asks for something else. '
            "Use a new key for a new question."
        )
        self.ask = ask
        self.key = key


class StillOpen(Conflict):
    """Nobody has decided within the time given. The ask stays open; wait again.

    Next: wait again, with the same ask; or go on with something else.
    """

    code = "still-open"

    def __init__(self, ask: _Asked, timeout: float) -> None:
        super().__init__(
            f'{ask.id} "{ask.label}" is still open after {timeout:g} s. It waits on: '
            f"call wait again, or decide it: sayso inbox show {ask.id}"
        )
        self.ask = ask


class NotApproved(Conflict):
    """There is no approval to spend on this ask.

    Next: do not carry it out. The message says what is missing; ask, or ask again.
    """

    code = "not-approved"

    def __init__(self, ask: _Asked, reason: str) -> None:
        super().__init__(f'{ask.id} "{ask.label}" must not be carried out: {reason}')
        self.ask = ask


class AlreadySpent(Conflict):
    """The approval was spent before; it covers one execution.

    Next: do not carry it out: somebody has, or is about to. `state` says how far it is.
    """

    code = "already-spent"

    def __init__(self, ask: _Asked, state: str) -> None:
        super().__init__(
            f'The approval of {ask.id} "{ask.label}" is spent (effect: {state}). '
            "An approval covers one execution; open a new ask for another one."
        )
        self.ask = ask
        self.state = state


class CallerGone(Conflict):
    """The program that asked is no longer there, so a yes would have no effect.

    Next: reject or withdraw the ask, and start the program again.
    """

    code = "caller-gone"

    def __init__(self, ask: _Asked) -> None:
        super().__init__(
            f'The program that asked {ask.id} "{ask.label}" has gone, so nothing would carry it out. '
            f"Close it: sayso inbox reject {ask.id}; then start the program again."
        )
        self.ask = ask


class FinishedLate(Conflict):
    """The effect had been given up before this result came; it was kept as evidence.

    Next: nothing. People see it on the doubt, and decide what becomes of the call.
    """

    code = "finished-late"

    def __init__(self, ask: _Asked, state: str, *, kept: bool = True) -> None:
        was = "was recorded as evidence" if kept else "is one too many to be recorded"
        super().__init__(
            f'The result for {ask.id} "{ask.label}" came after its time was up (effect: {state}). '
            f"It {was} and changes nothing by itself."
        )
        self.ask = ask
        self.state = state


class ThreadBusy(Conflict):
    """Another run of this thread is not over yet: one at a time.

    Next: wait for `run_id`, end it, or use another thread.
    """

    code = "thread-busy"

    def __init__(self, thread: str, run_id: str, status: str) -> None:
        super().__init__(
            f"The thread {thread!r} has a run that is not over: {run_id} ({status}). Wait for it, "
            f"or end it: sayso runs cancel {run_id}"
        )
        self.thread = thread
        self.run_id = run_id


class RunOver(Conflict):
    """The run has ended, so there is nothing to do to it any more.

    Or it is not in a state in which this could be done to it.

    Next: look at `status`; start a new run if you need one.
    """

    code = "run-over"

    def __init__(self, run_id: str, status: str, attempted: str) -> None:
        super().__init__(f'{run_id} is {status}, so "{attempted}" cannot be done to it.')
        self.run_id = run_id
        self.status = status


class StillRunning(Conflict):
    """The run has not ended within the time given. It goes on; wait again.

    Next: wait again, or look at `run.state`.
    """

    code = "still-running"

    def __init__(self, run_id: str, status: str, detail: str) -> None:
        super().__init__(f"{run_id} is still {status}{detail}")
        self.run_id = run_id
        self.status = status


class RunError(SaysoError):
    """What became of a run, or of a step in it.

    Next: look at the run: `sayso runs show ID`.
    """

    code = "run"


class Diverged(RunError):
    """A run's code no longer does what its journal says it did. The run is parked.

    Next: bring the old code back and retry the run, or cancel it and start anew.
    """

    code = "diverged"

    def __init__(self, key: str, detail: str) -> None:
        super().__init__(
            f"At step {key} the workflow no longer does what it did before: {detail} Bring the old "
            "code back and retry the run, or cancel it and start anew."
        )
        self.key = key
        self.detail = detail


class StepFailed(RunError):
    """A step or a call of a run failed. The same on the first time and on every replay.

    `kind` is the name of the exception, `message` what it said; while the step has just
    failed, the exception itself is the `__cause__`.

    Next: catch it by `kind` in the workflow, or let it fail the run and retry that.
    """

    code = "step-failed"

    def __init__(self, name: str, kind: str, message: str) -> None:
        super().__init__(
            f"{name} failed: {kind}: {message}" if message else f"{name} failed: {kind}"
        )
        self.name = name
        self.kind = kind
        self.message = message


class RunFailed(RunError):
    """The run ended with an error. `sayso runs retry` lets it try again from there.

    Next: mend the cause, then `desk.retry(run)`.
    """

    code = "run-failed"

    def __init__(self, run_id: str, error: str) -> None:
        super().__init__(
            f"{run_id} failed: {error} Try again from there: sayso runs retry {run_id}"
        )
        self.run_id = run_id


class RunCancelled(RunError):
    """The run was cancelled; nothing of it happens any more.

    Next: start another run, if it is still wanted.
    """

    code = "run-cancelled"

    def __init__(self, run_id: str, reason: str) -> None:
        super().__init__(f"{run_id} was cancelled: {reason}")
        self.run_id = run_id


class RunParked(RunError):
    """The run cannot go on without a person.

    Next: read why, then `desk.retry(run)` or `desk.cancel(run)`.
    """

    code = "run-parked"

    def __init__(self, run_id: str, reason: str) -> None:
        super().__init__(
            f"{run_id} is parked: {reason} Then: sayso runs retry {run_id}, or: sayso runs cancel "
            f"{run_id}"
        )
        self.run_id = run_id


class ModelFailed(SaysoError):
    """The model did not reply, and will not to the same prompt: a wrong key, a refused request.

    Next: mend the key, the name or the request. An agent's run is parked by it: retry it then.
    """

    code = "model-failed"


class ModelUnavailable(ModelFailed):
    """The model did not reply now: too many requests, a broken connection, an overloaded provider.

    `after` is how many seconds the provider wants us to wait, if it said so.

    Next: wait `after` seconds and ask again; an agent does so by itself, six times, and is then
    parked.
    """

    code = "model-unavailable"

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Forbidden(SaysoError):
    """Who asks may not do this: an agent, or a person without the role.

    Next: let somebody do it who may; the message says who that is, where it is known.
    """

    code = "forbidden"


class BadSignature(Forbidden):
    """A message of a webhook is forged, altered or replayed, and must not be believed.

    Next: answer 400, and ignore the message.
    """

    code = "bad-signature"

    def __init__(self, reason: str) -> None:
        super().__init__(f"This message cannot be trusted: {reason}. Answer 400 and ignore it.")
        self.reason = reason


class AgentsCannotDecide(Forbidden):
    """An agent's credential was shown where people decide. Nothing was looked up.

    Next: let a person decide, and wait for it.
    """

    code = "agents-cannot-decide"

    def __init__(self) -> None:
        super().__init__(
            "Agents cannot decide: only people do. Wait for them: GET /api/v1/asks/ID?wait=60"
        )


class NotSignedIn(Forbidden):
    """No credential was shown, or one that does not count. Which of the two is not said.

    Next: sign in again, or get a new token: `sayso tokens create NAME`.
    """

    code = "not-signed-in"

    def __init__(self) -> None:
        super().__init__(
            "Not signed in: there is no password, session or token here that counts. Sign in again, "
            "or have somebody make a new token: sayso tokens create NAME"
        )


class SignInAgain(Forbidden):
    """Whoever asks is signed in, but has not shown a password for too long to do this.

    Next: sign in again, and repeat it. A token never suffices.
    """

    code = "sign-in-again"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} needs somebody who has just signed in. Sign in again and repeat it; "
            "a token never suffices for this."
        )


class WrongScope(Forbidden):
    """The credential counts, but not for this. `scope` is the one that is missing.

    Next: use another credential; what a token may do is fixed when it is made.
    """

    code = "wrong-scope"

    def __init__(self, scope: str, how: str) -> None:
        super().__init__(
            f"This needs the scope {scope}, which {how} does not have. Use another credential; "
            "what a token may do is fixed when it is made."
        )
        self.scope = scope


class Denied(SaysoError):
    """The policy does not allow this call, whoever asks. `rules` says which rules, and why.

    Next: go on without it, or change the policy; `sayso policy simulate` says what it wants.
    """

    code = "denied"

    def __init__(self, what: str, sentence: str, rules: tuple[str, ...] = ()) -> None:
        named = f" (rule {', '.join(rules)})" if rules else ""
        super().__init__(f"The policy denies {what}: {sentence}{named}")
        self.sentence = sentence
        self.rules = rules


class StoreError(SaysoError):
    """The database could not do its part. Nothing was half written.

    Next: see to the database, then try again.
    """

    code = "store"


class StoreBusy(StoreError):
    """Somebody else held the database for too long.

    Next: try again; a longer `?timeout=` in the address of a SQLite file waits longer.
    """

    code = "store-busy"


class StoreFull(StoreError):
    """There is no room left for the change.

    Next: make room, then try again.
    """

    code = "store-full"


class StoreUnavailable(StoreError):
    """The database is not reachable, or the connection broke.

    Or it is read-only, or damaged.

    Next: see to the database, or to the network, then try again; `sayso doctor` says what it
    finds.
    """

    code = "store-unavailable"


class SchemaMismatch(StoreError):
    """The database is of another version than this program.

    Next: update the program, or bring the database up to date: `sayso db migrate`.
    """

    code = "schema-mismatch"


class Tampered(StoreError):
    """What is stored is not what was written. Nothing was carried out.

    Next: run `sayso audit verify`, which names what was changed, and find out who did.
    """

    code = "tampered"


class Outcome(SaysoError):
    """Not a fault: what people said, raised where a value was expected.

    Next: catch the ones below, each where you know what it means.
    """

    code = "outcome"

    def __init__(self, ask: _Asked, message: str) -> None:
        super().__init__(message)
        self.ask = ask
        self.decision = ask.decision


class Rejected(Outcome):
    """A person, or the clock, said no. `note` is why, `by` is who.

    Or the ask was withdrawn.

    Next: go on without it, as `note` says.
    """

    code = "rejected"

    def __init__(self, ask: _Asked) -> None:
        decision = ask.decision
        self.note = decision.note if decision is not None else None
        self.by = decision.by.id if decision is not None else None
        reason = f": {self.note}" if self.note else "."
        super().__init__(ask, f'{ask.id} "{ask.label}" {_ending(ask)}{reason}')


class Answered(Outcome):
    """A person answered instead of approving. `text` is what they said, `by` is who.

    Next: do what `text` says, or propose something else.
    """

    code = "answered"

    def __init__(self, ask: _Asked) -> None:
        decision = ask.decision
        self.text = (decision.text if decision is not None else None) or ""
        self.by = decision.by.id if decision is not None else None
        super().__init__(ask, f'{ask.id} "{ask.label}" {_ending(ask)}: {self.text}')


class Skipped(Outcome):
    """It is not known whether the call happened, and a person said to leave it at that.

    Next: go on without a result; nobody knows whether there is one.
    """

    code = "skipped"

    def __init__(self, ask: _Asked) -> None:
        decision = ask.decision
        self.note = decision.note if decision is not None else None
        self.by = decision.by.id if decision is not None else None
        super().__init__(ask, f'{ask.id} "{ask.label}": {self.by} said not to run it again.')
