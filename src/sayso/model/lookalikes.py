"""Words that pass for others: Latin ones with letters of another alphabet among them.

`paypal` with a Cyrillic letter for one `a` is another word. Nothing in it hides, so `model.text`
leaves it as it is; but nobody can see the difference, so people are told. Words
that are Cyrillic or Greek throughout are left alone: they are words of a language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Letters that a reader of Latin script takes for Latin ones.
_CYRILLIC = (
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423"
    "\u0425\u0430\u0435\u0455\u0456\u0458\u043e\u0440\u0441\u0443\u0445\u04bb\u0501\u051b"
    "\u051d\u050d\u04cf\u0475"
)
_GREEK = (
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03b1\u03bd\u03bf\u03c1\u03c5\u03f2\u03f3"
)
_ARMENIAN = "\u0555\u054d\u0570\u0578\u057d\u0581\u0585\u0566"
LOOK_ALIKES = frozenset(_CYRILLIC + _GREEK + _ARMENIAN)

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")


def disguised(text: str) -> Iterator[str]:
    """Yield the words of a text that mix Latin letters with some that only look Latin."""
    if text.isascii():
        return
    for found in _WORD.finditer(text):
        word = found[0]
        if not LOOK_ALIKES.isdisjoint(word) and _LATIN.search(word):
            yield word


def unmasked(word: str) -> str:
    """Say which letter of a disguised word is not what it looks like."""
    letter = next(char for char in word if char in LOOK_ALIKES)
    return f"U+{ord(letter):04X} {unicodedata.name(letter)}"
