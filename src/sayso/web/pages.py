"""Plain pages: no script, nothing from elsewhere, every text escaped and made visible first."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from starlette.responses import HTMLResponse

from sayso.model.text import one_line

STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.2; }
code { overflow-wrap: anywhere; }
label { display: block; margin: 1rem 0 .25rem; }
input { font: inherit; padding: .5rem; width: 100%; box-sizing: border-box; }
button { font: inherit; padding: .6rem 1.2rem; margin-top: 1.25rem; min-height: 44px; }
[role=alert] { border-left: 4px solid; padding-left: .75rem; }
"""

_FRAME = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - sayso</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def page(
    title: str, *parts: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Return a page of parts that are HTML already."""
    body = "\n".join(parts)
    return HTMLResponse(
        _FRAME.format(title=shown(title), body=body), status, headers=dict(headers or {})
    )


def shown(text: str, width: int = 500) -> str:
    """Return a text as it may stand in a page, also between quotes."""
    return escape(one_line(text, width), quote=True)


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{shown(text)}</p>"


def command(text: str) -> str:
    """Return a command to be typed."""
    return f"<p><code>{shown(text)}</code></p>"
