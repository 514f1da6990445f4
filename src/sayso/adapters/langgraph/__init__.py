"""LangGraph graphs under a desk: `Graph` runs any compiled graph, every interrupt becomes an ask."""

from sayso.adapters.langgraph.graph import Graph

__all__ = ["Graph"]
