"""Programs in processes of their own that start at once.

They are forked from a server that has imported what all of them need; an interpreter that starts
anew takes most of a second for that, and the tests start hundreds. Nothing else is shared: each has
its own folder, environment, terminal or pipes, and is gone when it ends.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import os
import runpy
import signal
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, TextIO

SAYSO = Path(sys.executable).with_name("sayso")
PATIENCE = 60.0
SERVER = get_context("forkserver")
# Libraries only: an agent that a module makes would be served by every command that is forked.
# Also what a program imports only when it comes to it: most of them do.
SERVER.set_forkserver_preload(
    [
        *("pytest", "psycopg", "smolagents", "anyio._backends._asyncio", __name__),
        *("uvicorn.loops.asyncio", "uvicorn.lifespan.on", "uvicorn.protocols.http.h11_impl"),
        *("sayso.cli.front", "sayso.web.app", "sayso.web.serving", "sayso.channels.courier"),
        *("sayso.store.sqlite", "sayso.store.postgres", "sayso.policy.reading"),
        *("cel_expr_python", "cel_expr_python.ext.ext_strings"),
        *("sayso.runs.engine", "sayso.agent", "sayso.adapters.smolagents"),
    ]
)


def freeze() -> None:
    """Leave what is there now out of every search for garbage, here and in what is forked from here.

    Each search writes to whatever it looks at, so every child would copy all of this process.
    """
    gc.collect()
    gc.freeze()


class Forked:
    """A program that runs: `sayso ...`, `python -m MODULE ...` or `python FILE ...`.

    What it prints comes through pipes, or goes to a terminal, which is then its own.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path,
        env: Mapping[str, str],
        terminal: int | None = None,
    ) -> None:
        words = tuple(map(str, command))
        self.stdout: TextIO | None = None
        self.stderr: TextIO | None = None
        if terminal is not None:
            self._start(words, cwd, env, (terminal, terminal, terminal), at_terminal=True)
            return
        with open(os.devnull) as nothing:
            (out, theirs), (err, theirs_too) = os.pipe(), os.pipe()
            self._start(words, cwd, env, (nothing.fileno(), theirs, theirs_too), at_terminal=False)
        os.close(theirs)
        os.close(theirs_too)
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(err)

    def _start(
        self,
        words: tuple[str, ...],
        cwd: Path,
        env: Mapping[str, str],
        ends: tuple[int, int, int],
        *,
        at_terminal: bool,
    ) -> None:
        given = (words, str(cwd), dict(env), [_End(number) for number in ends], at_terminal)
        self._process = SERVER.Process(target=_become, args=given)
        self._process.start()
        self.pid = self._process.pid or 0

    @property
    def returncode(self) -> int | None:
        """How it ended; minus the number of the signal that ended it."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = PATIENCE) -> int:
        """Wait until it ends, and return how."""
        self._process.join(timeout)
        code = self.returncode
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def communicate(self, timeout: float | None = PATIENCE) -> tuple[str, str]:
        """Wait until it ends, and return what it printed that nobody has read."""
        with ThreadPoolExecutor(2) as pool:
            said = [pool.submit(_rest_of, end) for end in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            return said[0].result(), said[1].result()

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it has ended, and the word of it is on its way
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _rest_of(end: TextIO | None) -> str:
    if end is None or end.closed:
        return ""
    with end:
        return end.read()


def run(
    command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, without a terminal."""
    program = Forked(command, cwd=cwd, env=env)
    out, err = program.communicate()
    return subprocess.CompletedProcess(command, program.wait(), out, err)


# --- in the child of the server ----------------------------------------------------------------


class _End:
    """An open file that goes along to the other process."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (DupFd(self.number),)


def _received(sent: Any) -> int:
    return int(sent.detach())


def _become(
    words: tuple[str, ...], cwd: str, env: dict[str, str], ends: list[int], at_terminal: bool
) -> None:
    """Be the program, from its first line until the process ends."""
    if at_terminal:
        os.setsid()
        fcntl.ioctl(ends[0], termios.TIOCSCTTY, 0)  # its own, so that Ctrl-C reaches it
    for number, end in enumerate(ends):
        os.dup2(end, number)
        os.close(end)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    _open_streams(at_once=at_terminal or "PYTHONUNBUFFERED" in env)
    try:
        _main(*words)
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        atexit._run_exitfuncs()


def _open_streams(*, at_once: bool) -> None:
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", 1 if at_once else -1, encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _main(program: str, *words: str) -> None:
    if program == str(SAYSO):
        from sayso.cli import main

        sys.argv = [program, *words]
        main()
        return
    assert program == sys.executable, program
    if words[0] == "-m":
        sys.argv = [*words[1:]]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [*words]
        sys.path.insert(0, str(Path(words[0]).parent))
        runpy.run_path(words[0], run_name="__main__")
