"""The policy in force on a desk: the built-in one, or that of a file, read again when it changes.

A file that is broken when the desk opens is an error. One that breaks while the
desk is at work changes nothing: the policy before it stays in force, loudly.
"""

from __future__ import annotations

import logging
import threading
import time
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

from sayso.errors import BadPolicy
from sayso.policy.reading import SECTIONS, read
from sayso.policy.rules import Policy

_log = logging.getLogger("sayso.policy")
_LOOK_AGAIN = 1.0  # seconds
FILE = "sayso.toml"


@cache
def default_policy() -> Policy:
    """Return the policy that applies where nothing else is said."""
    text = files("sayso.policy").joinpath("default.toml").read_text("utf-8")
    return read(text, source="default.toml")


def read_policy(path: Path) -> Policy:
    """Read a policy from a file.

    Raises:
        BadPolicy: it cannot be read, or makes no sense.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadPolicy(f"{path} cannot be read: {error}") from error
    return read(text, source=str(path), default=default_policy())


def speaks_of_policy(path: Path) -> bool:
    """Whether a file has a policy in it; `sayso.toml` may only say where the desk is."""
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return True  # then it should be read, and what is wrong be said
    return any(section in given for section in SECTIONS)


class Lawbook:
    """Where the rules of one desk are written."""

    def __init__(self, given: Policy | str | Path | None = None) -> None:
        self._path: Path | None = None
        self._policy: Policy | None = given if isinstance(given, Policy) else None
        if isinstance(given, str | Path):
            self._path = Path(given)
        elif given is None and speaks_of_policy(Path(FILE)):
            self._path = Path(FILE)
        self._lock = threading.Lock()
        self._seen: float | None = None
        self._looked = 0.0

    @property
    def policy(self) -> Policy:
        """The policy in force.

        Raises:
            BadPolicy: it was broken from the beginning.
        """
        if self._path is None:
            return self._policy or default_policy()
        now = time.monotonic()
        if self._policy is not None and now - self._looked < _LOOK_AGAIN:
            return self._policy
        with self._lock:
            self._looked = now
            return self._read(self._path)

    def _read(self, path: Path) -> Policy:
        changed = _changed(path)
        if self._policy is not None and changed == self._seen:
            return self._policy
        try:
            policy = read_policy(path)
        except BadPolicy as error:
            if self._policy is None:
                raise
            _log.error("The policy was changed and is broken, so the one before stays: %s", error)
            self._seen = changed
            return self._policy
        if self._policy is not None and policy.version != self._policy.version:
            _log.warning("The policy %s is in force in version %s.", path, policy.version)
        self._policy, self._seen = policy, changed
        return policy


def _changed(path: Path) -> float | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
