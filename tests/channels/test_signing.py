"""Who holds the secret knows a message from a forged, an altered and a replayed one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import standardwebhooks

from sayso.channels.signing import make_secret, signed
from sayso.channels.webhooks import verify
from sayso.errors import BadSignature, BadValue

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BODY = b'{"type":"ask.opened","data":{"id":"a-7f3k"}}'
SECRET = make_secret()


def message(at: datetime = NOW, body: bytes = BODY) -> dict[str, str]:
    return signed(SECRET, "d-7f3k", at, body)


def test_a_message_is_read_by_whoever_has_the_secret() -> None:
    assert verify(SECRET, message(), BODY, now=NOW)["data"]["id"] == "a-7f3k"
    assert verify(SECRET, message(), BODY.decode(), now=NOW)["type"] == "ask.opened"


def test_the_independent_implementation_reads_ours_and_we_read_its() -> None:
    now = datetime.now(UTC)
    theirs = standardwebhooks.Webhook(SECRET)

    assert theirs.verify(BODY, message(now))["type"] == "ask.opened"
    stamp = {"webhook-id": "msg_1", "webhook-timestamp": str(int(now.timestamp()))}
    signature = theirs.sign("msg_1", now, BODY.decode())
    assert verify(SECRET, {**stamp, "webhook-signature": signature}, BODY)["type"] == "ask.opened"


def test_headers_are_found_whatever_their_case() -> None:
    shouted = {name.title(): value for name, value in message().items()}
    assert verify(SECRET, shouted, BODY, now=NOW)


def test_one_good_signature_of_several_is_enough() -> None:
    headers = message()
    old = signed(make_secret(), "d-7f3k", NOW, BODY)["webhook-signature"]
    both = f"{old} v1a,c29tZXRoaW5n {headers['webhook-signature']}"

    assert verify(SECRET, {**headers, "webhook-signature": both}, BODY, now=NOW)


OTHERS = signed(make_secret(), "d-7f3k", NOW, BODY)["webhook-signature"]


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("webhook-id", [None, "d-8888"]),
        (
            "webhook-timestamp",
            [
                *(None, str(int(NOW.timestamp()) + 1), "", "soon", "1e9", "-5", "nan", "inf"),
                *("9" * 40, "\u0663"),
            ],
        ),
        (
            "webhook-signature",
            [
                *(None, "v1,AAAA", "", "v1", "v1,\u00e4", OTHERS),
                signed(SECRET, "d-7f3k", NOW, BODY)["webhook-signature"][3:],
            ],
        ),
    ],
)
def test_a_message_without_a_header_or_with_another_one_is_refused(
    header: str, values: list[str | None]
) -> None:
    for value in values:
        headers = {**message(), header: value}
        with pytest.raises(BadSignature, match=header if value is None else None):
            verify(SECRET, {k: v for k, v in headers.items() if v is not None}, BODY, now=NOW)


def test_another_body_and_what_is_signed_but_no_message_is_refused() -> None:
    for body in (BODY + b" ", BODY.replace(b"7f3k", b"7f3m"), b"", b"\xff\xfe"):
        with pytest.raises(BadSignature):
            verify(SECRET, message(), body, now=NOW)
    for body in (b"[]", b"nonsense", b"null"):
        with pytest.raises(BadSignature):
            verify(SECRET, message(body=body), body, now=NOW)


@pytest.mark.parametrize("late", [timedelta(seconds=301), timedelta(days=400)])
def test_a_message_that_was_recorded_and_sent_again_is_refused(late: timedelta) -> None:
    assert verify(SECRET, message(), BODY, now=NOW + timedelta(seconds=299))
    with pytest.raises(BadSignature, match="old"):
        verify(SECRET, message(), BODY, now=NOW + late)
    with pytest.raises(BadSignature, match="future"):
        verify(SECRET, message(), BODY, now=NOW - late)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_?", "\u00e4", None])
def test_a_secret_that_is_none_is_told(secret: str) -> None:
    with pytest.raises(BadValue):
        verify(secret, message(), BODY, now=NOW)
