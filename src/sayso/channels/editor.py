"""Editing in the person's own editor: arguments as JSON, a plan one step a line, a draft as text.

Each form is written so that it can be read back without loss. In JSON, and for
steps that need it, characters that hide are written as escapes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sayso.channels.steps import read_steps, step_line, tools_of
from sayso.channels.values import as_name, escaped
from sayso.errors import BadValue
from sayso.model.ask import Ask
from sayso.model.text import one_line

_SUFFIX = {"draft": ".txt", "plan": ".txt"}


def editor() -> str | None:
    """Return the command of the person's editor, `None` if they named none."""
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or None


def edit(text: str, ask: Ask) -> str:
    """Let the person edit a text in their editor, and return what they saved.

    Raises:
        BadValue: the editor could not be started, or ended with an error.
    """
    import shlex  # these cost more than the rest of this module, and most programs never edit
    import subprocess
    import tempfile

    command = editor() or "vi"
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        file = Path(folder) / f"{ask.id}{_SUFFIX.get(ask.kind, '.json')}"
        file.write_text(text, "utf-8", errors="surrogatepass")
        try:
            done = subprocess.run([*shlex.split(command), str(file)], check=False)
        except (OSError, ValueError) as error:
            raise BadValue(
                f"The editor {one_line(command, 60)!r} could not be started ({error}); "
                "nothing was changed. Set EDITOR to another one."
            ) from error
        if done.returncode != 0:
            raise BadValue(
                f"The editor {one_line(command, 60)!r} ended with code {done.returncode}, "
                "so nothing was changed."
            )
        return file.read_text("utf-8", errors="replace")


def to_edit(ask: Ask) -> str:
    """Write what can be edited on an ask, in the form for its kind."""
    if ask.kind == "draft":
        return str(ask.args["text"])
    if ask.kind == "plan":
        return _plan(ask)
    shown = {name: value for name, value in ask.args.items() if name not in ask.content.hidden}
    return escaped(json.dumps(shown, ensure_ascii=False, indent=2)) + "\n"


def from_edit(text: str, ask: Ask) -> Any:  # noqa: ANN401 - the form depends on the kind
    """Read what the person saved.

    Raises:
        BadValue: it should be JSON and is not, or a step of a plan cannot be one.
    """
    if ask.kind == "draft":
        # Editors end the last line; a text that had no such end should not gain one.
        return text if str(ask.args["text"]).endswith("\n") else text.removesuffix("\n")
    if ask.kind == "plan":
        return read_steps(text.split("\n"), ask.args["steps"], tools_of(ask))
    try:
        changes = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadValue(f"That is not JSON: {error}. Nothing was changed.") from error
    if not isinstance(changes, dict):
        raise BadValue("The arguments are a JSON object, {...}. Nothing was changed.")
    return changes


_HOW = """
# One step a line, in this order. A line may end in the name of a tool, [like_this],
# and in (needs approval): then a person is asked before that step is done.
# Details of a step stay with its title. Lines that begin with # do not count.
"""


def _plan(ask: Ask) -> str:
    lines = [
        f"{number}. {step_line(step)}\n" for number, step in enumerate(ask.args["steps"], start=1)
    ]
    tools = ", ".join(map(as_name, tools_of(ask)))
    return "".join(lines) + _HOW + (f"# Tools: {tools}\n" if tools else "")
