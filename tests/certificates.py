"""A certificate that a test makes; and those of the world, loaded once.

That takes 40 ms for each HTTP client, the tests make thousands of them, and none goes out into the
world. They are those that the environment named when the tests began, if it named any; whoever names
others gets those.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import certifi
import httpcore2
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

_usual = httpcore2.default_ssl_context
_given = ssl.create_default_context


def _named() -> Mapping[str, str]:
    names = ("SSL_CERT_FILE", "SSL_CERT_DIR")
    return {name: os.environ[name] for name in names if name in os.environ}


_began = _named()
_file = _began.get("SSL_CERT_FILE", certifi.where())


@cache
def _of_httpx2(**given: Any) -> ssl.SSLContext:
    return _usual(**given)


@cache
def _of_httpx() -> ssl.SSLContext:
    return _given(cafile=_file)


def _for_httpx2(**given: Any) -> ssl.SSLContext:
    return _of_httpx2(**given) if _named() == _began else _usual(**given)


def _for_httpx(*given: Any, **more: Any) -> ssl.SSLContext:
    usual = not given and more == {"cafile": _file}
    return _of_httpx() if usual else _given(*given, **more)


def load_once() -> None:
    """Let all clients of this process share them."""
    httpcore2.default_ssl_context = _for_httpx2
    ssl.create_default_context = _for_httpx


def certified(folder: Path, name: str = "127.0.0.1") -> tuple[Path, Path]:
    """Write a certificate that vouches for itself, `desk.pem`, and its key; return both files."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    of = x509.IPAddress(ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([of]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "desk.pem", folder / "desk.key"
    files[0].write_bytes(made.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return files
