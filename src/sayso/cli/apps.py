"""The program behind a desk: imported by its name or its file, for its workflows."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from sayso.cli.desks import Address, address, desk_argument, named
from sayso.desk import Desk
from sayso.errors import Misuse
from sayso.model.text import one_line
from sayso.runs.workflow import Workflow, find, load
from sayso.store.contract import RunRow

_MAKE = "desk = sayso.Desk()"


@dataclass(frozen=True, slots=True)
class App:
    """A desk with the workflows that its program registered on it."""

    name: str
    desk: Desk


def find_app(target: str) -> App:
    """Import a program such as `app:desk`, `app` or `path/app.py`, and return its desk.

    Raises:
        Misuse: it cannot be imported, or has not exactly one desk of that name.
    """
    module, _, attribute = target.partition(":")
    if not module:
        raise Misuse(f"{target!r} names no program: give app:desk, app, or path/app.py:desk.")
    imported = _imported(module)
    name, desk = (attribute, _named(imported, target)) if attribute else _only(imported, module)
    _check_place(f"{module}:{name}", desk)
    return App(f"{module}:{name}", desk)


def _imported(module: str) -> ModuleType:
    with _as_program(module):
        return load(module)


@contextmanager
def _as_program(module: str) -> Iterator[None]:
    """Let a program find what it would find if it were started by itself.

    A desk takes the name of its agent from `sys.argv`, which is ours; and where it
    names no address, it should find the one that `--desk` names.
    """
    argv, url = sys.argv, os.environ.get("SAYSO_URL")
    sys.argv = [module if module.endswith(".py") else module.rpartition(".")[2]]
    if desk_argument() is not None:
        os.environ["SAYSO_URL"] = address().url
    try:
        yield
    except SystemExit as end:
        raise Misuse(
            f"{module} ends the program when it is imported (exit code {end.code}). Put what it "
            'does under: if __name__ == "__main__":'
        ) from end
    finally:
        sys.argv = argv
        if url is None:
            os.environ.pop("SAYSO_URL", None)
        else:
            os.environ["SAYSO_URL"] = url


def _named(module: ModuleType, target: str) -> Desk:
    name, _, attribute = target.partition(":")
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if isinstance(found, Desk):
        return found
    known = ", ".join(f"{name}:{desk}" for desk in _desks(module))
    what = "there is nothing of that name" if found is None else f"it is a {type(found).__name__}"
    advice = f"It has: {known}." if known else f"It needs a line such as: {_MAKE}"
    raise Misuse(f"{target} is no desk: {what} in {name}. {advice}")


def _only(module: ModuleType, name: str) -> tuple[str, Desk]:
    found = _desks(module)
    if not found:
        raise Misuse(f"{name} has no desk. It needs a line such as: {_MAKE}")
    if len(found) > 1:
        known = ", ".join(f"{name}:{desk}" for desk in found)
        raise Misuse(f"{name} has several desks; say which one: {known}.")
    return next(iter(found.items()))


def _desks(module: ModuleType) -> dict[str, Desk]:
    """Return the desks of a module by name; one with two names counts once."""
    found: dict[str, Desk] = {}
    for name, value in vars(module).items():
        if isinstance(value, Desk) and all(value is not desk for desk in found.values()):
            found[name] = value
    return found


def _check_place(name: str, desk: Desk) -> None:
    if desk_argument() is None or same_place(desk.url, address().url):
        return
    raise Misuse(
        f"{name} works on {named(desk.store.url)}, not on {one_line(str(desk_argument()), 200)}: it "
        "names its own address. Leave out --desk."
    )


def same_place(one: str, other: str) -> bool:
    """Whether two addresses are the same database, as far as can be told from them."""
    files = Address(one, "").file, Address(other, "").file
    if files[0] is None or files[1] is None:
        return one == other
    return files[0].resolve() == files[1].resolve()


def with_code(desk: Desk, row: RunRow, target: str | None = None) -> Desk:
    """Return a desk that can carry a run on: its program's own, or else this one with its code.

    Raises:
        Misuse: the code of the run cannot be imported here.
    """
    flow = _flow(row) if target is None else _flow_of(find_app(target), row)
    host = flow.host
    able = host if isinstance(host, Desk) and same_place(host.url, desk.url) else desk
    able.flows[row.workflow] = flow
    return able


def _flow(row: RunRow) -> Workflow:
    module = row.path.partition(":")[0]
    if module == "__main__":
        raise Misuse(
            f"{row.id} was started from a session without a file, so its code cannot be found by "
            f"itself. Name a program that has it: sayso runs resume {row.id} app:desk"
        )
    try:
        with _as_program(module):
            return find(row.path)
    except Misuse as error:
        raise Misuse(
            f"The code of {row.id} is not here. {error} Or say where: sayso runs resume {row.id} "
            f"path/{Path(module.replace('.', '/')).name}.py"
        ) from error


def _flow_of(app: App, row: RunRow) -> Workflow:
    flow = app.desk.flows.get(row.workflow)
    if flow is None:
        known = ", ".join(app.desk.flows) or "none"
        raise Misuse(
            f"{app.name} does not have the workflow `{row.workflow}` of {row.id}; it has: {known}."
        )
    return flow
