"""Receivers for webhooks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.channels.receivers import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def other() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver
