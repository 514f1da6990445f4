"""What docs/reference/http.md shows with curl is what a server answers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.docs.pages import DOCS, blocks
from tests.served import Served


def test_the_session_on_the_page_does_what_it_says(server: Served, tmp_path: Path) -> None:
    shown = next(one for one in blocks(DOCS / "reference/http.md") if one.language == "sh")
    tokens = {
        "BOT": server.token("bot", kind="agent", team="billing"),
        "ANNA": server.token("anna", kind="person"),
    }

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", shown.text],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "URL": server.url, **tokens},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    found = {file.stem: json.loads(file.read_text()) for file in tmp_path.glob("*.json")}
    assert found["decided"]["decision"]["by"] == "person:anna"
    assert found["closed"]["status"] == "decided"
    assert found["call"]["args"]["amount"] == 30
    assert found["done"]["effect"]["result"] == {"receipt": 12}
