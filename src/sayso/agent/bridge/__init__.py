"""The bridge from an agent to real language models, by way of `pydantic_ai.direct`.

This is the only room that knows pydantic-ai, and pydantic-ai is loaded with the first prompt:
`bridge` itself and `names` do without it.
"""

from sayso.agent.bridge.bridge import Bridge

__all__ = ["Bridge"]
