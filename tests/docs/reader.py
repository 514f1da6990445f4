"""Somebody who types in a page from the top, in a folder of their own."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from sayso.testing import ScriptedReviewer
from tests.docs.pages import Block, check_same, name_of, steady


@dataclass
class Reader:
    """Runs the blocks of one page in one module, and compares what they print."""

    folder: Path
    module: ModuleType
    reviewer: ScriptedReviewer = field(default_factory=ScriptedReviewer)
    printed: str = ""

    def read(self, block: Block) -> None:
        if block.language == "reviewer":
            exec(block.text, {"reviewer": self.reviewer})
        elif block.file:
            (self.folder / str(block.title)).write_text(block.text)
        elif block.runs:
            self.printed = self.run(block)
        elif block.prints:
            check_same(steady(self.printed), steady(block.text), where(block))

    def run(self, block: Block) -> str:
        # Blank lines in front, so that a traceback names the line of the page.
        source = "\n" * (block.line - 1) + block.text
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(source, str(block.page), "exec"), self.module.__dict__)
        return out.getvalue()


def where(block: Block) -> str:
    return f"{name_of(block.page)}:{block.line}"
