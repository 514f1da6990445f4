"""The policy that a program brings along: in a file beside it, or made in code.

The file is looked at again and again where somebody is alone at the desk, so that a change counts
from the next ruling on (E54). A file that breaks while the program is at work changes nothing: the
policy before it stays, loudly. So does one that asks for people whom the desk never had (E21).
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal, cast

from sayso.errors import BadPolicy, StoreError
from sayso.policy.rules import Policy

_log = logging.getLogger("sayso.policy")


class _Unheard(logging.Handler):
    """Say on stderr what a program would not hear, because it listens to no log.

    Nobody finds out from a log that is not kept that another policy is in force (E48).
    """

    def emit(self, record: logging.LogRecord) -> None:
        heard: logging.Logger | None = _log
        while heard is not None:
            if any(not isinstance(one, _Unheard | logging.NullHandler) for one in heard.handlers):
                return
            heard = heard.parent if heard.propagate else None
        sys.stderr.write(f"sayso: {record.getMessage()}\n")


_log.addHandler(_Unheard(logging.WARNING))
FILE = "sayso.toml"
VARIABLE = "SAYSO_POLICY"  # says where the file is
SETTLE = 0.05  # seconds for which a changed file stays as it is before it is read
TRY_AGAIN = 1.0  # seconds until a policy that does not fit the people is held against them again
MOST = 1 << 20  # bytes of a policy: the journal keeps each version of it
_TRIES = 20

_State = tuple[int, int, int, int]
_Taken = tuple[Policy, str | None]  # what is in force of it, with the text that it was read from


@cache
def default_policy() -> Policy:
    """Return the policy that applies where nothing else is said."""
    from importlib.resources import files

    from sayso.policy.reading import read

    text = files("sayso.policy").joinpath("default.toml").read_text("utf-8")
    return read(text, source="default.toml")


def read_policy(path: Path) -> Policy:
    """Read a policy from a file.

    Raises:
        BadPolicy: it cannot be read, or makes no sense.
    """
    return read_text(text_of(path), str(path))


def given_policy(policy: Policy) -> Policy:
    """Return a policy that a program was given: as its text if that says all of it, else as code.

    One that was read from a text may have been changed since, with `replace` for example.
    """
    from sayso.policy.digests import digest_of, in_code

    if policy is default_policy():
        return policy
    try:
        said = None if policy.text is None else read_text(policy.text, policy.source)
    except BadPolicy:  # it says so only without the rules of the default policy
        said = None
    return policy if said is not None and digest_of(said) == digest_of(policy) else in_code(policy)


def read_text(text: str, source: str) -> Policy:
    """Read a policy that adds to the default one.

    Raises:
        BadPolicy: it makes no sense.
    """
    from sayso.policy.reading import read

    if len(text.encode(errors="surrogatepass")) > MOST:
        raise BadPolicy("The policy is larger than 1 MiB. Shorten it.", file=source)
    return read(text, source=source, default=default_policy())


def text_of(path: Path) -> str:
    """Return the text of a file, with the schemas beside it written out in it.

    Raises:
        BadPolicy: it cannot be read.
    """
    from sayso.policy.declaring import whole

    text = _text_of(path)
    if "schema" not in text:
        return text
    return whole(text, lambda name: (path.parent / name).read_text("utf-8"), str(path))


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadPolicy(f"The policy cannot be read: {reason}.", file=str(path)) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        column = error.start - (error.object[: error.start].rfind(b"\n") + 1) + 1
        raise BadPolicy(
            "The policy is not written in UTF-8. Save it in that encoding.",
            line=line,
            column=column,
            file=str(path),
        ) from error


def speaks_of_policy(path: Path) -> bool:
    """Whether a file has a policy in it; `sayso.toml` may only say where the desk is."""
    import tomllib

    from sayso.policy.digests import ELSEWHERE
    from sayso.policy.places import normal

    try:
        given = tomllib.loads(normal(path.read_text("utf-8")))
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return True  # then it should be read, and what is wrong be said
    return any(section not in ELSEWHERE for section in given)


def found_policy(given: Path | None = None) -> tuple[Path, bool]:
    """Return where the file of the policy is, and whether somebody named it.

    It is the one given, else that of `SAYSO_POLICY`, else `sayso.toml` of this folder.
    """
    named = given or os.environ.get(VARIABLE) or None
    return Path(named or FILE).absolute(), named is not None


class OwnPolicy:
    """The policy of one program.

    Threads share it without a lock: at worst two of them read the file at once.
    """

    def __init__(
        self,
        given: Policy | str | Path | None = None,
        *,
        settle: float = SETTLE,
        try_again: float = TRY_AGAIN,
        hold: Callable[[Policy], None] = lambda _: None,
    ) -> None:
        self.given = given_policy(given) if isinstance(given, Policy) else None
        # Absolute, so that a program that goes to another folder keeps its policy.
        path, named = found_policy(Path(given) if isinstance(given, str | Path) else None)
        self.path = path if self.given is None else None
        self._named = named
        self._file = None if self.path is None else str(path)
        self._hold = hold
        self._settle, self._try_again = settle, try_again
        self._taken: _Taken | None = None
        self._seen: _State | None = None  # the file as it was when it was read
        # What was read and does not fit the people: how the file was, and when that was tried.
        self._unfit: tuple[_State, _Taken, float] | None = None
        self.since = time.monotonic()  # when it was taken over
        # Which file is not in force, and why.
        self._trouble: tuple[_State | None, str] | None = None

    @property
    def kind(self) -> Literal["default", "file", "code"]:
        """Whether the program brings nothing, a file, or code. A file is read first."""
        if self.code is not None:
            return "code"
        if self.given is not None:
            return "file"
        return "default" if self.policy is default_policy() else "file"

    @property
    def source(self) -> str:
        """Where it is from: the host and the file, or the program."""
        place = self.path if self.given is None else self.given.source
        return f"{os.uname().nodename}:{place if self.code is None else _program()}"

    @property
    def code(self) -> Policy | None:
        """The policy that the program has made, and that no text says."""
        return self.given if self.given is not None and self.given.text is None else None

    def is_other_than(self, policy: Policy | None) -> bool:
        """Whether the file says another policy by now. Every ruling comes by here: one look at it."""
        if self._file is None:
            return False
        try:
            found = os.stat(self._file)
        except OSError:
            state = None
        else:
            state = found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns
        taken = self._taken
        if taken is not None and state == self._seen:
            return taken[0] is not policy
        try:
            return self.taken[0] is not policy
        except BadPolicy:  # broken from the beginning, which was said
            return False

    @property
    def policy(self) -> Policy:
        """The policy that the program brings now.

        Raises:
            BadPolicy: it was broken from the beginning, or the people of the desk could never
                do what it wants.
        """
        return self.taken[0]

    @property
    def text(self) -> str | None:
        """The text that it was read from."""
        return self.taken[1]

    @property
    def taken(self) -> _Taken:
        """The policy that the program brings now, with its text; raises what `policy` does."""
        if self._taken is None:
            return self._first()
        if self.path is not None and _state(self.path) != self._seen:
            self._look()
        return self._taken

    @property
    def trouble(self) -> str | None:
        """Why the file as it stands now was not taken over; `None` if it was, or nobody looked yet."""
        state = None if self.path is None else _state(self.path)
        known = self._trouble is not None and self._trouble[0] == state
        return self._trouble[1] if self._trouble is not None and known else None

    @property
    def pending(self) -> bool:
        """Whether the file is another one by now than that which was taken over or complained of."""
        return self.path is not None and self.trouble is None and _state(self.path) != self._seen

    def written(self) -> _Taken:
        """Return what is written, whether or not the people fit it.

        Raises:
            BadPolicy: it makes no sense.
        """
        return (self.given, self.given.text) if self.given is not None else self._read()

    def _first(self) -> _Taken:
        state = None if self.path is None else _state(self.path)
        taken = self.written()
        try:
            self._hold(taken[0])
        except StoreError:  # for others to complain of; it is held against the people next time
            return taken
        self._taken, self._seen, self.since = taken, state, time.monotonic()
        return taken

    def _read(self) -> _Taken:
        path = cast("Path", self.path)
        if not self._named and not speaks_of_policy(path):
            return default_policy(), None
        text = text_of(path)
        return read_text(text, str(path)), text

    def _look(self) -> None:
        """Take a file over that has changed, if it is whole, makes sense and fits the people.

        It is looked at until it stands as it was read: others may write while it is read.
        """
        path = cast("Path", self.path)
        for _ in range(_TRIES):
            state = _state(path)
            if state == self._seen or self._waits(state):
                return
            if self._still(path, state):
                self._read_again(path, state)

    def _waits(self, state: _State | None) -> bool:
        """Whether this is what did not fit the people a moment ago."""
        if self._unfit is None or self._unfit[0] != state:
            return False
        return time.monotonic() - self._unfit[2] < self._try_again

    def _still(self, path: Path, state: _State | None) -> bool:
        """Whether a file stays as it is. It may be half written, and half a policy be a weaker one.

        What is written after it was found to be still is of a later time, also by a coarse clock.
        """
        time.sleep(self._settle)
        return _state(path) == state

    def _read_again(self, path: Path, state: _State | None) -> None:
        if state is None:
            self._seen = None
            self._trouble = None, "The file is gone."
            _log.error("The policy %s is gone; what it said stays in force.", path)
            return
        try:
            taken = self._changed(path, state)
        except BadPolicy as error:
            if _state(path) != state:  # it was read while somebody wrote it
                return
            self._trouble = state, str(error)
            self._seen = state
            _log.error("The policy was changed and is broken, so the one before stays: %s", error)
            return
        if _state(path) == state and self._fits(taken, state):
            self._take_over(taken)
            self._seen = state  # last: whoever finds it as it was seen finds its policy too

    def _changed(self, path: Path, state: _State) -> _Taken:
        """Read it again. A file that was emptied, by a full disk perhaps, is no weaker policy."""
        if self._unfit is not None and self._unfit[0] == state:
            return self._unfit[1]
        taken = self._read()
        before = default_policy() if self._taken is None else self._taken[0]
        if taken[0] is default_policy() and before is not default_policy():
            raise BadPolicy(
                "Nothing of a policy is in it any more. To go back to the default one, write "
                "`default = true` into it.",
                file=str(path),
            )
        return taken

    def _fits(self, taken: _Taken, state: _State) -> bool:
        """Whether the desk has the people for it. If not, it is tried again: they may come."""
        known = self._trouble is not None and self._trouble[0] == state
        try:
            self._hold(taken[0])
        except StoreError:  # it waits until there is a desk to hold it against
            pass
        except BadPolicy as error:
            if not known:
                _log.error("The policy was changed, and the one before stays: %s", error)
            self._trouble = state, str(error)
        else:
            return True
        self._unfit = state, taken, time.monotonic()
        return False

    def _take_over(self, taken: _Taken) -> None:
        self._trouble = self._unfit = None
        if self._taken is None or taken[0].version != self._taken[0].version:
            self.since = time.monotonic()
        self._taken = taken


def _program() -> str:
    """Return the file of the program that runs."""
    import sys

    main = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c", "-m") else None
    return "python" if main is None else str(Path(main).absolute())


def _state(path: Path) -> _State | None:
    """Return what tells one content of a file from another; `None` if it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns
