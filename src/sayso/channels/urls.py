"""Addresses of the web, taken apart so that nobody is led to another host than they read.

The host is what counts; everything that makes one look like another is said.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import urlsplit

from sayso.model.lookalikes import LOOK_ALIKES
from sayso.model.text import hides

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://)")
_CODE = re.compile(r"\s*(javascript|vbscript|data):", re.IGNORECASE)
_USUAL_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
_PUBLIC = frozenset({"http", "https"})
_LONGEST = 16_384


@dataclass(frozen=True, slots=True)
class Url:
    """One address: how it is reached, where it leads, the rest, and what is odd about it."""

    scheme: str
    host: str
    rest: str
    warnings: tuple[str, ...] = ()

    @property
    def web(self) -> bool:
        """Whether a browser would open it as a page."""
        return self.scheme in _PUBLIC and bool(self.host)


def url_of(text: str) -> Url | None:
    """Take an address apart; `None` if the text is none."""
    if _CODE.match(text):
        scheme, _, rest = text.strip().partition(":")
        return Url(scheme.lower(), "", rest, ("It leads to no host: it is code or data.",))
    if len(text) > _LONGEST or _SCHEME.match(text) is None or any(c.isspace() for c in text):
        return None
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    rest = text.partition("://")[2][len(parts.netloc) :]
    found = Url(parts.scheme.lower(), host, rest, ())
    shown = f"{host}:{port}" if port not in (None, _USUAL_PORTS.get(found.scheme)) else host
    return Url(found.scheme, shown, rest, tuple(_warnings(text, parts.netloc, found)))


def _warnings(text: str, netloc: str, url: Url) -> list[str]:
    host = url.host
    said = []
    if "@" in netloc:
        before = netloc.rpartition("@")[0].partition(":")[0]
        looks = f" It is not {before}." if "." in before else ""
        said.append(f"What stands before the @ is a name to sign in with, not the host.{looks}")
    if "\\" in text:
        said.append("It has a backslash, which browsers take for a slash.")
    if hides(text):
        said.append("It has characters that cannot be seen.")
    said += _of_host(host)
    if url.scheme == "http":
        said.append("It is not encrypted (http).")
    elif url.scheme not in _USUAL_PORTS:
        said.append(f"It is no page of the web ({url.scheme}).")
    return said


def _of_host(host: str) -> list[str]:
    if not host:
        return ["It names no host."]
    if any(label.startswith("xn--") for label in host.split(".")):
        return [f"The host is written in punycode{_unpunycoded(host)}."]
    scripts = mixed_scripts(host)
    if len(scripts) > 1:
        return [f"The host mixes letters of {' and '.join(scripts)}."]
    if scripts and scripts != ("Latin",) and any(char in LOOK_ALIKES for char in host):
        return [f"The host is written in {scripts[0]} letters that look Latin."]
    if _is_number(host):
        return ["The host is a number, not a name."]
    return []


def mixed_scripts(text: str) -> tuple[str, ...]:
    """Return the alphabets that the letters of a name come from, as Unicode names them."""
    found = {
        unicodedata.name(char, "unknown").split(" ")[0].capitalize()
        for char in text
        if char.isalpha()
    }
    return tuple(sorted(found))


def _unpunycoded(host: str) -> str:
    try:
        read = ".".join(
            label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
            for label in host.split(".")
        )
    except (UnicodeError, ValueError):
        return ", which cannot be read"
    return f" and is shown elsewhere as {read}"


def _is_number(host: str) -> bool:
    if re.fullmatch(r"(0x[0-9a-f]+|\d+)(\.(0x[0-9a-f]+|\d+)){0,3}", host):
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
