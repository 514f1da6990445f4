"""A file beside an ask: what the ask keeps of it, which its digest covers.

Its bytes are stored apart, once for all asks that show the same. Whether something is an image is
said by its first bytes and by nothing else: a page shows images, and everything else is offered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from sayso.errors import BadValue
from sayso.model.text import one_line

MOST_FILES = 10
MOST_BYTES = 1024 * 1024  # of all files of an ask together
UNKNOWN = "application/octet-stream"

# What a browser may draw, by how it begins. No SVG: that is a program.
_BEGINS: tuple[tuple[bytes, bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", b"", "image/png"),
    (b"\xff\xd8\xff", b"", "image/jpeg"),
    (b"GIF87a", b"", "image/gif"),
    (b"GIF89a", b"", "image/gif"),
    (b"RIFF", b"WEBP", "image/webp"),
)
IMAGES = frozenset(media for _, _, media in _BEGINS)
_ENDINGS = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "log": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "zip": "application/zip",
}
_MEDIA = re.compile(r"[a-z0-9][a-z0-9.+_-]{0,60}/[a-z0-9][a-z0-9.+_-]{0,100}")


@dataclass(frozen=True, slots=True)
class FileNote:
    """Name, media type, size and SHA-256 of a file.

    `media` is an image's only if the bytes are one; what was claimed instead is in `claimed`.
    `data` are the bytes on their way to the store; what was read from a journal has none.
    """

    name: str
    media: str
    size: int
    digest: str
    claimed: str | None = None
    data: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def image(self) -> bool:
        """Whether it is a PNG, JPEG, GIF or WebP, by its bytes."""
        return self.media in IMAGES

    @property
    def bare(self) -> FileNote:
        """The same without the bytes."""
        return replace(self, data=None)

    def to_json(self) -> dict[str, Any]:
        """Return the form kept in the journal."""
        stated = {"name": self.name, "media": self.media, "size": self.size, "digest": self.digest}
        return stated if self.claimed is None else stated | {"claimed": self.claimed}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> FileNote:
        """Read the form kept in the journal."""
        claimed = data.get("claimed")
        return cls(data["name"], data["media"], data["size"], data["digest"], claimed)


def image_type(data: bytes) -> str | None:
    """Return the media type of an image, by how its bytes begin; `None` if it is none."""
    for head, later, media in _BEGINS:
        if data.startswith(head) and data.startswith(later, 8 if later else 0):
            return media
    return None


def note_file(name: object, data: bytes, media: object = None) -> FileNote:
    """Return what an ask keeps of a file.

    Raises:
        BadValue: its name cannot be the name of a file, or the media type is none.
    """
    named, is_image = check_name(name), image_type(data)
    said = _check_media(media) or _by_name(named)
    found = is_image or (UNKNOWN if said in IMAGES else said) or UNKNOWN
    claimed = said if said is not None and said != found else None
    return FileNote(named, found, len(data), sha256(data).hexdigest(), claimed, data)


def check_name(name: object) -> str:
    """Return the name of a file.

    Raises:
        BadValue: it is no text, empty, too long, or leads somewhere else.
    """
    if not isinstance(name, str):
        raise BadValue(f"The name of a file is text, not {type(name).__name__}.")
    shown = repr(one_line(name, 40))
    if not 1 <= len(name) <= 200 or not name.isprintable() or not name.strip(" ."):
        raise BadValue(f"The name of a file takes 1 to 200 printable characters, not {shown}.")
    if "/" in name or "\\" in name:
        raise BadValue(f"{shown} is a path: give the name of the file alone, without slashes.")
    return name


def _check_media(media: object) -> str | None:
    if media is None:
        return None
    said = media.lower() if isinstance(media, str) else media
    if not isinstance(said, str) or not _MEDIA.fullmatch(said):
        raise BadValue(
            f"media={one_line(repr(media), 60)}: it is a media type such as 'application/pdf', or "
            "left out."
        )
    return said


def _by_name(name: str) -> str | None:
    return _ENDINGS.get(name.rpartition(".")[2].lower())


def check_files(notes: tuple[FileNote, ...]) -> tuple[FileNote, ...]:
    """Return the files of one ask.

    Raises:
        BadValue: they are too many or too large, or two of them have one name.
    """
    if len(notes) > MOST_FILES:
        raise BadValue(f"An ask takes at most {MOST_FILES} files, not {len(notes)}: link the rest.")
    size = sum(note.size for note in notes)
    if size > MOST_BYTES:
        raise BadValue(
            f"The files of an ask take at most {MOST_BYTES:,} bytes together, not {size:,}: shrink "
            "them, or show a part and say where the rest is."
        )
    seen: set[str] = set()
    for note in notes:
        if note.name.casefold() in seen:
            raise BadValue(f"Two files are called {note.name!r}: give each a name of its own.")
        seen.add(note.name.casefold())
    return notes
