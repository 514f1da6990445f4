"""What the first event of an ask says: written once, and read again at every look.

A gate reads its ask several times before it runs, an inbox the same page at every
refresh. What was read is therefore remembered: values that nobody can change, found by
the whole text of the event and not by an id, so that a text that differs is read anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sayso.model import digest
from sayso.model.actor import Origin
from sayso.model.content import LIMIT, Content
from sayso.model.digest import check_size, text_digest, written
from sayso.model.stake import Stake

# A few pages of an inbox, and no texts that would fill the memory.
_MOST = 128
_LONGEST = 16_384
_remembered: dict[str, Asked] = {}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was first put, with the digest of what it showed: of the whole text.

    The id is part of the text, so a digest seen on one ask is worth nothing on another that
    happens to propose the same (E6).
    """

    id: str
    content: Content
    digest: str
    key: str | None = None
    held: bool = False
    stake: Stake | None = None


def write(
    ask_id: str,
    content: Content,
    *,
    origin: Origin,
    key: str | None,
    held: bool,
    stake: Stake | None = None,
) -> tuple[str, Asked]:
    """Return the canonical text that puts this question, and what it will be read as.

    Raises:
        BadValue: it cannot be stored, or is too large for a person to review.
    """
    payload: dict[str, Any] = {"ask": ask_id, "content": content.to_json()}
    if key is not None:
        payload["key"] = key
    if held:
        payload["held"] = True
    if stake is not None:
        payload["trust"] = stake.to_json()
    if origin.request is not None:
        payload["request"] = origin.request
    text = written(payload | {"via": origin.via, "account": origin.account}, what="ask")
    check_size(text, 2 * LIMIT, "ask")
    if content.files:  # what is remembered is not their bytes
        content = content.changed(files=tuple(note.bare for note in content.files))
    asked = Asked(ask_id, content, text_digest(text), key, held, stake)
    _remember(text, asked)
    return text, asked


def read(text: str) -> Asked:
    """Return what a text written by `write` says.

    Raises:
        ValueError, KeyError, TypeError, BadValue: nobody wrote it with `write`.
    """
    known = _remembered.get(text)
    if known is not None:
        return known
    payload = digest.read(text)
    content = Content.from_json(payload["content"])
    held = payload.get("held", False)
    stake = Stake.from_json(payload["trust"]) if "trust" in payload else None
    asked = Asked(payload["ask"], content, text_digest(text), payload.get("key"), held, stake)
    _remember(text, asked)
    return asked


def _remember(text: str, asked: Asked) -> None:
    # The values of options are lists and dicts as they come, which a reader could change.
    if len(text) > _LONGEST or asked.content.options:
        return
    if len(_remembered) >= _MOST:
        _remembered.clear()
    _remembered[text] = asked
