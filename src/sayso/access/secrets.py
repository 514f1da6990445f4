"""Secrets that are random, and what the database knows them by.

They have 256 bits, so that a plain SHA-256 recognises them and nobody can guess back from it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BYTES, _LENGTH, _CHECK = 32, 43, 6  # 62 ** 43 is just more than 256 ** 32
_SECRET = re.compile(rf"[0-9A-Za-z]{{{_LENGTH}}}")
_TOKEN = re.compile(rf"sayso_[0-9A-Za-z]{{{_LENGTH + _CHECK}}}")

MARK = "sayso_"  # what tokens begin with, so that scanners for leaked secrets know them


def new_secret() -> str:
    """Return 43 letters and digits that nobody can guess."""
    return _base62(int.from_bytes(secrets.token_bytes(_BYTES), "big"), _LENGTH)


def new_token() -> str:
    """Return a secret that says what it is, with a checksum behind it."""
    text = MARK + new_secret()
    return text + _checksum(text)


def is_secret(text: object) -> bool:
    """Say whether the text has the form of a secret; not whether it opens anything."""
    return isinstance(text, str) and _SECRET.fullmatch(text) is not None


def is_token(text: object) -> bool:
    """Say whether the text has the form of a token, with nothing mistyped."""
    if not isinstance(text, str) or _TOKEN.fullmatch(text) is None:
        return False
    return _checksum(text[:-_CHECK]) == text[-_CHECK:]


def digest_of(text: str) -> bytes:
    """Return what the database knows a secret by."""
    return hashlib.sha256(text.encode()).digest()


def _checksum(text: str) -> str:
    return _base62(zlib.crc32(text.encode()), _CHECK)


def _base62(number: int, length: int) -> str:
    symbols = []
    for _ in range(length):
        number, rest = divmod(number, len(_ALPHABET))
        symbols.append(_ALPHABET[rest])
    return "".join(reversed(symbols))
