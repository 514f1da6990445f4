"""Our own agent: planning, tools, memory, messages, models."""

from sayso.agent.agent import Agent
from sayso.agent.bridge import Bridge
from sayso.agent.messages import Message, Model, Prompt, Reply, ToolCall, ToolSpec, Usage
from sayso.agent.scripted import ScriptedModel, call
from sayso.agent.transcript import transcript
from sayso.agent.voice import Voice, speaking

__all__ = [
    "Agent",
    "Bridge",
    "Message",
    "Model",
    "Prompt",
    "Reply",
    "ScriptedModel",
    "ToolCall",
    "ToolSpec",
    "Usage",
    "Voice",
    "call",
    "speaking",
    "transcript",
]
