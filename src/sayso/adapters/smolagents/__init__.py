"""Agents written for smolagents, under a desk: `Smol` runs one, `UserInput` asks people for it.

A paused run is not kept as a snapshot. Its agent is run again from the start, on the replies
and results that the journal has; so both kinds of agent, `ToolCallingAgent` and `CodeAgent`, go
on in any process, also from the middle of a block of code.
"""

from sayso.adapters.smolagents.questions import UserInput
from sayso.adapters.smolagents.smol import Smol

__all__ = ["Smol", "UserInput"]
