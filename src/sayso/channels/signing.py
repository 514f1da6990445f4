"""Signatures as Standard Webhooks 1.0 describes them: HMAC-SHA256 over id, time and body.

A receiver in any language checks them with that project's libraries. The time is signed too, so
that a message somebody recorded cannot be sent again later.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sayso.errors import BadSignature, BadValue
from sayso.store.clock import SystemClock

TOLERANCE = timedelta(minutes=5)
_PREFIX = "whsec_"
_SECRET_BYTES = 32


def make_secret() -> str:
    """Return a fresh secret for one webhook."""
    return _PREFIX + base64.b64encode(os.urandom(_SECRET_BYTES)).decode()


def signed(secret: str, message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that vouch for a message."""
    stamp = str(int(at.timestamp()))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{_signature(_key(secret), message_id, stamp, body)}",
    }


def verify(
    secret: str,
    headers: Mapping[str, str],
    body: bytes | str,
    *,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Return what a message says, if it was signed with this secret within the last five minutes.

    For receivers. Give the body as it came: JSON that was read and written again differs. The
    same message may come twice; its `webhook-id` is the same then.

    Raises:
        BadSignature: it is forged, altered, or was sent before.
        BadValue: the secret is none.
    """
    key = _key(secret)
    given = {str(name).lower(): value for name, value in headers.items()}
    try:
        message_id, stamp, signatures = (
            given[f"webhook-{name}"] for name in ("id", "timestamp", "signature")
        )
    except KeyError as missing:
        raise BadSignature(f"it has no header {missing.args[0]}") from None
    raw = body.encode() if isinstance(body, str) else body
    _check_time(stamp, now or SystemClock().now())
    expected = f"v1,{_signature(key, message_id, stamp, raw)}".encode()
    # A secret that is being changed signs twice; one good signature is enough.
    found = [hmac.compare_digest(expected, each.encode()) for each in signatures.split(" ")]
    if not any(found):
        raise BadSignature("no signature of it was made with this secret")
    return _read(raw)


def _read(raw: bytes) -> dict[str, Any]:
    try:
        said = json.loads(raw)
    except ValueError as error:
        raise BadSignature("it is signed, but is no JSON") from error
    if not isinstance(said, dict):
        raise BadSignature("it is signed, but is no JSON object")
    return said


def _check_time(stamp: str, now: datetime) -> None:
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) < 12):
        raise BadSignature("its webhook-timestamp is no number of seconds")
    age = now.timestamp() - int(stamp)
    if abs(age) > TOLERANCE.total_seconds():
        when = "old" if age > 0 else "far in the future"
        raise BadSignature(f"its webhook-timestamp is too {when}: it may have been sent before")


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError, AttributeError) as error:
        raise BadValue("The secret of a webhook looks like whsec_ and 44 characters.") from error
    if not key:
        raise BadValue("The secret of a webhook is empty; it looks like whsec_ and 44 characters.")
    return key


def _signature(key: bytes, message_id: str, stamp: str, body: bytes) -> str:
    content = f"{message_id}.{stamp}.".encode() + body
    return base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
