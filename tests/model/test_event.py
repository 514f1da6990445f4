"""The chain ties every event to the one before, and lets a payload be erased."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import Tampered
from sayso.model.actor import Actor
from sayso.model.event import GENESIS, Event, follows, link, micros, moment

WHEN = datetime(2026, 1, 1, 9, tzinfo=UTC)
ANNA = Actor("person", "anna")


def event(seq: int = 1, *, previous: bytes = GENESIS, stream: str = "a-7f3k") -> Event:
    payload = {"verdict": "approve", "n": seq}
    return link(
        stream,
        seq,
        "ask.voted",
        at=WHEN,
        actor=ANNA,
        payload=payload,
        salt=bytes(16),
        previous=previous,
    )


def test_an_event_follows_the_one_it_was_linked_to_and_no_other() -> None:
    first = event(1)
    second = event(2, previous=first.hash)

    assert follows(first, GENESIS)
    assert follows(second, first.hash)
    assert not follows(second, GENESIS)


@pytest.mark.parametrize(
    "change",
    [
        {"stream": "a-0000"},
        {"seq": 3},
        {"kind": "ask.decided"},
        {"micros": 1},
        {"who": "person:ben"},
        {"who": "agent:anna"},
        {"text": '{"verdict":"reject"}'},
        {"salt": b"another salt...."},
        {"salt": None},
        {"digest": bytes(32)},
        {"hash": bytes(32)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_no_part_of_an_event_can_be_changed_unnoticed(change: dict[str, object]) -> None:
    assert not follows(event()._replace(**change), GENESIS)  # type: ignore[arg-type]


def test_nothing_can_be_moved_from_one_part_of_an_event_to_the_next() -> None:
    one = event()
    assert one.text is not None
    assert one.salt is not None
    for moved in (
        {"salt": one.salt + one.text[:1].encode(), "text": one.text[1:]},
        {"salt": one.salt[:-1], "text": chr(one.salt[-1]) + one.text},
        {"stream": one.stream[:-1], "kind": one.stream[-1] + one.kind},
        {"kind": one.kind + one.who[0], "who": one.who[1:]},
    ):
        assert not follows(one._replace(**moved), GENESIS)


def test_a_digest_that_takes_a_letter_of_what_comes_behind_it_is_noticed() -> None:
    one = event(stream="a-123456789")  # of eleven letters; without the first digit, of one
    names = one.stream + one.kind + one.who
    moved = one._replace(
        text=None,
        salt=None,
        digest=one.digest + b"1",
        stream=names[:1],
        kind=names[1 : 1 + len(one.kind)],
        who=names[1 + len(one.kind) :],
    )

    assert not follows(moved, GENESIS)


def test_payloads_can_be_erased_not_guessed_and_not_changed_by_a_reader() -> None:
    erased = event()._replace(text=None, salt=None)

    assert follows(erased, GENESIS)
    assert erased.payload is None

    one = link("a", 1, "k", at=WHEN, actor=ANNA, payload={}, salt=b"1" * 16, previous=GENESIS)
    two = link("a", 1, "k", at=WHEN, actor=ANNA, payload={}, salt=b"2" * 16, previous=GENESIS)

    assert one.digest != two.digest

    written = event()
    payload = written.payload
    assert payload is not None
    payload["verdict"] = "reject"

    assert written.payload == {"verdict": "approve", "n": 1}


# Hypothesis wants the bounds without a zone, and adds it.
EARLIEST, LATEST = datetime(1970, 1, 1), datetime(2500, 1, 1)  # noqa: DTZ001


@given(
    st.datetimes(EARLIEST, LATEST, timezones=st.just(UTC)),
    st.integers(0, 999_999),
)
def test_times_are_kept_to_the_microsecond(when: datetime, extra: int) -> None:
    exact = when + timedelta(microseconds=extra)

    assert moment(micros(exact)) == exact


def test_times_before_1970_are_kept_too() -> None:
    early = datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)

    assert micros(early) == -1
    assert moment(-1) == early


NONSENSE: dict[str, list[dict[str, object]]] = {
    "its time": [{"micros": 2**62}, {"micros": -(2**62)}],
    "its actor": [{"who": "anna"}, {"who": ""}],
    "its payload": [{"text": "{"}, {"text": "[]"}, {"text": '"approve"'}],
}


@pytest.mark.parametrize(
    ("part", "change"), [(part, change) for part in NONSENSE for change in NONSENSE[part]]
)
def test_an_event_that_sayso_cannot_have_written_is_said_to_be_tampered_with(
    part: str, change: dict[str, object]
) -> None:
    strange = event(7)._replace(**change)  # type: ignore[arg-type]

    with pytest.raises(Tampered, match=f"Event 7 of a-7f3k .* {part} makes no sense"):
        _ = (strange.at, strange.actor, strange.payload)
