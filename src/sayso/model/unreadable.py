"""Bytes written as letters: what is in a call and what nobody can read.

A person who is shown two thousand characters of base64 is shown nothing. So it is said that they
are bytes, and the policy takes the call for one level riskier (0037). Only what is certain counts:
names, ids, hashes of up to 128 digits, tokens of usual length and texts in any language do not.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sayso.model.digest import read

_SHORTEST = 128
_TOKEN = 1024  # without any blank: encoded, however its letters are mixed
_DIFFERENT = 24
_GARBLED = 16
_PART = 0.22  # of random bytes read as Latin text it is a quarter
_READ = 4096  # characters of a blob that are looked at to say what it is
_HEX = re.compile(r"(?:0x)?[0-9A-Fa-f]+")
_CODED = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_RUN = 256  # letters inside a text with words around it
# Only from the start of a word: a long one that is not long enough would be read from each letter.
_CODED_WORD = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60,}={0,2}")
_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,", re.IGNORECASE)
_SUSPECT = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{60}|\\u|[^\x20-\x7e]")
_MAGIC = (
    (b"\x1f\x8b", "compressed (gzip)"),
    (b"\x78\x9c", "compressed (zlib)"),
    (b"\x78\xda", "compressed (zlib)"),
    (b"\x28\xb5\x2f\xfd", "compressed (zstd)"),
    (b"BZh", "compressed (bzip2)"),
    (b"\xfd7zXZ", "compressed (xz)"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
)


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes inside a text: how many, how they are written, what they seem to be."""

    size: int
    written: str
    seems: str | None = None
    reads: str | None = None  # the start of the text that they decode to, if they do
    whole: bool = True


def blob_in(text: str) -> Blob | None:
    """Return what cannot be read in a text, `None` if a person can read it."""
    if len(text) < _GARBLED:
        return None
    return _data_url(text) or _hex(text) or _base64(text) or _within(text) or _garbled(text)


def undecodable(args: Any) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """Return where in a value something cannot be read, as JSON Pointers."""
    return tuple(_places(args, ""))


def unreadable(arguments: str) -> bool:
    """Whether something in frozen arguments cannot be read."""
    if _SUSPECT.search(arguments) is None:  # a policy asks at every look, and most are plain
        return False
    return next(_places(read(arguments), ""), None) is not None


def _places(value: Any, at: str) -> Iterator[str]:  # noqa: ANN401 - JSON
    match value:
        case str():
            if blob_in(value) is not None:
                yield at
        case list() | tuple():
            for number, item in enumerate(value):
                yield from _places(item, f"{at}/{number}")
        case dict():
            for name, item in value.items():
                yield from _places(item, f"{at}/{name.replace('~', '~0').replace('/', '~1')}")
        case _:
            return


def _data_url(text: str) -> Blob | None:
    found = _DATA.match(text)
    if found is None or len(text) - found.end() < _SHORTEST // 2:
        return None
    size, start = _decoded(text[found.end() :])
    seems = _seems(start) or found[1]
    return Blob(size, "data: URL", seems, _reads(start))


def _hex(text: str) -> Blob | None:
    digits = _joined(text)
    if digits is None or _HEX.fullmatch(digits) is None:
        return None
    digits = digits.removeprefix("0x")
    if len(digits) <= _SHORTEST or digits.isdecimal():  # a very long number is a number
        return None
    start = bytes.fromhex(digits[: min(len(digits), _READ) // 2 * 2])
    return Blob(len(digits) // 2, "hexadecimal digits", _seems(start), _reads(start))


def _base64(text: str) -> Blob | None:
    letters = _joined(text)
    if letters is None or len(letters) < _SHORTEST or _CODED.fullmatch(letters) is None:
        return None
    long = len(letters) >= _TOKEN and len(set(letters)) >= _DIFFERENT
    if not long and not _mixed(letters):
        return None
    size, start = _decoded(letters)
    return Blob(size, "base64", _seems(start), _reads(start))


def _within(text: str) -> Blob | None:
    runs = [run for run in _runs(text) if len(run) >= _RUN and _mixed(run)]
    if not runs:
        return None
    size, start = _decoded(runs[0])
    total = size + sum(len(run) * 3 // 4 for run in runs[1:])
    return Blob(total, "base64", _seems(start), _reads(start), whole=False)


def _runs(text: str) -> Iterator[str]:
    """Yield what may be encoded. Long words with nothing but blanks between them are one."""
    run: list[str] = []
    end = 0
    for word in _CODED_WORD.finditer(text):
        if run and not text[end : word.start()].isspace():
            yield "".join(run)
            run = []
        run.append(word[0])
        end = word.end()
    yield "".join(run)


def _garbled(text: str) -> Blob | None:
    """Return a text that is mostly characters which are none: bytes read as if they were text."""
    if text.isprintable():
        return None
    counted = Counter(text)
    odd = sum(number for char, number in counted.items() if _is_none(char))
    if odd <= _PART * len(text):
        return None
    return Blob(len(text.encode("utf-8", "replace")), "characters that are none")


def _is_none(char: str) -> bool:
    # Joiners and the like are format characters, and belong to words and emoji.
    return char == "\ufffd" or (
        unicodedata.category(char) in ("Cc", "Cn", "Co", "Cs") and char not in "\n\r\t"
    )


def _joined(text: str) -> str | None:
    """Return a text without its line ends, if it is one word broken into lines of one length."""
    if "\n" not in text:
        return text.strip(" ")
    lines = text.strip().splitlines()
    widths = {len(line) for line in lines[:-1]}
    if len(widths) > 1 or min(widths, default=0) < 60 or " " in text.strip():
        return None
    return "".join(lines)


def _mixed(letters: str) -> bool:
    """Whether letters and digits are mixed as in encoded bytes, and in no path, name or slug."""
    letters = letters[:_READ]
    size = len(letters)
    upper = sum(map(str.isupper, letters))
    digits = sum(map(str.isdecimal, letters))
    lower = sum(map(str.islower, letters))
    signs = size - upper - digits - lower
    return min(upper, lower) > size / 6 and digits > size / 25 and signs < size / 12


def _decoded(letters: str) -> tuple[int, bytes]:
    """Return how many bytes base64 stands for, and the first of them."""
    bare = letters.rstrip("=")
    start = bare[: min(len(bare), _READ) // 4 * 4].replace("-", "+").replace("_", "/")
    try:
        return len(bare) * 3 // 4, base64.b64decode(start, validate=True)
    except (binascii.Error, ValueError):
        return len(bare) * 3 // 4, b""


def _seems(start: bytes) -> str | None:
    return next((what for magic, what in _MAGIC if start.startswith(magic)), None)


def _reads(start: bytes) -> str | None:
    """Return what the first bytes say, if they are plain text."""
    try:
        text = start[:240].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(start[:240]) - 3:
            return None
        text = start[: error.start].decode("utf-8")
    plain = text.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    return text if plain and plain.isprintable() else None
