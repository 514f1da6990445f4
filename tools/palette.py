"""A screenshot as a PNG of few colours: a quarter of the bytes, and nobody sees the difference.

The browser that took it also counts its colours, which it does in a blink; what it hands back is
one byte for each pixel, and here these become a file.
"""

from __future__ import annotations

import base64
import struct
import zlib

from playwright.sync_api import Page

COLOURS = 128
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Some colours stay; every other one becomes the nearest of them.
_REDUCE = """
async ([picture, most]) => {
  const bytes = Uint8Array.from(atob(picture), (one) => one.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
  const canvas = new OffscreenCanvas(image.width, image.height);
  const paper = canvas.getContext('2d');
  paper.drawImage(image, 0, 0);
  const {data} = paper.getImageData(0, 0, image.width, image.height);
  const pixels = new Uint32Array(data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const part = (pixel, at) => (pixel >> at) & 255;
  const apart = (a, b) => [0, 8, 16].reduce((sum, at) => sum + (part(a, at) - part(b, at)) ** 2, 0);
  const palette = [];
  // Colours that differ much come first, however rare: a small amber sign must not turn red.
  for (const [share, near] of [[0.25, 3000], [0.5, 600], [0.75, 48], [1, 0]]) {
    for (const [pixel] of [...counts].sort((a, b) => b[1] - a[1])) {
      if (palette.length >= most * share) break;
      if (palette.every((one) => apart(one, pixel) > near)) palette.push(pixel);
    }
  }
  const places = new Map();
  for (const pixel of counts.keys()) {
    let best = 0;
    for (let place = 1; place < palette.length; place += 1)
      if (apart(palette[place], pixel) < apart(palette[best], pixel)) best = place;
    places.set(pixel, best);
  }
  let text = '';
  const places_of = Uint8Array.from(pixels, (pixel) => places.get(pixel));
  for (let at = 0; at < places_of.length; at += 32768)
    text += String.fromCharCode(...places_of.subarray(at, at + 32768));
  return [image.width, image.height,
    palette.flatMap((pixel) => [part(pixel, 0), part(pixel, 8), part(pixel, 16)]), btoa(text)];
}
"""


def reduced(page: Page, picture: bytes, colours: int = COLOURS) -> bytes:
    """Return a picture with a palette; `page` is any page of a browser, to count in."""
    given = [base64.b64encode(picture).decode(), colours]
    width, height, palette, places = page.evaluate(_REDUCE, given)
    pixels = base64.b64decode(places)
    lines = b"".join(b"\0" + pixels[at : at + width] for at in range(0, width * height, width))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return (
        _SIGNATURE
        + _chunk(b"IHDR", head)
        + _chunk(b"PLTE", bytes(palette))
        + _chunk(b"IDAT", zlib.compress(lines, 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    crc = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)
