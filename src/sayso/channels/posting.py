"""One POST to an address that somebody else chose.

Whoever names a URL must not thereby reach what only this machine can: the host is looked up once,
its addresses are judged, and the connection goes to the very address that was judged, so that a
name cannot point elsewhere a moment later. TLS still checks the name. No redirect is followed, no
proxy is asked, and the whole exchange ends after a time limit however slowly bytes drip in.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from email.utils import parsedate_to_datetime
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit, urlunsplit

from sayso.errors import BadValue
from sayso.model.text import one_line

TIMEOUT = 15.0
_LONGEST_URL = 2048
_PORTS = {"http": 80, "https": 443}
_HEADERS = {
    "Content-Type": "application/json",
    "User-Agent": "sayso-webhooks",
    "Connection": "close",
}
_NAT64 = IPv6Network("64:ff9b::/96")
# Said here, as what `is_global` says of them differs between versions of Python.
_INWARD: tuple[IPv4Network | IPv6Network, ...] = (
    IPv6Network("::/96"),  # IPv4 of old
    IPv6Network("64:ff9b:1::/48"),  # a network's own
    IPv4Network("192.0.0.0/24"),  # protocol assignments
    IPv6Network("3fff::/20"),  # documentation
    IPv6Network("5f00::/16"),  # segment routing
)

Address = IPv4Address | IPv6Address


class Outcome(NamedTuple):
    """What came of one attempt: the status that was answered, or why there was none."""

    code: int | None
    error: str | None
    took: int
    retry_after: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the receiver took it."""
        return self.code is not None and 200 <= self.code < 300


class NotPublic(Exception):
    """The host is, or might be, one that only this network can reach."""


def check_url(url: str, *, private: bool) -> str:
    """Return the URL if messages may be sent there.

    Raises:
        BadValue: it is no http or https URL, carries a password, or leads into this network.
    """
    if not isinstance(url, str) or len(url) > _LONGEST_URL or not url.isascii():
        raise BadValue(f"The URL of a webhook is up to {_LONGEST_URL:,} ASCII characters.")
    if not url.isprintable() or " " in url:
        raise BadValue("The URL of a webhook has no spaces and no control characters.")
    try:
        parts = urlsplit(url)
        port = _port(parts)
    except (ValueError, KeyError) as error:
        raise BadValue(
            f"{_shown(url)} is no URL to send to: it begins with https:// or http://."
        ) from error
    if not parts.hostname or port == 0:
        raise BadValue(f"{_shown(url)} names no host.")
    if "@" in parts.netloc or parts.fragment:
        raise BadValue("The URL of a webhook carries no user, no password and no #fragment.")
    if private:
        return url
    try:
        reachable(parts.hostname, port, private=False)
    except NotPublic as error:
        raise BadValue(
            f"{error} If that is meant: --allow-private, in Python allow_private=True."
        ) from error
    except OSError:
        return url  # not known yet; it is looked up, and judged, at every attempt
    return url


def _port(parts: SplitResult) -> int:
    usual = _PORTS[parts.scheme]
    return usual if parts.port is None else parts.port


def _shown(url: str) -> str:
    return repr(one_line(url, 80))


def reachable(host: str, port: int, *, private: bool) -> list[str]:
    """Look a host up, and return its addresses if all of them may be connected to.

    Raises:
        NotPublic: one of them is of this machine or network.
        OSError: it is not known.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{one_line(host, 80)} is no name of a host") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        if not private and not _public(ip_address(address)):
            raise NotPublic(f"{one_line(host, 80)} leads to {address}, which is not public.")
    return addresses


def _public(address: Address) -> bool:
    """Whether an address is of the internet, whatever notation it comes in."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _public(inner)
        if address.teredo is not None or address.is_site_local:
            return False
    if any(address in network for network in _INWARD):
        return False
    return address.is_global and not address.is_multicast


class Postbox:
    """Sends messages, one at a time per thread; the certificates it trusts are read once."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self.timeout = timeout

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()

    def post(self, url: str, headers: Mapping[str, str], body: bytes, *, private: bool) -> Outcome:
        """Send a message in JSON, and return what came of it; it raises nothing."""
        begun = time.monotonic()
        code, error, later = None, None, None
        try:
            with self._answer(url, headers, body, private=private) as answer:
                code, later = answer.status, answer.headers.get("Retry-After")
        except NotPublic as refused:
            error = f"Not sent: {refused}"
        except TimeoutError:
            error = f"No answer within {self.timeout:g} s."
        except (OSError, HTTPException, ValueError) as failure:
            late = time.monotonic() - begun >= self.timeout
            said = one_line(str(failure), 200) or type(failure).__name__
            error = f"No answer within {self.timeout:g} s." if late else said
        if code is not None and not 200 <= code < 300:
            error = f"The receiver answered {code}."
        return Outcome(code, error, round((time.monotonic() - begun) * 1000), later)

    @contextmanager
    def _answer(
        self, url: str, headers: Mapping[str, str], body: bytes, *, private: bool
    ) -> Iterator[HTTPResponse]:
        parts = urlsplit(url)
        host, port = parts.hostname or "", _port(parts)
        addresses = reachable(host, port, private=private)
        end = time.monotonic() + self.timeout
        line = _dialled(addresses, port, end)
        if parts.scheme == "https":
            with _broken_off(line, end):
                line = self._tls.wrap_socket(line, server_hostname=host)
        connection = HTTPConnection(host, port)
        connection.sock = line
        with _broken_off(line, end), closing(connection):
            target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
            given = {**headers, **_HEADERS, "Host": parts.netloc}
            connection.request("POST", target, body, given)
            with connection.getresponse() as answer:
                if (
                    time.monotonic() >= end
                ):  # broken off inside its headers, which looks like their end
                    raise TimeoutError
                yield answer


def _dialled(addresses: list[str], port: int, end: float) -> socket.socket:
    """Connect to the first address that answers."""
    failure: OSError = OSError("the host has no address")
    for address in addresses:
        try:
            return socket.create_connection((address, port), max(end - time.monotonic(), 0.1))
        except OSError as error:
            failure = error
    raise failure


@contextmanager
def _broken_off(line: socket.socket, end: float) -> Iterator[None]:
    """Break the connection off at the end: a time-out of the socket is for each byte anew."""
    # The method of the plain socket: the one of TLS would change what another thread reads from.
    alarm = threading.Timer(max(end - time.monotonic(), 0), _break, (line,))
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def _break(line: socket.socket) -> None:
    try:
        socket.socket.shutdown(line, socket.SHUT_RDWR)
    except OSError:
        return  # closed already


def seconds_asked(retry_after: str | None, now: float) -> float:
    """Return how long a receiver wants to be left alone, by its Retry-After; 0 if it did not say."""
    if retry_after is None:
        return 0.0
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(parsedate_to_datetime(text).timestamp() - now, 0.0)
    except (ValueError, TypeError, OverflowError):
        return 0.0
