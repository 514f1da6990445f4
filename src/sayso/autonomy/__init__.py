"""Earned autonomy, as arithmetic: who may run alone, how often that is checked, and what ends it.

Pure: no I/O, no clock, no randomness. Whoever tosses the coin and reads the journal is elsewhere.
"""
