"""What a browser sends with a form: names, each with one value or several."""

from __future__ import annotations

from urllib.parse import parse_qsl

from fastapi import Request

from sayso.web.forms.sent import MOST_SENT, Posted
from sayso.web.problems import Problem
from sayso.web.service import service_of

NOTHING: Posted = {}
_FIELDS = 2 * MOST_SENT  # a value, and a mark that says how it was drawn
_FORM = "application/x-www-form-urlencoded"


async def posted(request: Request) -> Posted:
    """Return the fields of a form.

    Raises:
        Problem: it is no form, or has more fields than any page of ours.
    """
    given = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    body = await request.body()
    if body and given != _FORM:
        raise Problem(415, "wrong-type", f"This address takes a form: `Content-Type: {_FORM}`.")
    return await service_of(request).work(lambda: fields_of(body))


def fields_of(body: bytes) -> Posted:
    """Read the fields of a form.

    Raises:
        Problem: it cannot be read, or has too many fields.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_FIELDS,
        )
    except UnicodeError:
        raise Problem(400, "bad-form", "The form is not written in UTF-8.") from None
    except ValueError:
        words = f"The form has more than {_FIELDS:,} fields. Use the JSON tab instead."
        raise Problem(413, "too-large", words) from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(as_sent(name), []).append(as_sent(value))
    return found


def as_sent(text: str) -> str:
    """Return a text as it comes back from a form that nobody touched.

    A browser reads every line end as one line feed, sends each as two characters, and has no NUL.
    Whether a text was changed is asked of both sides in this form, and what was not changed keeps
    its own characters.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def one(fields: Posted, name: str, default: str = "") -> str:
    """Return the one value of a field; of several, the last."""
    values = fields.get(name)
    return values[-1] if values else default
