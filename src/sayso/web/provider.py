"""The identity provider of a team, as its settings name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sayso.asks.people import roles_of
from sayso.errors import BadValue
from sayso.web.doors import is_loopback


@dataclass(frozen=True, slots=True)
class Provider:
    """An OpenID Connect provider.

    Args:
        issuer: Its address, exactly as it calls itself.
        client_id: What it calls us.
        client_secret: What proves that to it; `None` for a client without one.
        groups: The claim that lists somebody's groups.
        roles: Which roles a group gives. Other roles of a person stay as they are.
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    groups: str = "groups"
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what nobody could sign in with."""
        if not private(self.issuer):
            raise BadValue(
                f"The issuer {self.issuer!r} must be an https address: whoever can answer in its "
                "place can sign in as anybody."
            )
        if not self.client_id:
            raise BadValue("An identity provider needs client_id: what it calls this service.")


def private(url: str) -> bool:
    """Whether what is said to this address stays between us and it."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (
        parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    )


def roles_by_group(given: Mapping[str, object]) -> dict[str, frozenset[str]]:
    """Return the roles that groups give, as settings write them: a word, or a list of words."""
    found: dict[str, frozenset[str]] = {}
    for group, roles in given.items():
        words = [roles] if isinstance(roles, str) else roles
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise BadValue(f"[serve.oidc.roles] {group} takes a role or a list of roles.")
        found[group] = roles_of(words)
    return found
