"""A small company whose agents ask for everything there is to ask: what `sayso demo` serves.

Each department is a module: its tools, its agent or workflows, and the jobs it begins with. Their
models are functions of the messages they read, so nothing here needs a key or a network. What
people decide is really carried on by workers; only what would leave the house does not.
"""
