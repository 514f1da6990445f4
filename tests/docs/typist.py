"""Types the transcripts of a page (```` ```console ````) into a real terminal.

A line `$ ...` is a command; what follows is what it prints. What somebody types at a prompt is read
from the transcript too. A command with `< /dev/null` is a program without a terminal: it stays in
the background. Ids and codes on the page stand for those of this run.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.pages import Block, check_same, steady
from tests.forked import SAYSO, Forked

_PROMPT = re.compile(
    r"^(?:Your choice \([^)]*\): |Your (?:question|answer \(text\)): |change: ?|Why\?.*?: |.*\[y/N\] )(?P<typed>.*)$",
    re.MULTILINE,
)
_AWAITING = re.compile(r"(?:: |\[y/N\] )$")
_NAMED = re.compile(r"\b[art]-[0-9a-hjkmnp-tv-z]{4,8}\b|\b[0-9a-f]{12}\b")
_PASSED = re.compile(r"^ +(?:waited .* for a decision|\d+ \w+ later)\n", re.MULTILINE)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_PATIENCE = 30.0
_PROGRAMS = {"sayso": str(SAYSO), "python": sys.executable}  # which start at once


@dataclass(frozen=True)
class Line:
    """One command of a transcript and what it prints."""

    command: str
    prints: str

    @property
    def background(self) -> bool:
        return self.command.endswith("< /dev/null")


def lines(block: Block) -> Iterator[Line]:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, prints = part.partition("\n")
        yield Line(command, prints)


@dataclass
class Typist:
    """Somebody in a folder, with a terminal of 80 columns."""

    folder: Path
    env: Mapping[str, str]
    meant: dict[str, str] = field(default_factory=dict)
    programs: list[Forked] = field(default_factory=list)

    def follow(self, line: Line) -> None:
        """Do what the transcript says and compare what is printed."""
        command = _NAMED.sub(lambda found: self.meant.get(found[0], found[0]), line.command)
        command = re.sub(
            r"\b(inbox \w+) ([0-9a-z]{4})\b",  # an id without its prefix
            lambda found: f"{found[1]} {self.meant.get(f'a-{found[2]}', found[2])[-4:]}",
            command,
        )
        if line.background:
            printed = self.start(command)
        else:
            printed = self.type(
                command, [found["typed"] for found in _PROMPT.finditer(line.prints)]
            )
        check_same(tidy(printed), tidy(line.prints), f"$ {command}")
        self.meant |= zip(_NAMED.findall(line.prints), _NAMED.findall(printed), strict=False)

    def start(self, command: str) -> str:
        """Leave a program in the background once it has said what waits."""
        words = command.removesuffix("< /dev/null").split()
        program = Forked([_PROGRAMS[words[0]], *words[1:]], cwd=self.folder, env=self.env)
        self.programs.append(program)
        assert program.stderr is not None
        return program.stderr.readline()

    def type(self, command: str, typed: list[str]) -> str:
        """Run a command on a terminal and answer its prompts."""
        screen, terminal = pty.openpty()
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        program = self._started(shlex.split(command), terminal)
        os.close(terminal)  # ours; once the program's is closed too, reading ends
        try:
            return _ESCAPE.sub("", _conversation(screen, typed))
        finally:
            os.close(screen)
            program.kill()
            program.wait()

    def _started(self, words: list[str], terminal: int) -> Forked | subprocess.Popen[bytes]:
        ours = _PROGRAMS.get(words[0])
        if ours is not None:
            return Forked([ours, *words[1:]], cwd=self.folder, env=self.env, terminal=terminal)
        return subprocess.Popen(
            words,
            cwd=self.folder,
            env=self.env,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )

    def close(self) -> None:
        for program in self.programs:
            program.kill()
            program.communicate()


def _conversation(screen: int, typed: list[str]) -> str:
    """Read until the program ends; whenever it awaits something, type the next answer."""
    said, answered = "", 0
    until = time.monotonic() + _PATIENCE
    waiting = list(typed)
    while time.monotonic() < until:
        ready, _, _ = select.select([screen], [], [], 0.2)
        if ready:
            try:
                said += os.read(screen, 65536).decode()
            except OSError:  # the other side has closed: it ended
                return said
        elif waiting and _AWAITING.search(_ESCAPE.sub("", said[answered:])):
            answered = len(said)
            os.write(screen, f"{waiting.pop(0)}\n".encode())
    raise AssertionError(f"still running after {_PATIENCE:g} s:\n{said}")


def tidy(text: str) -> str:
    """What is printed, without ids, codes, times, ages, tokens, host names and space at line ends."""
    text = _PASSED.sub("", steady(text))
    text = re.sub(r"\b(worker|in) [\w.-]+:\d+\b", r"\1 laptop:1", text)
    text = re.sub(r"^\d\d:\d\d:\d\d ", "<time> ", text, flags=re.MULTILINE)
    text = re.sub(r"\b\d+ s\b", "0 s", text)
    text = re.sub(r"\b(AGE|0 s) {2,}", r"\1  ", text)  # a column is as wide as its longest age
    text = re.sub(r"\b[\d,]+ tokens\b", "0 tokens", text)  # follows how much a model is told
    text = re.sub(r"\banna@[\w.-]+", "anna@laptop", text)
    return "\n".join(line.rstrip() for line in text.splitlines())
