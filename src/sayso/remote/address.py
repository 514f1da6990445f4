"""Where a server is, and with which token to come."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sayso.errors import BadValue, Misuse

TOKEN = "SAYSO_TOKEN"  # noqa: S105 - the name of the setting
_TOKEN = re.compile(r"[\x21-\x7e]{1,500}")


@dataclass(frozen=True, slots=True)
class Address:
    """A server, and the token to show there, which no message and no `repr` shows."""

    url: str
    loopback: bool
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, url: str, token: str | None, *, insecure: bool = False) -> Address:
        """Check an address; the token is `token`, or else `SAYSO_TOKEN`.

        Raises:
            BadValue: it is no address of a server, or holds a password.
            Misuse: the token would go over the network in the clear.
        """
        base, host, scheme = _parts(url)
        loopback = _is_loopback(host)
        if scheme == "http" and not loopback and not insecure:
            raise Misuse(
                f"{base} is not encrypted: whoever is on the way could read the token and decide "
                "in your name. Use https://, or insecure=True in a network where nobody else is."
            )
        return cls(base, loopback, _checked(token if token is not None else os.environ.get(TOKEN)))


def _parts(url: str) -> tuple[str, str, str]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, parts, port = None, urlsplit(""), None
    if "@" in parts.netloc:
        raise BadValue(
            f"The address of a server holds no name and no password: addresses end up in logs. "
            f"Put the token into {TOKEN}, or give token=."
        )
    if not host or parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise BadValue("The address of a server looks like https://desk.example.com, and no more.")
    where = f"[{host}]" if ":" in host else host
    place = where if port is None else f"{where}:{port}"
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}", host, parts.scheme


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _checked(token: object) -> str | None:
    if token is None or token == "":
        return None
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise BadValue(f"The token (token= or {TOKEN}) is no token: it holds strange characters.")
    return token
