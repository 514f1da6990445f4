"""Where the service listens, and from where it may be reached.

Without people on the desk whoever comes in decides, so only this machine may come in. With
people on it passwords and cookies go over the wire, so the wire must be private, or encrypted.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sayso.errors import BadValue, Misuse
from sayso.model.text import one_line

HOST, PORT = "127.0.0.1", 8700
_TRIES = 50
_LOOPBACK = (HOST, "::1")


@dataclass(frozen=True, slots=True)
class Door:
    """An address to listen on, and how it is protected."""

    host: str = HOST
    port: int = PORT
    certificate: Path | None = None
    key: Path | None = None
    public_url: str | None = None
    proxies: tuple[str, ...] = ()
    insecure: bool = False

    @property
    def near(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def exposed(self) -> bool:
        """Whether other machines come in: by themselves, or through a proxy with another name."""
        named = urlsplit(self.public_url).hostname if self.public_url else None
        return not self.near or (named is not None and not is_loopback(named))

    @property
    def scheme(self) -> str:
        """What is spoken at the door itself."""
        return "https" if self.certificate else "http"

    def url(self, port: int) -> str:
        """Return the address under which people come: the public one, or that of the door."""
        if self.public_url:
            return self.public_url
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether an address is that of this machine, and of no other."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_door(door: Door, *, people: bool) -> None:
    """Refuse a door through which the wrong ones could come, or listen.

    Raises:
        Misuse: it is open to other machines and nobody can sign in, or what they send could be read.
        BadValue: an address, a certificate or a key makes no sense.
    """
    _check_tls(door)
    _check_url(door)
    for proxy in door.proxies:
        _check_proxy(proxy)
    if not door.exposed:
        return
    if not people:
        where = door.public_url or door.host
        raise Misuse(
            f"{where} is reached from other machines, and nobody is listed on this desk who could "
            "sign in: whoever came would decide. Add the first person: sayso people add NAME "
            "--admin, then: sayso people password NAME. Or serve this machine only: leave out "
            "--host and --public-url."
        )
    if not door.certificate and not (door.public_url or "").startswith("https:"):
        _check_plain(door)
    if _wildcard(door.host) and not door.public_url:
        raise Misuse(
            f"{door.host} is every address of this machine. Say under which one people come, so "
            "that requests for another are refused: --public-url https://NAME"
        )


def _check_plain(door: Door) -> None:
    if door.insecure:
        return
    raise Misuse(
        f"{door.host} is reached from other machines, and over plain http everybody on the way "
        "reads passwords and cookies. Give a certificate (--tls CERT KEY), or the "
        "https address of the proxy in front (--public-url https://NAME), or say --insecure."
    )


def _wildcard(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return host == ""


def _check_tls(door: Door) -> None:
    if door.certificate is None or door.key is None:
        return
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(door.certificate, door.key)
    except OSError as error:  # of files, and of what is in them
        raise BadValue(
            f"{door.certificate} and {door.key} are no certificate with its key: {error}"
        ) from error


def _check_url(door: Door) -> None:
    if door.public_url is None or _plain_address(door.public_url):
        return
    raise BadValue(
        "--public-url is the address people type, without a path: https://desk.example.org, not "
        f"{one_line(door.public_url, 200)!r}."
    )


def _plain_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        there = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    more = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    return there and not more and url.isascii() and url.isprintable()


def _check_proxy(proxy: str) -> None:
    try:
        ipaddress.ip_network(proxy)
    except ValueError as error:
        raise BadValue(
            f"--proxy takes the address of the proxy in front, such as 10.0.0.5 or 10.0.0.0/24, "
            f"not {one_line(proxy, 100)!r}."
        ) from error


# --- listening ---------------------------------------------------------------------------------


def listen(door: Door) -> list[socket.socket]:
    """Return listening sockets: for this machine those of both families, if it has both.

    Raises:
        Misuse: the port is taken (the next free one is named), or the address is not ours.
    """
    host = door.host.strip("[]")
    hosts = _LOOPBACK if host in {"localhost", HOST} else (host,)
    try:
        return _bound(hosts, door.port)
    except OSError as error:
        raise Misuse(_why_not(error, hosts, door)) from error


def _bound(hosts: tuple[str, ...], port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for host in hosts:
            # The second family listens on the port that the first one got.
            at = sockets[0].getsockname()[1] if sockets else port
            try:
                sockets.append(_listening(host, at))
            except OSError as error:
                if not sockets or error.errno == errno.EADDRINUSE:
                    raise  # without IPv6 the first one is enough
    except BaseException:
        for found in sockets:
            found.close()
        raise
    return sockets


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.bind(address)
        found.listen(1024)
    except BaseException:
        found.close()
        raise
    return found


def _why_not(error: OSError, hosts: tuple[str, ...], door: Door) -> str:
    where = f"{door.host}:{door.port}"
    if error.errno == errno.EADDRINUSE:
        free = _free(hosts, door.port)
        advice = f"; free is: --port {free}" if free else ". Name another one: --port PORT"
        where = "" if door.port == PORT else f" --port {door.port}"
        ours = f" Is it sayso already? Its link: sayso serve --url{where}"
        return f"Port {door.port} is taken by another program{advice}.{ours}"
    if error.errno == errno.EACCES:
        return f"{where} needs rights that this account does not have. Try --port {PORT}."
    return f"Listening on {where} failed: {error.strerror or error}."


def _free(hosts: tuple[str, ...], taken: int) -> int | None:
    for port in range(taken + 1, min(taken + _TRIES, 65535)):
        try:
            sockets = _bound(hosts, port)
        except OSError:
            continue
        for found in sockets:
            found.close()
        return port
    return None
