"""Write what the reference says of the code's own tables: errors, events, verdicts, states.

    python -m tools.reference

The prose of these pages is written by hand. What stands between `<!-- name -->` and
`<!-- /name -->` is made here, from the classes and tables that the program uses; a test fails
when a page says something else.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from sayso import errors
from sayso.errors import SaysoError
from sayso.model.event_kinds import EVENTS, STAMP, EventKind
from sayso.model.lifecycle import ASK, EFFECT, RUN, Table
from sayso.model.verdicts import KINDS, VERDICTS, Meaning
from sayso.web.problems import STATUS

DOCS = Path(__file__).parent.parent / "docs"

# --- errors ------------------------------------------------------------------------------------

# Where an error is explained at length.
READ_ON = {
    "BadPolicy": "../howto/policy.md#check-it",
    "BadSignature": "../howto/webhooks.md#whom-to-believe",
    "CallerGone": "../howto/gates.md#interrupted",
    "Claimed": "../howto/teams.md#claim-and-assign",
    "Denied": "../howto/policy.md",
    "Diverged": "../howto/runs.md#changing-code-under-waiting-runs",
    "FinishedLate": "../explanation/crash-and-doubt.md#a-program-that-is-frozen-not-dead",
    "ModelFailed": "../howto/agents.md#when-something-goes-wrong",
    "NotSignedIn": "../howto/tokens.md",
    "RunParked": "../howto/agents.md#when-something-goes-wrong",
    "Settling": "../howto/deciding.md#take-it-back",
    "Skipped": "../explanation/crash-and-doubt.md",
    "StepFailed": "../decisions/0015-failures-are-raised-as-stepfailed.md",
    "Tampered": "../explanation/seals-and-erasure.md",
    "ThreadBusy": "../howto/runs.md#threads",
    "TooManyAsks": "../howto/policy.md#how-fast-agents-may-ask",
    "TooManyTries": "../howto/tokens.md#passwords",
    "Unsatisfiable": "../howto/teams.md#who-must-agree",
}


def public_errors() -> list[type[SaysoError]]:
    """Return every error that a program can catch by name, in the order of the tree."""
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    return [SaysoError, *(getattr(errors, name) for name in drawn)]


def happened(error: type[SaysoError]) -> str:
    """Return what its docstring says: what happened."""
    return _told(error)[0]


def advice(error: type[SaysoError]) -> str:
    """Return what its docstring says after `Next:`, as a sentence; empty if it says nothing."""
    said = _told(error)[1]
    return said[:1].upper() + said[1:]


def _told(error: type[SaysoError]) -> tuple[str, str]:
    text = " ".join(inspect.cleandoc(error.__doc__ or "").split())
    what, _, then = text.partition(" Next: ")
    return what, then


def carried(error: type[SaysoError]) -> list[str]:
    """Return the attributes that say what it is about."""
    names: dict[str, None] = {}
    for kind in reversed(error.__mro__):
        if kind.__module__ == errors.__name__ and "__init__" in vars(kind):
            source = textwrap.dedent(inspect.getsource(vars(kind)["__init__"]))
            names |= dict.fromkeys(_own_names(ast.parse(source)))
    return list(names)


def _own_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Attribute) and not target.attr.startswith("_"):
                yield target.attr


def status_over_http(error: type[SaysoError]) -> int:
    """Return the status that a server answers it with."""
    return next((status for kind, status in STATUS if issubclass(error, kind)), 500)


def errors_table() -> str:
    """Write a section for each branch of the tree, by whose fault it is."""
    everything = public_errors()
    branches = [error for error in everything if SaysoError in error.__bases__]
    parts = ["\n".join([*_HEAD, _row(SaysoError)])]
    for branch in branches:
        rows = [_row(error) for error in everything if issubclass(error, branch)]
        parts.append(
            "\n".join([f"## `{branch.__name__}`", "", happened(branch), "", *_HEAD, *rows])
        )
    return "\n\n".join(parts)


_ANY = "One of those below, or one that needs no name of its own."
_HEAD = (
    "| error, and its code | HTTP | what happened | what to do next |",
    "|---|---|---|---|",
)


def _row(error: type[SaysoError]) -> str:
    name, more = error.__name__, READ_ON.get(error.__name__)
    what = _ANY if SaysoError in error.__bases__ and error.__subclasses__() else happened(error)
    carries = ", ".join(f"`{one}`" for one in carried(error))
    what += f" *Carries* {carries}." if carries else ""
    what += f" [More]({more})" if more else ""
    first = f"`{name}`<br>`{error.code}`"
    return f"| {first} | {status_over_http(error)} | {what} | {advice(error)} |"


# --- events ------------------------------------------------------------------------------------

_STREAMS = {
    "ask": ("Of an ask", "In the stream of the ask, whose name is its id (`a-7f3k`)."),
    "run": ("Of a run", "In the stream of the run, whose name is its id (`r-7f3k2a`)."),
    "trust": (
        "Of the trust in an agent",
        "In the stream of the key, whose name is its id (`k-7f3k9m2p0q`). Agents cannot read it.",
    ),
    "law": ("Of the policy", "In the stream `law`. Whoever opens the desk goes by what it says."),
    "people": ("Of the people", "In the stream `people`."),
    "access": ("Of tokens, passwords and sessions", "In the stream `access`. No secret is in it."),
    "webhooks": ("Of webhooks", "In the stream `webhooks`."),
    "agents": ("Of agents", "In the stream `agents`."),
    "seals": ("Of the journal itself", "In the stream `seals`."),
    "desk": ("Of the desk", "In the stream `desk`."),
}
_WHO = {
    "person": "a person",
    "agent": "an agent, or the program that asks",
    "policy": "the policy",
    "clock": "the clock",
}
_STATUS_OF = {"ask": "The ask", "effect": "Its effect", "run": "The run"}
_FIELD_LINKS = {
    ("ask.opened", "content"): "schema.md#content-what-is-shown",
    ("step.done", "verb"): "#verbs-of-a-step",
    ("step.failed", "verb"): "#verbs-of-a-step",
    ("run.parked", "more"): "../decisions/0020-limits-park.md",
}


def stamp_table() -> str:
    """Write the fields that nearly every payload has."""
    return "\n".join(["| field | meaning |", "|---|---|", *_fields(STAMP)])


def events_table() -> str:
    """Write a section for each stream, with a heading for each kind of event in it."""
    parts: list[str] = []
    for stream, (title, where) in _STREAMS.items():
        parts.append(f"## {title}\n\n{where}")
        parts += [_event(kind) for kind in EVENTS.values() if kind.stream == stream]
    return "\n\n".join(parts)


def _event(kind: EventKind) -> str:
    after = f" {_STATUS_OF[kind.family]} is `{kind.becomes}` after it." if kind.becomes else ""
    lines = [f"### `{kind.name}`", "", *textwrap.wrap(f"{kind.tells}{after}", 118), ""]
    lines += [f"Written by {_listed(kind)}. {_webhooks(kind)}"]
    if kind.says:
        links = {name: to for (owner, name), to in _FIELD_LINKS.items() if owner == kind.name}
        lines += ["", "| field | meaning |", "|---|---|", *_fields(kind.says, links)]
    return "\n".join(lines)


def _listed(kind: EventKind) -> str:
    return " or ".join(_WHO[one] for one in kind.by)


def _webhooks(kind: EventKind) -> str:
    if kind.told:
        return "Webhooks: always, unless the webhook names kinds."
    if kind.stream in ("ask", "run"):
        return "Webhooks: if the webhook names it."
    return "Webhooks: if the webhook names it, and is of no team."


def _fields(says: Mapping[str, str], links: Mapping[str, str] | None = None) -> list[str]:
    told = dict(says)
    for name, to in (links or {}).items():
        told[name] = f"{told[name]} ([more]({to}))"
    return [f"| `{name}` | {meaning} |" for name, meaning in told.items()]


# --- verdicts and states -----------------------------------------------------------------------


def verdicts_table() -> str:
    """Write what each verdict means for each kind of ask."""
    words = ("approve", "edit", "reject", "respond")
    rows = [f"| kind | {' | '.join(words)} |", "|---|---|---|---|---|"]
    for kind in KINDS:
        known: Mapping[str, Meaning] = {str(word): one for word, one in VERDICTS[kind].items()}
        cells = (_meaning(known.get(word)) for word in words)
        rows.append(f"| `{kind}` |" + " |".join(cells) + " |")
    return "\n".join(rows)


def _meaning(meaning: Meaning | None) -> str:
    if meaning is None:
        return ""
    sign = "+" if meaning.stance == "consent" else "-"
    takes = "" if meaning.takes == "nothing" else f", {meaning.takes}"
    return f" {meaning.button} ({sign}{takes})"


def states_table() -> str:
    """Write every arrow from one status to another."""
    rows = ["| what | from | to |", "|---|---|---|"]
    for what, table in (("ask", ASK), ("run", RUN), ("effect", EFFECT)):
        for status, targets in table.items():
            to = ", ".join(f"`{target}`" for target in sorted(targets)) or "(final)"
            rows.append(f"| {what} | `{status}` | {to} |")
    return "\n".join(rows)


def life(table: Table, family: str) -> str:
    """Draw a table of states as a tree: what is written, and the status after it."""
    first = next(kind for kind in EVENTS.values() if kind.family == family)
    drawn = [f"{first.name} ──> {first.becomes}", *_branches(table, family, str(first.becomes))]
    return "\n".join(["```text", *drawn, "```"])


def _branches(
    table: Table, family: str, status: str, indent: str = "", seen: frozenset[str] = frozenset()
) -> Iterator[str]:
    ways = sorted(_ways(table, family, status), key=lambda way: (bool(table[way[1]]), way))
    wide = max((len(name) for name, _ in ways), default=0)
    for name, target in ways:
        last = (name, target) == ways[-1]
        again = target == status or target in seen | {status}
        note = " (final)" if not table[target] else " (as above)" if again else ""
        yield f"{indent}{'└' if last else '├'}─ {name} {'─' * (wide - len(name) + 2)}> {target}{note}"
        if table[target] and not again:
            deeper = indent + ("   " if last else "│  ")
            yield from _branches(table, family, target, deeper, seen | {status})


def _ways(table: Table, family: str, status: str) -> Iterator[tuple[str, str]]:
    """Yield each event that leads away from a status, and where to."""
    for kind in EVENTS.values():
        opens = kind.name.endswith(".opened")  # the beginning, and no way back to it
        if kind.family == family and kind.becomes in table[status] and not opens:
            yield kind.name, kind.becomes


# --- the pages ---------------------------------------------------------------------------------

Part = Callable[[], str]
PAGES: Mapping[str, Mapping[str, Part]] = {
    "reference/errors.md": {"errors": errors_table},
    "reference/events.md": {"stamp": stamp_table, "events": events_table},
    "reference/verdicts.md": {"verdicts": verdicts_table, "states": states_table},
    "explanation/life-of-an-ask.md": {
        "ask": lambda: life(ASK, "ask"),
        "effect": lambda: life(EFFECT, "effect"),
    },
}


def written(page: str) -> str:
    """Return a page as it should be: its prose, and what the code says between the marks."""
    text = (DOCS / page).read_text()
    for mark, part in PAGES[page].items():
        before, begin, rest = text.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- /{mark} -->\n")
        if not begin or not end:
            raise ValueError(f"{page} has no place for {mark!r}: <!-- {mark} --> <!-- /{mark} -->")
        text = f"{before}{begin}{part()}\n{end}{after}"
    return text


def main() -> None:
    """Write every page, and name those that changed."""
    for page in PAGES:
        text = written(page)
        if text != (DOCS / page).read_text():
            (DOCS / page).write_text(text)
            print(f"docs/{page}")


if __name__ == "__main__":
    main()
