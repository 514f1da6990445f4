"""Durable runs: a workflow is a plain function, and what it did is a journal.

A pause unwinds the function and holds nothing. Any process that has the code
may claim the run, call the function again with what the journal says it
already did, and go on from there.
"""
