"""People and mails as a call names them: who gets it, and at which domains.

A domain stands apart from the name before it, because that is where the deceit is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sayso.channels.urls import mixed_scripts
from sayso.channels.values import clipped
from sayso.model.lookalikes import disguised, unmasked

_MOST_DOMAINS = 5
_MOST_READ = 10_000
_ADDRESS = re.compile(r"[^\s@<>,;\"]+@([^\s@<>,;\"]+\.[^\s@<>,;\".]+)")
# No two of its parts take the same blanks, or a long row of them would be tried in every way.
_PERSON = re.compile(r"\s*(?:[^<>@,;\n]{0,200}<\s*)?([^\s@<>,;\"]+@[^\s@<>,;\"]+)\s*(?:>\s*)?")
_AFTER = re.compile(r"[\s<>,;\"]")  # what no domain has in it
# The parts of a mail, in the order in which people read them.
_PARTS = {
    "from": ("from", "from_", "sender", "from_address"),
    "to": ("to", "recipient", "recipients", "to_address", "to_addresses"),
    "cc": ("cc",),
    "bcc": ("bcc",),
    "reply to": ("reply_to", "replyto"),
    "subject": ("subject",),
    "body": ("body", "text", "html", "message", "content", "body_text", "body_html"),
}
_LONGEST_NAME = max(len(name) for names in _PARTS.values() for name in names)
_RECIPIENTS = ("to", "cc", "bcc")
_PEOPLE = ("from", *_RECIPIENTS, "reply to")


@dataclass(frozen=True, slots=True)
class People:
    """Addresses with their domains apart, and what is to be said of them together."""

    apart: tuple[tuple[str, str, str], ...]
    note: str | None


@dataclass(frozen=True, slots=True)
class Mail:
    """The arguments that make a mail, and each of its parts in words."""

    parts: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    note: str | None


def people_in(text: str) -> tuple[str, ...]:
    """Return the addresses of a text that holds nothing else; none if it holds anything else."""
    if "@" not in text or len(text) > 1_000_000:
        return ()
    parts = [part.strip() for part in re.split("[,;\n]", text) if part.strip()]
    return tuple(parts) if all(_PERSON.fullmatch(part) for part in parts) else ()


def read_people(found: Sequence[str]) -> People:
    """Take addresses apart, and count them and their domains."""
    apart = tuple(_apart(one) for one in found[:_MOST_READ])
    domains = Counter(domain.lower() for _, domain, _ in apart)
    several = [f"{len(found):,} people"] if len(found) > 1 else []
    if len(found) > 1:
        named = ", ".join(
            f"{clipped(name, 60)} ({n})" for name, n in domains.most_common(_MOST_DOMAINS)
        )
        more = f" and {len(domains) - _MOST_DOMAINS} more" if len(domains) > _MOST_DOMAINS else ""
        several.append(f"at {named}{more}")
    odd = [_odd(domain) for domain in domains]
    said = [" ".join(several), *filter(None, odd)]
    return People(apart, ". ".join(filter(None, said)) + "." if any(said) else None)


def _apart(person: str) -> tuple[str, str, str]:
    """Return an address as what stands before the domain, the domain, and what follows: all of it."""
    name, _, rest = person.rpartition("@")
    domain = _AFTER.split(rest, maxsplit=1)[0]
    return name, domain, rest[len(domain) :]


def _odd(domain: str) -> str | None:
    """Say what makes a domain look like another."""
    if "xn--" in domain:
        return f"{clipped(domain, 60)} is written in punycode"
    word = next(disguised(domain), None)
    if word is not None:
        return f"{clipped(domain, 60)} is not spelt as it looks ({unmasked(word)})"
    scripts = mixed_scripts(domain)
    return f"{clipped(domain, 60)} mixes {' and '.join(scripts)}" if len(scripts) > 1 else None


def mail_of(args: Mapping[str, Any], read: Collection[str]) -> Mail | None:
    """Return the mail that arguments make together, `None` if they make none.

    Only those are looked into that may be `read`; the body is taken as it is, however long.
    """
    short = {name: name.lower() for name in args if len(name) <= _LONGEST_NAME}
    parts: dict[str, str] = {}
    for part, names in _PARTS.items():
        found = next((name for name, lower in short.items() if lower in names), None)
        if found is None or (part != "body" and found not in read):
            continue
        if _fits(part, args[found]):
            parts[part] = found
    if not any(part in parts for part in _RECIPIENTS) or not {"subject", "body"} & set(parts):
        return None
    recipients = [
        one for part in _RECIPIENTS if part in parts for one in _listed(args[parts[part]])
    ]
    if not recipients:
        return None
    rows = tuple((part.capitalize(), _words(args[name])) for part, name in parts.items())
    blind = len(_listed(args[parts["bcc"]])) if "bcc" in parts else 0
    said = [f"{blind:,} in blind copy"] if blind else []
    note = ". ".join(filter(None, [*said, read_people(recipients).note]))
    return Mail(tuple(sorted(parts.values(), key=list(args).index)), rows, note or None)


def _fits(part: str, value: object) -> bool:
    if part not in _PEOPLE:
        return isinstance(value, str)
    if value in (None, "", []):
        return part in ("cc", "bcc", "reply to")
    return bool(_listed(value))


def _listed(value: object) -> tuple[str, ...]:
    """Return the addresses of an argument; none if anything in it is no address."""
    if isinstance(value, str):
        return people_in(value)
    if not isinstance(value, list):
        return ()
    found = [people_in(item) if isinstance(item, str) else () for item in value]
    return tuple(one for each in found for one in each) if all(found) else ()


def _words(value: object) -> str:
    if isinstance(value, str):
        return value or "(empty)"
    return ", ".join(_listed(value)) or "(nobody)"
