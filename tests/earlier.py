"""A desk as it was before names had to be plain: what it opens has any name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sayso.asks.lawbook import default_policy


@contextmanager
def any_names() -> Iterator[None]:
    """Let asks be opened in this block under names that no door takes any more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sayso.asks.forms.check_name", lambda _what, name: name)
        patch.setattr("sayso.policy.rules._refused", lambda _what, _name: None)
        _forget()
        yield
    _forget()


def _forget() -> None:
    """Let the default policy look at each tool anew."""
    default_policy()._by_tool.clear()
    default_policy()._said_to.clear()
