"""The certificates of the world, loaded once.

That takes 40 ms for each HTTP client, the tests make thousands of them, and none goes out into the
world. Whoever names other certificates gets those.
"""

from __future__ import annotations

import os
import ssl
from functools import cache
from typing import Any

import certifi
import httpcore2

_usual = httpcore2.default_ssl_context
_given = ssl.create_default_context


@cache
def _of_httpx2() -> ssl.SSLContext:
    return _usual()


@cache
def _of_httpx() -> ssl.SSLContext:
    return _given(cafile=certifi.where())


def _for_httpx2(**given: Any) -> ssl.SSLContext:
    named = {"SSL_CERT_FILE", "SSL_CERT_DIR"} & os.environ.keys()
    return _usual(**given) if named else _of_httpx2()


def _for_httpx(*given: Any, **more: Any) -> ssl.SSLContext:
    usual = not given and more == {"cafile": certifi.where()}
    return _of_httpx() if usual else _given(*given, **more)


def load_once() -> None:
    """Let all clients of this process share them."""
    httpcore2.default_ssl_context = _for_httpx2
    ssl.create_default_context = _for_httpx
