"""The certificates of the world, loaded once.

That takes 40 ms for each HTTP client, the tests make thousands of them, and none goes out into the
world. They are those that the environment named when the tests began, if it named any; whoever names
others gets those.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from functools import cache
from typing import Any

import certifi
import httpcore2

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
