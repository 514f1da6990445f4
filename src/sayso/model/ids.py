"""Short ids that people can read out, type and compare.

An id is a prefix that says what it names and a few symbols of an alphabet
without `i`, `l`, `o` and `u`, which are easily mistaken for others. Randomness
comes in as bytes; whether an id is free is for the store to say.
"""

from __future__ import annotations

import re

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_BITS = 5  # 32 symbols, so that every bit of entropy is used and none is favoured
_SHORTEST = 4

_ID = re.compile(rf"[a-z]+-[{_ALPHABET}]{{{_SHORTEST},}}")


def short_id(prefix: str, entropy: bytes, length: int = _SHORTEST) -> str:
    """Make an id such as `a-7f3k` from random bytes.

    Raises:
        ValueError: the prefix is not lower-case letters, the length is below
            four, or there are too few bytes for it.
    """
    if not (prefix.isascii() and prefix.isalpha() and prefix.islower()):
        raise ValueError(f"the prefix of an id is lower-case letters, not {prefix!r}")
    if length < _SHORTEST:
        raise ValueError(f"an id has at least {_SHORTEST} symbols, not {length}")
    needed = -(-length * _BITS // 8)
    if len(entropy) < needed:
        raise ValueError(f"{length} symbols need {needed} random bytes, got {len(entropy)}")

    bits = int.from_bytes(entropy[:needed], "big")
    symbols = [_ALPHABET[bits >> _BITS * place & 31] for place in range(length)]
    return f"{prefix}-{''.join(symbols)}"


def is_id(text: str) -> bool:
    """Say whether the text has the form of an id; not whether anything has it."""
    return _ID.fullmatch(text) is not None
