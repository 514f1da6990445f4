"""The program behind a desk: imported by its name or its file, for its agents and workflows."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from sayso.cli.desks import Address, address, desk_argument, named, open_desk
from sayso.desk import Desk
from sayso.errors import Misuse
from sayso.model.text import one_line
from sayso.runs.workflow import Workflow, find, load, workflow_of
from sayso.store.contract import RunRow

_MAKE = "desk = sayso.Desk()"
_MAKE_AGENT = 'agent = sayso.Agent("name", model=..., tools=[...])'


@dataclass(frozen=True, slots=True)
class App:
    """A desk with the workflows that its program registered on it."""

    name: str
    desk: Desk


@dataclass(frozen=True, slots=True)
class Runnable:
    """An agent or a workflow of a program, and the desk it works on."""

    name: str
    flow: Workflow
    desk: Desk

    @property
    def __sayso_workflow__(self) -> Workflow:
        """What a desk starts."""
        return self.flow


def find_app(target: str) -> App:
    """Import a program such as `app:desk`, `app` or `path/app.py`, and return its desk.

    A program that has agents and no desk works on the desk that people get by default; so
    does one whose agent is named instead of a desk.

    Raises:
        Misuse: it cannot be imported, or has not exactly one desk of that name.
    """
    module, attribute = split(target)
    imported = _imported(module)
    if attribute and not _called(imported, attribute):
        name, desk = f"{module}:{attribute}", _named(imported, target)
    elif attribute or (not _desks(imported) and _runnables(imported)):
        name, desk = module, _home(imported, module)
    else:
        only, desk = _only(imported, module)
        name = f"{module}:{only}"
    _check_place(name, desk)
    return App(name, desk)


def find_runnable(target: str) -> Runnable:
    """Import a program such as `app:agent`, `app` or `path/app.py`, and return what it runs.

    Raises:
        Misuse: it cannot be imported, or has not exactly one agent or workflow of that name.
    """
    module, attribute = split(target)
    imported = _imported(module)
    every = _runnables(imported)
    found = _called(imported, attribute) if attribute else _agents(every) or every
    if len(found) != 1:
        raise Misuse(_no_runnable(imported, module, attribute, found))
    ((name, flow),) = found.items()
    desk = flow.host if isinstance(flow.host, Desk) else _home(imported, module)
    _check_place(f"{module}:{name}", desk)
    return Runnable(f"{module}:{name}", flow, desk)


def _runnables(module: ModuleType) -> dict[str, Workflow]:
    """Return the agents and workflows of a module by name; one with two names counts once."""
    found: dict[str, Workflow] = {}
    for name, value in vars(module).items():
        flow = workflow_of(value)
        if flow is not None and all(flow is not other for other in found.values()):
            found[name] = flow
    return found


def _agents(flows: Mapping[str, Workflow]) -> dict[str, Workflow]:
    return {name: flow for name, flow in flows.items() if flow.host is None}


def _called(module: ModuleType, name: str) -> dict[str, Workflow]:
    """Return the agent or workflow that goes by a name: in the module, or its own."""
    flow = workflow_of(_attribute(module, name))
    if flow is not None:
        return {name: flow}
    return {known: flow for known, flow in _runnables(module).items() if flow.name == name}


def _no_runnable(
    module: ModuleType, name: str, attribute: str, found: Mapping[str, Workflow]
) -> str:
    every = _runnables(module)
    agents = _agents(every)
    known = ", ".join(
        f"{name}:{known} ({'agent' if known in agents else 'workflow'})" for known in every
    )
    if not every:
        return f"{name} has no agent and no workflow. It needs a line such as: {_MAKE_AGENT}"
    if not attribute:
        return f"{name} has several; say which one: {known}."
    if found:
        return f"Several in {name} are called {attribute!r}; it has: {known}."
    value = _attribute(module, attribute)
    what = "there is nothing of that name" if value is None else f"it is a {type(value).__name__}"
    return f"{name}:{attribute} is no agent: {what} in {name}. It has: {known}."


def _home(module: ModuleType, name: str) -> Desk:
    """Return the desk on which the agents of a program work.

    Raises:
        Misuse: it has several, and nobody says which one.
    """
    desks = _desks(module)
    if desk_argument() is not None and len(desks) > 1:
        desks = {n: desk for n, desk in desks.items() if same_place(desk.url, address().url)}
    if len(desks) > 1:
        raise Misuse(f"{name} has several desks ({', '.join(desks)}); say which: --desk URL.")
    return next(iter(desks.values())) if desks else open_desk(create=True)


def split(target: str) -> tuple[str, str]:
    """Return the program of a target such as `app:desk`, and the name in it, if it has one.

    Raises:
        Misuse: it names no program.
    """
    module, _, attribute = target.partition(":")
    if not module:
        raise Misuse(f"{target!r} names no program: give app:name, app, or path/app.py:name.")
    return module, attribute


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
    found = _attribute(module, attribute)
    if isinstance(found, Desk):
        return found
    known = ", ".join(f"{name}:{desk}" for desk in _desks(module))
    what = "there is nothing of that name" if found is None else f"it is a {type(found).__name__}"
    advice = f"It has: {known}." if known else f"It needs a line such as: {_MAKE}"
    raise Misuse(f"{target} is no desk: {what} in {name}. {advice}")


def _attribute(module: ModuleType, name: str) -> Any:  # noqa: ANN401 - whatever it is
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


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
    host = flow.host or _host_of(row)
    able = host if isinstance(host, Desk) and same_place(host.url, desk.url) else desk
    able.flows[row.workflow] = flow
    able.crew.bind(row, flow)
    return able


def _host_of(row: RunRow) -> Desk | None:
    """Return the only desk of the program whose agent this is: it may have settings of its own."""
    module = sys.modules.get(row.path.partition(":")[0])
    desks = list(_desks(module).values()) if module is not None else []
    return desks[0] if len(desks) == 1 else None


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
