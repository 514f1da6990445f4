"""Fetch what the pages use and we did not write: htmx, the fonts, the icons.

`vendored.json` beside the files says which package each one is from, in which version, under
which licence, and what its SHA-256 is. Nobody needs this to use or to change sayso: the files are
committed. It needs npm, to fetch; `--check` needs nothing and looks at what is there.

    python tools/vendor.py             fetch again; refuse whatever differs from vendored.json
    python tools/vendor.py --update    fetch the versions that vendored.json names, and note hashes
    python tools/vendor.py --check     offline: is every file the one that was noted?
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

STATIC = Path(__file__).parent.parent / "src/sayso/web/static"
LIST = STATIC / "vendored.json"
LICENCES = STATIC / "licences"

# Risk has a shape of its own, filled, beside the outlined icons.
SHAPES = {
    "risk-critical": '<path d="M6.2 5 11 20H1.4zM17.8 5 22.6 20H13z"/>',
    "risk-high": '<path d="M12 4 21.5 20.5H2.5z"/>',
    "risk-medium": '<path d="M12 2.5 21.5 12 12 21.5 2.5 12z"/>',
    "risk-low": '<circle cx="12" cy="12" r="8.5"/>',
    "risk-none": '<path d="M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zm0 3a5.5 5.5 0 1 1 0 11'
    ' 5.5 5.5 0 0 1 0-11z"/>',
}

Entry = dict[str, Any]  # as in vendored.json


def main(arguments: list[str]) -> int:
    """Do as told; return 1 if something is not as noted."""
    entries: list[Entry] = json.loads(LIST.read_text("utf-8"))
    if "--check" in arguments:
        return report(wrong(entries))
    with TemporaryDirectory() as folder:
        packages = {
            (entry["name"], entry["version"]): unpacked(entry, Path(folder)) for entry in entries
        }
        made = [(entry, packages[entry["name"], entry["version"]]) for entry in entries]
        if "--update" not in arguments:
            differ = [e["file"] for e, package in made if digest(taken(e, package)) != e["sha256"]]
            if differ:
                return report([f"{name} is not what vendored.json says" for name in differ])
        for entry, package in made:
            write(entry, package)
    LIST.write_text(json.dumps(entries, indent=2) + "\n", "utf-8")
    return report(wrong(entries))


def wrong(entries: list[Entry]) -> list[str]:
    """Return what is missing or differs from what was noted."""
    found = []
    for entry in entries:
        file, licence = STATIC / entry["file"], LICENCES / f"{plain(entry['name'])}.txt"
        if not file.exists():
            found.append(f"{entry['file']} is missing")
        elif digest(file.read_bytes()) != entry["sha256"]:
            found.append(f"{entry['file']} is not what vendored.json says")
        if not licence.exists():
            found.append(f"the licence of {entry['name']} is missing")
    return found


def unpacked(entry: Entry, folder: Path) -> Path:
    """Fetch a package and unpack it; a second file of the same one finds it there."""
    place = folder / plain(entry["name"])
    if place.exists():
        return place / "package"
    place.mkdir()
    wanted = f"{entry['name']}@{entry['version']}"
    subprocess.run(["npm", "pack", "--silent", wanted], cwd=place, check=True, capture_output=True)  # noqa: S607 - whichever npm there is
    with tarfile.open(next(place.glob("*.tgz"))) as archive:
        archive.extractall(place, filter="data")
    return place / "package"


def write(entry: Entry, package: Path) -> None:
    """Put a file and its licence in place, and note its hash."""
    content = taken(entry, package)
    entry["sha256"] = digest(content)
    (STATIC / entry["file"]).write_bytes(content)
    LICENCES.mkdir(exist_ok=True)
    licence = (package / "LICENSE").read_bytes()
    (LICENCES / f"{plain(entry['name'])}.txt").write_bytes(licence)


def taken(entry: Entry, package: Path) -> bytes:
    """Return a file of a package; of the icons, one file of those that the pages use."""
    if "icons" in entry:
        return sprite(entry, package)
    return package.joinpath(entry["from"]).read_bytes()


def sprite(entry: Entry, package: Path) -> bytes:
    """Return the icons as symbols of one file, and our shapes with them."""
    lines = [
        f"<!-- {entry['name']} {entry['version']}, {entry['licence']}; the shapes of risk are ours -->",
        '<svg xmlns="http://www.w3.org/2000/svg">',
    ]
    for name in sorted(entry["icons"]):
        text = (package / entry["from"] / f"{name}.svg").read_text("utf-8")
        inner = re.sub(r"\s+", " ", text.partition("<svg")[2].partition(">")[2])
        drawn = inner.replace("</svg>", "").replace("> <", "><").replace(" />", "/>").strip()
        lines.append(f'<symbol id="{name}" viewBox="0 0 24 24">{drawn}</symbol>')
    lines += [
        f'<symbol id="{name}" viewBox="0 0 24 24">{drawn}</symbol>'
        for name, drawn in SHAPES.items()
    ]
    return "\n".join([*lines, "</svg>", ""]).encode()


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file."""
    return sha256(content).hexdigest()


def plain(name: str) -> str:
    """Return the name of a package as the name of a file: `@a/b` is `a-b`."""
    return name.lstrip("@").replace("/", "-")


def report(problems: list[str]) -> int:
    """Say what is wrong, or that nothing is."""
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print("every vendored file is the one that was noted")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
