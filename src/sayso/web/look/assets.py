"""Style, scripts, fonts and icons, under names that change with what is in them.

A browser may keep `app.0123456789.css` for ever, because another edition has another name. What
others wrote is named by its own bytes; what we wrote by all of ours together, because our files
refer to each other (`"./keys.js"`, which becomes the full name when it is served).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from fastapi import APIRouter, Request
from starlette.responses import Response

from sayso.web.look.packing import packed, unpacks
from sayso.web.problems import Problem

FOLDER = Path(__file__).parent.parent / "static"
ROOT = "/static/"
_MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_OURS = (".css", ".js")
_FOREIGN = ("htmx.min.js",)
_NEIGHBOUR = re.compile(r'(?<=["\'])\./([\w.-]+)(?=["\'])')
_FOR_EVER = "public, max-age=31536000, immutable"

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is served."""

    path: str
    media: str
    body: bytes
    gzip: bytes | None

    @property
    def etag(self) -> str:
        """A name for these bytes."""
        return f'"{sha256(self.body).hexdigest()[:20]}"'


def asset(name: str) -> str:
    """Return the address of a file of ours: `/static/app.0123456789.css`."""
    return _assets()[name].path


def modules() -> tuple[str, ...]:
    """Return the addresses of our scripts, so that a browser need not find them one by one."""
    return tuple(found.path for name, found in _assets().items() if _is_ours(name, ".js"))


@router.get(ROOT + "{name}", include_in_schema=False)
async def static(name: str, request: Request) -> Response:
    """Return a file. Its name says which edition, so it may be kept for ever."""
    found = _served().get(name)
    if found is None:
        words = "There is no such file in this edition of the pages. Load the page again."
        raise Problem(404, "no-route", words)
    headers = {"Cache-Control": _FOR_EVER, "ETag": found.etag, "Vary": "Accept-Encoding"}
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if found.gzip is not None and unpacks(request.scope):
        return Response(
            found.gzip, headers={**headers, "Content-Encoding": "gzip"}, media_type=found.media
        )
    return Response(found.body, headers=headers, media_type=found.media)


@cache
def _assets() -> Mapping[str, Asset]:
    """Return every file by the name it has in the folder."""
    files = sorted(file for file in FOLDER.rglob("*") if file.suffix in _MEDIA)
    bodies = {file.name: file.read_bytes() for file in files}
    ours = {name for name in bodies if _is_ours(name)}
    edition = _hash(b"".join(bodies[name] for name in sorted(bodies)))
    paths = {
        name: _path(name, edition if name in ours else _hash(body)) for name, body in bodies.items()
    }
    return MappingProxyType(
        {
            name: _asset(paths[name], _linked(body, paths) if name in ours else body)
            for name, body in bodies.items()
        }
    )


@cache
def _served() -> Mapping[str, Asset]:
    return {found.path.removeprefix(ROOT): found for found in _assets().values()}


def _is_ours(name: str, suffixes: str | tuple[str, ...] = _OURS) -> bool:
    return name.endswith(suffixes) and name not in _FOREIGN


def _linked(body: bytes, paths: Mapping[str, str]) -> bytes:
    """Write the full names of the neighbours that a file names."""
    text = body.decode("utf-8")
    return _NEIGHBOUR.sub(lambda named: paths.get(named[1], named[0]), text).encode()


def _asset(path: str, body: bytes) -> Asset:
    media = _MEDIA[Path(path).suffix]
    small = None if media == "font/woff2" else packed(body, 9)  # fonts are packed already
    return Asset(path, media, body, small)


def _path(name: str, edition: str) -> str:
    stem, _, suffix = name.rpartition(".")
    return f"{ROOT}{stem}.{edition}.{suffix}"


def _hash(body: bytes) -> str:
    return sha256(body).hexdigest()[:10]
