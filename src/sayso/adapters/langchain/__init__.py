"""LangChain's `create_agent` under a desk: its tools ask by the desk's policy.

`SaysoMiddleware` goes into the agent, `sayso.adapters.langgraph.Graph` runs it.
"""

from sayso.adapters.langchain.middleware import SaysoMiddleware

__all__ = ["SaysoMiddleware"]
