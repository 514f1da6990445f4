from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.model.ids import is_id, short_id


@given(st.binary(min_size=8, max_size=16), st.integers(4, 12))
def test_every_id_made_is_an_id(entropy: bytes, length: int) -> None:
    made = short_id("a", entropy, length)
    assert is_id(made)
    assert len(made) == len("a-") + length


def test_the_same_bytes_make_the_same_id_of_letters_that_cannot_be_mistaken() -> None:
    assert short_id("a", b"\x01\x02\x03") == short_id("a", b"\x01\x02\x03") == "a-3g02"

    made = "".join(short_id("a", bytes([value]) * 3)[2:] for value in range(256))
    assert not set(made) & set("ilou")


@pytest.mark.parametrize("shift", [0, 5], ids=["first three places", "last three places"])
def test_every_symbol_comes_up_equally_often_in_every_place(shift: int) -> None:
    all_of_them = [short_id("a", (bits << shift).to_bytes(3, "big"))[2:] for bits in range(1 << 15)]
    for symbols in list(zip(*all_of_them, strict=True))[shift // 5 :][:3]:
        assert set(Counter(symbols).values()) == {len(all_of_them) // 32}


def test_too_few_random_bytes_and_too_short_an_id_are_refused() -> None:
    with pytest.raises(ValueError, match="3 random bytes"):
        short_id("a", b"\x01\x02")
    with pytest.raises(ValueError, match="5 random bytes"):
        short_id("a", b"\x01\x02\x03\x04", length=8)

    with pytest.raises(ValueError, match="at least 4"):
        short_id("a", b"\x01\x02\x03", length=3)


@pytest.mark.parametrize("prefix", ["", "A", "a-", "1", "a b"])
def test_a_prefix_is_lower_case_letters(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        short_id(prefix, b"\x01\x02\x03")


@pytest.mark.parametrize(
    "text", ["", "a", "a-", "a-7f3", "a-7f3i", "a-7f3L", "A-7f3k", "a-7f3k\n", "a 7f3k", "a-٣٣٣٣"]
)
def test_what_only_resembles_an_id_is_none(text: str) -> None:
    assert not is_id(text)
