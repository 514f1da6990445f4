"""Agents that are written for somebody else's framework, under a desk of ours.

Each host has a module of its own, and an extra of its own that installs it. All of
them stand on `sayso.adapters.base`.
"""
