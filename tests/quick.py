"""Passwords that are hashed at once, for tests that are not about how they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import argon2
import pytest

from sayso.access import passwords


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """The real hasher, with little to do: how strong it is, is tested in `tests/access`."""
    little = partial(argon2.PasswordHasher, time_cost=1, memory_cost=64, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "PasswordHasher", little)
        patch.setattr(passwords, "_nobodys", cache(passwords._nobodys.__wrapped__))
        yield
