"""Human oversight for AI agents: nothing leaves without your say-so."""

import importlib
import logging
from typing import TYPE_CHECKING

from sayso.asks.carrying import CannotTell, DidNotHappen, Happened, current_call, tool
from sayso.asks.files import File
from sayso.asks.forms import Feedback
from sayso.asks.inbox import Inbox
from sayso.asks.later import Later
from sayso.desk import Desk
from sayso.errors import (
    Answered,
    AskChanged,
    AskClosed,
    Diverged,
    Rejected,
    RunCancelled,
    RunFailed,
    RunParked,
    SaysoError,
    Skipped,
    StepFailed,
    StillOpen,
    StillRunning,
)
from sayso.model.ask import Ask, Decision
from sayso.model.call import Call
from sayso.model.content import Option, Proposal
from sayso.model.event import Event
from sayso.model.requirement import Requirement
from sayso.policy.facts import Facts
from sayso.policy.rules import Policy, Rule
from sayso.runs.here import cases, choose, confirm, effect, question, step
from sayso.runs.retrying import retrying

if TYPE_CHECKING:
    from sayso.agent import Agent, ScriptedModel
    from sayso.asks.refusals import told
    from sayso.insight.case import Case
    from sayso.insight.preference import Preference
    from sayso.model.agreement import agreement
    from sayso.runs.handle import Run
    from sayso.runs.memory import ActionStep, AnswerStep, DecisionStep, PlanStep, TaskStep
    from sayso.runs.running import Running

__all__ = [
    "ActionStep",
    "Agent",
    "AnswerStep",
    "Answered",
    "Ask",
    "AskChanged",
    "AskClosed",
    "Call",
    "CannotTell",
    "Case",
    "Decision",
    "DecisionStep",
    "Desk",
    "DidNotHappen",
    "Diverged",
    "Event",
    "Facts",
    "Feedback",
    "File",
    "Happened",
    "Inbox",
    "Later",
    "Option",
    "PlanStep",
    "Policy",
    "Preference",
    "Proposal",
    "Rejected",
    "Requirement",
    "Rule",
    "Run",
    "RunCancelled",
    "RunFailed",
    "RunParked",
    "Running",
    "SaysoError",
    "ScriptedModel",
    "Skipped",
    "StepFailed",
    "StillOpen",
    "StillRunning",
    "TaskStep",
    "agreement",
    "cases",
    "choose",
    "confirm",
    "current_call",
    "effect",
    "question",
    "retrying",
    "step",
    "told",
    "tool",
]

__version__ = "0.1.0"

# A program that runs nothing need not load the engine, nor one that looks for no cases what finds
# them: these come when they are asked for.
_STEPS = ("ActionStep", "AnswerStep", "DecisionStep", "PlanStep", "TaskStep")
_LATER = {
    "Agent": "agent",
    "Case": "insight.case",
    "Preference": "insight.preference",
    "ScriptedModel": "agent",
    "Run": "runs.handle",
    "Running": "runs.running",
    "agreement": "model.agreement",
    "told": "asks.refusals",
    **dict.fromkeys(_STEPS, "runs.memory"),
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"sayso.{_LATER[name]}"), name)


# A library is silent unless its user listens.
logging.getLogger("sayso").addHandler(logging.NullHandler())
