"""Pure values: what an ask is, what may happen to it, and how it is written down.

Nothing here does I/O, reads a clock or draws a random number; time and
randomness come in as arguments. Whatever touches a database belongs in `store`.
"""
