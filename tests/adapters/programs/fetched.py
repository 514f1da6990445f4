"""Programs of others as they are, at one commit each, in a folder outside of this repository.

`SAYSO_TEST_PROGRAMS` names the folder; unless it is set, a cache. What is not there is cloned.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PINNED = {
    "langchain-ai/new-langgraph-project": "c89ad1943853aea37ad56d1f2ab62ae8194af0ac",
    "langchain-ai/agent-inbox-langgraph-example": "f56c3326c7cc6652e56431240b669e5ca4c72f96",
    "langchain-ai/agents-from-scratch": "edf2c479191d89bf96e6dceb6ee952a618979fc6",
    "JoshuaC215/agent-service-toolkit": "a561c88fbac4b1914ea08c6ff113b32437fbcd9c",
}  # all of them under the MIT licence
CACHE = str(Path.home() / ".cache" / "sayso-programs")
HOME = os.environ.get("SAYSO_TEST_PROGRAMS") or CACHE


def copy_of(repo: str) -> Path:
    """Return a copy of a program at its commit; the test is skipped where there can be none."""
    folder = Path(HOME, repo.replace("/", "+"))
    if not folder.exists():
        source = f"https://github.com/{repo}"
        command = ["git", "clone", "--quiet", source, str(folder)]
        if subprocess.run(command, capture_output=True, timeout=120, check=False).returncode:
            pytest.skip(f"{repo} cannot be fetched here: set SAYSO_TEST_PROGRAMS")
    checkout = ["git", "-C", str(folder), "checkout", "--quiet", PINNED[repo]]
    subprocess.run(checkout, check=True, capture_output=True, timeout=60)
    return folder


def loaded(
    patch: pytest.MonkeyPatch, folder: Path, name: str, **stubs: dict[str, Any]
) -> ModuleType:
    """Import a module of a program; `stubs` stand for libraries that it would call a model by."""
    patch.syspath_prepend(str(folder))
    top = name.partition(".")[0]
    for known in [one for one in sys.modules if one.partition(".")[0] == top]:
        patch.delitem(sys.modules, known)
    for stub, names in stubs.items():
        made: Any = ModuleType(stub)
        made.__dict__.update(names)
        patch.setitem(sys.modules, stub, made)
    module = importlib.import_module(name)
    for made_now in [one for one in sys.modules if one.partition(".")[0] == top]:
        patch.setitem(sys.modules, made_now, sys.modules[made_now])
    return module
