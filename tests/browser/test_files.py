"""Files beside an ask: an image that is one is shown, everything else is offered."""

from __future__ import annotations

import struct
import zlib

from playwright.sync_api import expect

import sayso
from tests.browser.office import Office


def png(width: int = 8, height: int = 8) -> bytes:
    """Return a small picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    lines = b"".join(b"\0" + b"\x20\x60\xa0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines))
        + chunk(b"IEND", b"")
    )


def test_an_image_is_shown_beside_the_ask(solo: Office) -> None:
    ask = solo.open(files=[sayso.File("receipt.png", png())])
    here = solo.window().visit(solo.path(ask))

    image = here(f'main#detail img[src^="/inbox/{ask.id}/files/"]')
    expect(image).to_be_visible()
    here.page.wait_for_function(
        "() => document.querySelector('main#detail img[src*=\"/files/\"]').naturalWidth === 8"
    )
    assert image.get_attribute("alt")
