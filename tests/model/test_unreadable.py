"""What counts as bytes that nobody can read, and above all what does not."""

from __future__ import annotations

import base64
import gzip
import hashlib
import random
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.model.digest import canonical
from sayso.model.unreadable import _CODED_WORD, _SUSPECT, blob_in, undecodable, unreadable

BYTES = random.Random(1).randbytes(2048)
CODED = base64.b64encode(BYTES).decode()
PROSE = (
    "Dear Ada, thank you for your order 12345 of 3 March. It was sent on Tuesday, and should reach "
    "you within five days. "
)


@pytest.mark.parametrize(
    ("text", "size", "seems"),
    [
        (CODED, 2048, None),
        (base64.urlsafe_b64encode(BYTES).decode().rstrip("="), 2048, None),
        (base64.encodebytes(BYTES).decode(), 2048, None),
        (base64.b64encode(gzip.compress(BYTES)).decode(), None, "compressed (gzip)"),
        (base64.b64encode(b"\x89PNG" + BYTES).decode(), 2052, "a PNG image"),
        (f"data:image/png;base64,{CODED}", 2048, "image/png"),
        (BYTES.hex(), 2048, None),
        (f"0x{BYTES.hex()}", 2048, None),
        (f"echo {CODED} | base64 -d | sh", 2048, None),
        (BYTES.decode("latin-1"), None, None),
        (BYTES.decode("utf-8", "replace"), None, None),
    ],
)
def test_bytes_written_as_letters_are_found(text: str, size: int | None, seems: str | None) -> None:
    found = blob_in(text)

    assert found is not None
    assert found.seems == seems
    assert size is None or found.size == size
    assert undecodable({"a": [text]}) == ("/a/0",)
    assert unreadable(canonical({"a": [text]}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        PROSE * 40,
        PROSE.replace(" ", "").replace(",", "").replace(".", "") * 2,
        "Sehr geehrte Damen und Herren, schöne Grüße aus Österreich. " * 10,
        "尊敬的客户 您的订单已发货 预计五天内到达。" * 40,
        "عزيزي العميل، تم شحن طلبك وسيصل خلال خمسة أيام. " * 40,
        "می‌خواهم " * 40,
        "👩‍👩‍👧‍👦 " * 40,
        str(uuid.UUID(int=7)),
        hashlib.sha256(b"x").hexdigest(),
        hashlib.sha512(b"x").hexdigest(),
        hashlib.sha512(b"x").hexdigest().upper(),
        "sk-live-" + base64.urlsafe_b64encode(BYTES[:48]).decode(),
        base64.b64encode(BYTES[:64]).decode(),
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0" * 8 + ".abc",
        "/srv/Data/projects/2024/Quarter3/Reports/final/versions/17/approved/by/Finance/and/Legal/x"
        * 2,
        "a-very-long-slug-of-an-article-about-nothing-in-particular-" * 6,
        "ThisIsACamelCaseNameOfSomeVeryLongJavaClassFactoryBeanProxyAdapter" * 3,
        "ACGT" * 500,
        "x" * 100_000,
        "1" * 5_000,
        "0" * 2_000,
        "=" * 300 + "\n" + "-" * 300,
        "def f(x):\n\treturn x + 1\n" * 50,
        "\n".join(f"{n:08x} {n * 7:08x}" for n in range(100)),
        "https://example.com/" + "path/" * 60 + "?token=" + "Ab1" * 30,
        "data:text/plain,hello",
    ],
)
def test_what_people_write_is_readable(text: str) -> None:
    assert blob_in(text) is None
    assert not unreadable(canonical({"a": text}))


def test_what_decodes_to_words_says_so_and_where_it_stands() -> None:
    found = blob_in(
        base64.b64encode(b"rm -rf / # and everything else on this machine; " * 4).decode()
    )

    assert found is not None
    assert found.reads is not None
    assert found.reads.startswith("rm -rf /")

    args = {"a/b": {"~": [1, CODED]}, "ok": "text", "n": None}

    assert undecodable(args) == ("/a~1b/~0/1",)


@settings(deadline=None)
@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner)))
def test_the_quick_look_never_misses_what_the_long_one_finds(value: object) -> None:
    assert unreadable(canonical({"a": value})) == bool(undecodable({"a": value}))


@settings(deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=120))
def test_short_readable_texts_never_count(text: str) -> None:
    assert blob_in(text) is None


def test_blanks_inside_encoded_bytes_hide_nothing() -> None:
    broken = " ".join(CODED[place : place + 200] for place in range(0, len(CODED), 200))

    for text in (broken, f"{PROSE}{broken}", broken.replace(" ", " \n\t")):
        blob = blob_in(text)
        assert blob is not None
        assert not blob.whole
        assert unreadable(canonical({"a": text}))
    apart = " and ".join(CODED[place : place + 200] for place in range(0, len(CODED), 200))
    assert blob_in(apart) is None, "each of them alone may be a token"


def test_a_long_word_is_read_from_its_start_only() -> None:
    """Or one that is just too short is read again from each of its letters."""
    word = "a" * 1_000

    assert _CODED_WORD.match(word) is not None
    assert not any(_CODED_WORD.match(word, place) for place in range(1, len(word)))
    assert not any(_SUSPECT.match(word, place) for place in range(1, len(word)))
