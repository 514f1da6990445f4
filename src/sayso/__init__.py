"""Human oversight for AI agents: nothing leaves without your say-so."""

import logging

from sayso.asks.forms import Feedback
from sayso.asks.inbox import Inbox
from sayso.asks.later import Later
from sayso.asks.spending import Call
from sayso.desk import Desk
from sayso.errors import (
    Answered,
    AskChanged,
    AskClosed,
    Rejected,
    SaysoError,
    Skipped,
    StillOpen,
)
from sayso.gate import CannotTell, DidNotHappen, Happened, current_call
from sayso.model.ask import Ask, Decision
from sayso.model.content import Option, Proposal
from sayso.model.event import Event
from sayso.model.requirement import Requirement

__all__ = [
    "Answered",
    "Ask",
    "AskChanged",
    "AskClosed",
    "Call",
    "CannotTell",
    "Decision",
    "Desk",
    "DidNotHappen",
    "Event",
    "Feedback",
    "Happened",
    "Inbox",
    "Later",
    "Option",
    "Proposal",
    "Rejected",
    "Requirement",
    "SaysoError",
    "Skipped",
    "StillOpen",
    "current_call",
]

__version__ = "0.1.0"

# A library is silent unless its user listens.
logging.getLogger("sayso").addHandler(logging.NullHandler())
