"""The bytes of a file beside an ask, as an answer that no browser runs.

An agent wrote them. What is an image by its bytes may be shown in place; everything else is
offered to be saved, under no type that a browser would open.
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from sayso.model.file import UNKNOWN, FileNote, image_type

_CSP = "sandbox; default-src 'none'"


def file_response(note: FileNote, data: bytes) -> Response:
    """Return a file; what it is called and claims to be cannot make it more than bytes."""
    image = image_type(data)
    place = "attachment" if image is None else "inline"
    return Response(
        data,
        media_type=image or UNKNOWN,
        headers={
            "Content-Disposition": f"{place}; filename*=UTF-8''{quote(note.name, safe='')}",
            "Content-Security-Policy": _CSP,
            "X-Content-Type-Options": "nosniff",
        },
    )
