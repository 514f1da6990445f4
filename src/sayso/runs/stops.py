"""Why a workflow must not go on now.

None of these is an `Exception`, so that `except Exception` lets them pass; and
whoever catches them all the same meets them again at the next verb. What the
worker believes is the flag they leave behind, never the exception.
"""

from __future__ import annotations

from sayso.model.ask import Ask


class Stop(BaseException):
    """The workflow stops here, for now or for ever."""


class Paused(Stop):
    """It waits for people. It is called again when there is something to go on with."""


class Fenced(Stop):
    """Somebody else carries the run on; nothing that is done here counts any more."""


class NotStarted(Stop):
    """The run could not be written down at all; whoever started it hears why."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Released(Stop):
    """The worker is shutting down; another one goes on."""


class Outdated(Stop):
    """The law changed before a call that it let run alone was begun. The workflow is called again."""


class Parked(Stop):
    """It cannot go on by itself; once a person has seen to it, it goes on from here.

    `more` says of what it used up all it was given: whoever retries it grants as much again.
    """

    def __init__(self, reason: str, *, more: str | None = None) -> None:
        super().__init__(reason)
        self.more = more


class Ended(Stop):
    """A person ended the run."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(f"{ask.id} ended the run")
        self.ask = ask
