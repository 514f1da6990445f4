"""A workflow is a plain function that takes the run; a process serves those it has registered."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import logging
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from sayso.errors import BadValue, Misuse
from sayso.model.content import check_word
from sayso.model.conversion import decode, encode
from sayso.model.digest import frozen
from sayso.model.names import check_name
from sayso.model.signature import hinted_types, return_type
from sayso.runs.ambient import AMBIENT

_log = logging.getLogger("sayso.agent")
_LARGEST = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Workflow:
    """A function that can be run durably, and where its code is found."""

    name: str
    path: str
    fn: Callable[..., Any]
    host: object
    awaits: bool
    signature: inspect.Signature
    types: Mapping[str, Any]
    returns: object
    agent: str | None = None  # who acts, if it is not simply the program of the desk
    version: str = ""  # of its code; '' if nothing is known of it
    positional: tuple[str, ...] = field(init=False)
    rest: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Note which parameters take positional arguments, the run apart."""
        parameters = list(self.signature.parameters.values())[1:]
        plain = [
            p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        rest = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL]
        object.__setattr__(self, "positional", tuple(plain))
        object.__setattr__(self, "rest", tuple(rest))

    @property
    def claims(self) -> str:
        """Which runs it can carry on: an agent only those of the very agent that it is.

        A workflow that was moved is found by its name; two agents may share a name.
        """
        return self.name if self.agent is None else f"{self.name}|{self.path}"

    def freeze(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return its input as it is stored.

        Raises:
            TypeError: as the function itself would.
            BadValue: an argument cannot be stored.
        """
        given, named = args, kwargs
        if kwargs or not len(args) == len(self.positional) == len(self.signature.parameters) - 1:
            bound = self.signature.bind(None, *args, **kwargs)
            given, named = bound.args[1:], bound.kwargs
        return {
            "args": [
                self._frozen(name, value)
                for name, value in zip(self._names(len(given)), given, strict=True)
            ],
            "kwargs": {name: self._frozen(name, value) for name, value in named.items()},
        }

    def _frozen(self, name: str, value: object) -> Any:  # noqa: ANN401 - JSON
        try:
            plain = encode(self.types.get(name, Any), value)
            return frozen(plain, limit=_LARGEST, what=f"argument {name} of {self.name}")
        except BadValue as error:
            raise BadValue(
                f"The argument {name} of {self.name} cannot be stored: {error}", path=name
            ) from error

    def thaw(self, stored: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the input as the function takes it."""
        types = self.types
        args, kwargs = stored.get("args", []), stored.get("kwargs", {})
        listed = [
            decode(types.get(name, Any), value)
            for name, value in zip(self._names(len(args)), args, strict=True)
        ]
        return listed, {name: decode(types.get(name, Any), value) for name, value in kwargs.items()}

    def _names(self, count: int) -> tuple[str, ...]:
        """Return the parameter that takes each positional argument."""
        return self.positional[:count] + self.rest * (count - len(self.positional))

    def kept(self, result: object) -> Any:  # noqa: ANN401 - JSON
        """Return the output as it is stored.

        Raises:
            BadValue: it cannot be stored.
        """
        plain = result if self.returns is Any else encode(self.returns, result)
        return frozen(plain, limit=_LARGEST, what="output")

    def output(self, kept: Any) -> Any:  # noqa: ANN401 - JSON in, what it returned out
        """Return the output as the function returned it."""
        return kept if self.returns is Any else decode(self.returns, kept)


class Runnable(Protocol):
    """What can be run besides a function: an agent."""

    @property
    def __sayso_workflow__(self) -> Workflow:
        """It as a workflow."""
        ...


def declare(
    fn: Callable[..., Any], host: object, name: str | None, version: str | None = None
) -> Workflow:
    """Return a function as a workflow.

    Raises:
        BadValue: it does not take a run, or cannot be found again by its name or version.
    """
    if not inspect.isfunction(fn):
        raise BadValue(
            f"@desk.workflow goes on a function, not on {type(fn).__name__}: write "
            "def my_workflow(run, ...) and register that."
        )
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise BadValue(f"{fn.__name__} is a generator; a workflow does its work and returns.")
    parameters = list(inspect.signature(fn).parameters.values())
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        raise BadValue(f"{fn.__name__} takes no run: write def {fn.__name__}(run, ...).")
    called = name or fn.__name__
    check_word(called, "name")
    if "|" in called:
        raise BadValue(f"name={called!r}: a workflow's name has no '|'.")
    return Workflow(
        called,
        f"{module_of(fn.__module__)}:{fn.__qualname__}",
        fn,
        host,
        inspect.iscoroutinefunction(fn),
        inspect.signature(fn),
        _types(fn),
        returned_type(fn),
        version=version_of(fn.__module__) if version is None else _checked(version),
    )


def check_agent(name: str) -> str:
    """Return the name of an agent that runs are found by, as `module:name`.

    Raises:
        BadValue: people and workers could not call it by that.
    """
    plain = check_name("agent", name)
    if ":" in plain:
        raise BadValue(f"name={name!r}: the name of an agent that runs here has no ':'.")
    return plain


def acting(name: str, module: str, fn: Callable[..., Any]) -> Workflow:
    """Return a function that takes the run as an agent, found by its module and its name.

    Every desk of this process serves it from now on, for as long as somebody holds the workflow.
    Of two with one name the last one counts.
    """
    fn.__name__ = fn.__qualname__ = name = check_agent(name)
    flow = Workflow(
        name=name,
        path=f"{module_of(module)}:{name}",
        fn=fn,
        host=None,
        awaits=False,
        signature=inspect.signature(fn),
        types=_types(fn),
        returns=_declared(fn),  # not what is cached: that would hold the agent for good
        agent=name,
        version=version_of(module),
    )
    other = AMBIENT.get(name)
    if other is not None and other.path != flow.path:
        _log.warning(
            "Two agents are called %r: %s and %s. Runs of the first are no longer found here by "
            "its name; call one of them otherwise.",
            *(name, other.path, flow.path),
        )
    AMBIENT[name] = flow
    return flow


def _types(fn: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return hinted_types(fn)
    except (BadValue, TypeError, ValueError):
        return {}


def returned_type(fn: Callable[..., Any]) -> object:
    """Return the declared type of what a function returns; `Any` if there is none to go by."""
    if not getattr(fn, "__annotations__", None):
        return Any
    return _returned(fn)


def _declared(fn: Callable[..., Any]) -> object:
    try:
        return return_type(fn)
    except (BadValue, TypeError, ValueError):
        return Any


_returned = lru_cache(maxsize=256)(_declared)  # asked for at every step of every replay


def module_of(name: str) -> str:
    """Return the name under which another process would import a module."""
    if name not in ("__main__", "__mp_main__"):  # a child of multiprocessing has the program there
        return name
    main = sys.modules[name]
    if getattr(main, "__spec__", None) is not None and main.__spec__ is not None:
        return main.__spec__.name
    file = getattr(main, "__file__", None)
    return Path(file).stem if file else "__main__"


def version_of(module: str) -> str:
    """Return a digest of the source of a module, or '' if it has none, as in a notebook."""
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        stat = os.stat(file or "")
    except OSError:
        return ""
    return _read_version(str(file), stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=256)  # agents are made anew all the time
def _read_version(file: str, _changed: int, _size: int) -> str:
    return f"~{sha256(Path(file).read_bytes()).hexdigest()[:12]}"


def _checked(version: str) -> str:
    check_word(version, "version")
    if not version or version.startswith("~") or {"|", "="} & set(version):
        raise BadValue(
            f"version={version!r}: a short text such as '2', without '|' and '=', and not with '~' "
            "in front, which marks a digest."
        )
    return version


def workflow_of(fn: object) -> Workflow | None:
    """Return the workflow that a function was registered as."""
    found = getattr(fn, "__sayso_workflow__", None)
    return found if isinstance(found, Workflow) else None


def find(path: str) -> Workflow:
    """Import the workflow of a path such as `app:support`; of an agent, its name.

    Raises:
        Misuse: there is none; says what to do.
    """
    module, _, name = path.partition(":")
    found: Any = load(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    known = workflow_of(found) or _ambient(path, name)
    if known is None:
        raise Misuse(
            f"{path} is no workflow any more: {module} has nothing of that name that was registered "
            "with @desk.workflow, and no agent of that name."
        )
    return known


def _ambient(path: str, name: str) -> Workflow | None:
    known = AMBIENT.get(name)
    return known if known is not None and known.path == path else None


def load(module: str) -> ModuleType:
    """Import a module by its name, or a file by its path, as seen from the current folder.

    Raises:
        Misuse: it cannot be imported.
    """
    main = sys.modules.get("__main__")
    if main is not None and module == module_of("__main__"):
        return main  # the program itself: importing it again would run it again
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    if module.endswith(".py"):
        file = Path(module).absolute()
        if not file.is_file():
            raise Misuse(f"There is no file {file}.")
        sys.path.insert(0, str(file.parent))
        module = file.stem
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise Misuse(
            f"{module} cannot be imported here ({type(error).__name__}: {error}). Run this in the "
            "folder of the program, or name its file."
        ) from error
