"""Where in a TOML text something stands: `tomllib` tells only of what it cannot read at all."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_.-]+|"[^"]*"|'[^']*')+)\s*=\s*""")


def places(text: str) -> dict[Path, tuple[int, int]]:
    """Return line and column of every table, and of the value of every key, from 1."""
    found: dict[Path, tuple[int, int]] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    quotes: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if quotes is not None:  # inside a text of several lines
            quotes = None if line.count(quotes) % 2 else quotes
            continue
        header = _HEADER.match(line)
        if header is not None:
            table = _names(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            found[table] = (number, line.index("[") + 1)
            continue
        key = _KEY.match(line)
        if key is None:
            continue
        found[(*table, *_names(key[1]))] = (number, key.end() + 1)
        rest = line[key.end() :]
        quotes = next((q for q in ('"""', "'''") if rest.count(q) % 2), None)
    return found


def _names(dotted: str) -> Path:
    parts = re.findall(r"""[^."'\s]+|"[^"]*"|'[^']*'""", dotted)
    return tuple(part.strip("\"'") for part in parts)
