"""Look once more, alone, at the few tests that failed while others ran beside them.

    python -m tools.again FOLDER PART ...

A test that starts processes and waits for them can be starved by two other parts on two cores.
Whoever fails here too is broken; whoever passes is unsteady, is named, and wants mending. Many
failures are no accident and get no second look, and neither does a part that broke off.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

MOST = 3
_PASSED, _FAILED = "0", "1"  # exit codes of pytest; all others say that it broke off


def main(folder: Path, parts: Sequence[str]) -> int:
    """Run what failed in these parts again; return the exit code of it all."""
    ended = {part: _read(folder / f"test-{part}.code") for part in parts}
    broke = [part for part, code in ended.items() if code not in (_PASSED, _FAILED)]
    if broke:
        return _say(f"Broke off: {', '.join(broke)}. No second look.")
    failed = [test for part, code in ended.items() if code == _FAILED for test in _of(folder, part)]
    if not 0 < len(failed) <= MOST:
        return _say(f"{len(failed)} tests failed; a second look is for 1 to {MOST}.")
    print(f"\nOnce more, alone: {', '.join(failed)}", flush=True)
    again = subprocess.run([sys.executable, "-m", "pytest", "-q", *failed], check=False).returncode
    if again == 0:
        print("UNSTEADY, failed beside others and passed alone:", *failed, sep="\n  ")
    return again


def _of(folder: Path, part: str) -> Iterator[str]:
    yield from json.loads(_read(folder / f"cache-{part}" / "v" / "cache" / "lastfailed") or "{}")


def _read(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


def _say(word: str) -> int:
    print(word, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
