"""Types what a page shows of a terminal into real ones, and compares what they print.

In a transcript (```` ```console ````) a line `$ ...` is a command; what follows is what it prints, and
`...` alone on a line stands for whatever else is printed there. What somebody types at a prompt is
read from the transcript too; `^C` is Ctrl-C. A command with `< /dev/null` is a program without a
terminal: it stays in the background. Ids and codes on the page stand for those of this run, and
machines that are not here for some that are. A block for a shell (`sh`) is typed line by line; each
must succeed, and what asks for something is left with Ctrl-C.
"""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.pages import Block, check_same, steady
from tests.docs.shell import Shell, Started
from tests.forked import SAYSO, Forked

TYPED = ("console", "sh")
LEFT = (130,)  # of a program that Ctrl-C ended, and of make above one
PASSWORD = "correct horse battery"

_PROMPT = re.compile(
    r"^(?:Your choice \([^)]*\)(?:, or your answer)?: |Your question: |change: ?|Why\?.*?: |.*\[y/N\] "
    r"|(?P<hidden>New password of .*:|The same again:))(?P<typed>.*)$",
    re.MULTILINE,
)
_NAMED = re.compile(r"\b[art]-[0-9a-hjkmnp-tv-z]{4,8}\b|\b[0-9a-f]{12}\b|\bsayso_[0-9A-Za-z]{49}\b")
_LOOKS = re.compile(r"sayso (?:inbox(?: list| show \S+)?|runs (?:list|show \S+))(?: --\S+ \S+)*$")
_FOR_A_SHELL = re.compile(r"[<>|&;$~]| #")
_PROGRAMS = {"sayso": str(SAYSO), "python": sys.executable}  # which start at once
_PATIENCE = 20.0
_PASSED = re.compile(r"^ +(?:waited .* for a decision|\d+ \w+ later)\n", re.MULTILINE)


@dataclass(frozen=True)
class Line:
    """One command of a transcript and what it prints; None where the page does not say."""

    command: str
    prints: str | None

    @property
    def background(self) -> bool:
        return self.prints is not None and self.command.endswith("< /dev/null")

    @property
    def stays(self) -> bool:
        """Whether it goes on, in its terminal, while the page does."""
        return (self.prints or "").rstrip().endswith("Ctrl-C ends it")

    @property
    def answers(self) -> list[str]:
        """What is typed at its prompts; a password is not shown while it is typed."""
        found = _PROMPT.finditer(self.prints or "")
        return [PASSWORD if one["hidden"] else one["typed"] for one in found]


def lines(block: Block) -> Iterator[Line]:
    """What a block shows to be typed."""
    if block.language == "console":
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, prints = part.partition("\n")
            yield Line(command, prints)
        return
    for command in block.text.splitlines():
        if command.strip():
            yield Line(command, None)


@dataclass
class Typist:
    """Somebody in a folder, with as many terminals as it takes."""

    folder: Path
    env: dict[str, str]
    standing: dict[str, str] = field(default_factory=dict)  # what is here, for what is named
    meant: dict[str, str] = field(default_factory=dict)
    programs: list[Forked] = field(default_factory=list)
    shells: list[Shell] = field(default_factory=list)
    activated: bool = False  # an environment of one's own: its programs are the shell's to find

    def follow(self, line: Line) -> None:
        """Do what the page says, and compare what is printed with what it shows."""
        command = _NAMED.sub(lambda found: self.meant.get(found[0], found[0]), line.command)
        command = re.sub(
            r"\b(inbox \w+) ([0-9a-z]{4})\b",  # an id without its prefix
            lambda found: f"{found[1]} {self.meant.get(f'a-{found[2]}', found[2])[-4:]}",
            command,
        )
        for named, here in self.standing.items():
            command = command.replace(named, here)
        if command.startswith("sayso serve"):
            self.leave()  # the one before has the port
        if command.startswith("export "):  # also for what is started in the background
            name, _, value = command.removeprefix("export ").partition("=")
            self.env[name] = value
        if line.background:
            self.compare(line, self.start(command))
        elif line.prints is None:
            printed, ended = self.type(line, command)
            assert ended in (0, None, *LEFT), f"$ {command}\n{printed}"
            assert "WARNING" not in printed, printed  # an extra that is not there, says pip
            assert "Traceback" not in printed, printed
        else:
            self.watch(line, command)

    def watch(self, line: Line, command: str) -> None:
        """Type a command and compare; what a server or a worker does is looked at until it is done."""
        others = any(shell.ended is None for shell in self.shells)
        until = time.monotonic() + (_PATIENCE if others and _LOOKS.match(command) else 0)
        while True:
            try:
                return self.compare(line, self.type(line, command)[0])
            except AssertionError:
                if time.monotonic() > until:
                    raise

    def compare(self, line: Line, printed: str) -> None:
        for named, here in self.standing.items():
            printed = printed.replace(here, named)
        check_same(*elided(tidy(printed), tidy(line.prints or "")), f"$ {line.command}")
        self.meant |= zip(_NAMED.findall(line.prints or ""), _NAMED.findall(printed), strict=False)

    def type(self, line: Line, command: str) -> tuple[str, int | None]:
        """Type a line; return what it printed, and how it ended: None if it goes on."""
        shell = self.at_hand()
        stays = line.stays or line.prints is None
        words = [] if _FOR_A_SHELL.search(command) or self.activated else shlex.split(command)
        if not words or words[0] not in _PROGRAMS:
            self.activated |= command.endswith("/activate")
            return shell.type(command, line.answers, stays=stays), shell.ended
        words[0] = _PROGRAMS[words[0]]
        program = Started(words, shell.folder, self.env)
        self.shells.insert(0, program)
        return program.read(line.answers, stays=stays), program.ended

    def at_hand(self) -> Shell:
        """The terminal that nothing runs in: the last one, or a new one."""
        if not self.shells or self.shells[-1].ended is None:
            place = self.shells[-1].folder if self.shells else self.folder
            self.shells.append(Shell(place, self.env))
        return self.shells[-1]

    def start(self, command: str) -> str:
        """Leave a program in the background once it has said what waits."""
        words = command.removesuffix("< /dev/null").split()
        program = Forked([_PROGRAMS[words[0]], *words[1:]], cwd=self.folder, env=self.env)
        self.programs.append(program)
        assert program.stderr is not None
        return program.stderr.readline()

    def leave(self) -> None:
        """Press Ctrl-C wherever something still runs: it must end, and well."""
        for shell in self.shells:
            if shell.ended is None:
                printed = shell.interrupt()
                assert shell.ended in (0, *LEFT), printed

    def close(self) -> None:
        for program in self.programs:
            program.kill()
            program.communicate()
        for shell in self.shells:
            shell.close()


def elided(printed: str, shown: str) -> tuple[str, str]:
    """Both texts, what was printed shortened to `...` where the page is."""
    parts = re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)
    if len(parts) == 1:
        return printed, shown
    pattern = r"(?:.*\n)*?(?:.*)".join(re.escape(part) for part in parts)
    return (shown if re.fullmatch(pattern, printed) else printed), shown


def tidy(text: str) -> str:
    """What is printed, without ids, codes, times, ages, tokens, hosts, ports and space at line ends."""
    text = _PASSED.sub("", steady(text))
    text = re.sub(r"\b(worker|in) [\w.-]+:\d+\b", r"\1 laptop:1", text)
    text = re.sub(r"^\d\d:\d\d:\d\d ", "<time> ", text, flags=re.MULTILINE)
    text = re.sub(r"\b\d+ s\b", "0 s", text)
    text = re.sub(r"\b(AGE|0 s) {2,}", r"\1  ", text)  # a column is as wide as its longest age
    text = re.sub(r"\b[\d,]+ tokens\b", "0 tokens", text)  # follows how much a model is told
    text = re.sub(r"\banna@[\w.-]+", "anna@laptop", text)
    text = re.sub(r"(https?://[\w.]+):\d+", r"\1:8700", text)
    text = re.sub(
        r"\b(schema(?: +ok +| )|knows )\d+", r"\1<number>", text
    )  # grows with every release
    text = re.sub(r"\?t=\w+", "?t=<once>", text)
    text = re.sub(r"(--url) --port \d+", r"\1", text)  # said where it is not the usual one
    return "\n".join(line.rstrip() for line in text.splitlines())
