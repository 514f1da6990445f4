"""Change the code a little, here and there, and see whether a test notices.

    python -m tools.mutants [--seed N] [--count N] [ROOM ...]

Coverage says which lines ran. A mutant asks for more: a `<` becomes a `<=`, an `and` an `or`, a
statement goes, and its nearest tests have to fail. The code is copied first, so the tree that you
work on is never touched. The same seed takes the same mutants of the same code.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

HOME = Path(__file__).parents[1]
SQL = "store/sql"
_LIMIT = 300  # seconds for the tests of one mutant
_IN_SQL = 7  # one mutant of so many is one of SQL
_MOST = 10  # files of tests for one mutant
_APART = ("demo", "testing.py")  # a company to look at, and doubles for tests of others
_NOT_COPIED = (".git", ".venv", ".hypothesis", ".*_cache", "__pycache__", "build", "dist", "site")
_QUIET = re.compile(r"_?log(ger)?\b|warnings\b|super\(\)|suppress\b")  # they decide nothing


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: this stretch of a file, by what it is replaced."""

    file: str  # below src/sayso
    start: int
    end: int
    new: str
    how: str

    @property
    def room(self) -> str:
        """The room it is in; SQL is one of its own."""
        return "sql" if self.file.startswith(SQL) else self.file.split("/")[0].removesuffix(".py")

    def planted(self, text: str) -> str:
        """Return the file with the change; offsets count bytes, as those of `ast` do."""
        raw = text.encode()
        return (raw[: self.start] + self.new.encode() + raw[self.end :]).decode()

    def diff(self, text: str) -> str:
        """Return what is different, as a patch without its head."""
        before, after = text.splitlines(), self.planted(text).splitlines()
        return "\n".join([*difflib.unified_diff(before, after, lineterm="", n=1)][2:])


# --- Python ------------------------------------------------------------------------------------

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip


def _otherwise(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:  # noqa: C901 - a table
    """Yield which part of a node is replaced, by what, and how that is called."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            other = ast.Compare(node.left, [_COMPARED[type(op)]()], node.comparators)
            yield node, f"({ast.unparse(other)})", "another comparison"
        case ast.BoolOp(op=op):
            either = ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), node.values)
            yield node, f"({ast.unparse(either)})", "and, or"
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield node, f"({ast.unparse(inner)})", "no not"
        case ast.BinOp(op=op) if type(op) in _COUNTED:
            summed = ast.BinOp(node.left, _COUNTED[type(op)](), node.right)
            yield node, f"({ast.unparse(summed)})", "another sum"
        case ast.Constant(value=bool(said)):
            yield node, str(not said), "true, false"
        case ast.Constant(value=int(number)):
            yield node, str(number + 1), "one more"
        case ast.If(test=test) | ast.IfExp(test=test):
            yield test, f"(not ({ast.unparse(test)}))", "the other branch"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield value, "None", "nothing returned"
        case ast.Expr(value=ast.Call(func=func)) if not _QUIET.match(ast.unparse(func)):
            yield node, "pass", "a call less"
        case ast.Raise(exc=ast.expr() as error) if "unreachable" not in ast.unparse(error):
            yield node, "pass", "nothing raised"
        case ast.Continue() | ast.Break():
            yield node, "pass", "on in the loop"
        case _:
            pass


def _tree(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in which a change can change what the program does."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.JoinedStr() | ast.Assert():
            return  # words; and claims of ours that never fail
        case ast.Call(func=func) if _QUIET.match(ast.unparse(func)):
            return
        case _:
            pass
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _tree(child)


def in_python(file: str, text: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _tree(ast.parse(text)):
        for part, new, how in _otherwise(node):
            assert isinstance(part, ast.expr | ast.stmt)  # noqa: S101 - these alone know their place
            end = starts[(part.end_lineno or 1) - 1] + (part.end_col_offset or 0)
            yield Mutant(file, starts[part.lineno - 1] + part.col_offset, end, new, how)


# --- SQL ---------------------------------------------------------------------------------------

_IN_TEXT = (
    (r"<=", "<"), (r">=", ">"), (r"(?<=\s)<(?=\s)", "<="), (r"(?<=\s)>(?=\s)", ">="),
    (r"(?<=\band )\S+ = \S+|(?<=\bwhere )\S+ = \S+", "1 = 1"), (r"\band\b(?! \d)", "or"),
    (r"\bor\b", "and"), (r" desc\b", " asc"), (r"\bis null\b", "is not null"),
    (r"\bis not null\b", "is null"), (r"\bnot exists\b", "exists"), (r"(?<!not )\bexists\b", "not exists"),
    (r"\bmin\(", "max("), (r"\bmax\(", "min("), (r" \+ 1\b", ""), (r" - 1\b", ""),
    (r"\bthen 0 else 1\b", "then 1 else 0"), (r"(?<== )null(?=,|$)", "0"), (r"(?<== )0(?=,|$)", "1"),
)  # fmt: skip


def in_sql(file: str, text: str) -> Iterator[Mutant]:
    """Yield every mutant of a file of statements; comments stay."""
    at = 0
    for line in text.splitlines(keepends=True):
        code = line.split("--")[0].rstrip()
        for pattern, new in _IN_TEXT:
            for found in re.finditer(pattern, code):
                start, old = len((text[:at] + code[: found.start()]).encode()), found[0]
                yield Mutant(file, start, start + len(old.encode()), new, f"{old} -> {new}")
        at += len(line)


# --- which tests are near ----------------------------------------------------------------------

_FAR = {"browser", "docs", "package", "test_house.py", "test_versions.py"}  # slow, or of all code
# Where the statements of a file are proven; those of all others in `tests/store`.
_OF_SQL = {
    "accounts": ("tests/access",),
    "cases": ("tests/insight/test_cases.py", "tests/asks/test_searching.py"),
    "common": ("tests/store", "tests/asks/test_inbox.py", "tests/runs/test_workers.py"),
    "epochs": ("tests/runs/test_restoring.py",),
    "files": ("tests/asks/test_files.py", "tests/store/test_contract.py"),
    "fleet": ("tests/runs/test_workers.py", "tests/runs/test_dispatch.py"),
    "keys": ("tests/asks/test_trust.py", "tests/asks/test_praising.py"),
    "outbox": ("tests/channels/test_webhooks.py", "tests/channels/test_courier.py"),
    "wakeups": ("tests/runs/test_engine.py",),
    **dict.fromkeys(("labels", "tallies", "trail"), ("tests/insight",)),
}


def nearest(root: Path, file: str) -> list[str]:
    """Return the tests that name a module, then those of the modules that use it, or its room's."""
    stem = Path(file).stem
    if file.startswith(SQL):
        return list(_OF_SQL.get(stem.split("_")[-1], ("tests/store",)))
    tests, source = root / "tests", root / "src" / "sayso"
    folder = tests / Path(file).parent
    while folder != tests and not any(folder.rglob("test_*.py")):
        folder = folder.parent
    files = (path for path in tests.rglob("test_*.py") if _FAR.isdisjoint(path.parts))
    texts = {path: path.read_text() for path in files}
    modules, named = sorted(source.rglob("*.py")), _naming(file)
    users = [path for path in modules if named.search(path.read_text())]
    found = list[Path]()
    for one in (file, *(path.relative_to(source).as_posix() for path in users)):
        named, namesake = _naming(one), f"test_{Path(one).stem}"
        near = [p for p, text in texts.items() if p.stem.startswith(namesake) or named.search(text)]
        # Those of its own room are the likeliest to notice.
        found += sorted(near, key=lambda path: (not path.is_relative_to(folder), str(path)))
    ring = [*dict.fromkeys(found)][:_MOST]
    if not any(one.is_relative_to(folder) for one in ring):
        ring.append(folder)
    return [str(one.relative_to(root)) for one in ring]


def _naming(file: str) -> re.Pattern[str]:
    """Return what an import of this module looks like."""
    dotted = "sayso." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package, _, name = dotted.rpartition(".")
    return re.compile(rf"{re.escape(dotted)}\b|from {re.escape(package)} import [^\n]*\b{name}\b")


# --- a run -------------------------------------------------------------------------------------


def killer_of(mutant: Mutant, root: Path) -> str | None:
    """Return the test that notices a mutant; `None` if it survives its nearest tests.

    It ends the program if that test fails without the mutant, too.
    """
    file, tests = root / "src" / "sayso" / mutant.file, nearest(root, mutant.file)
    text = file.read_text()
    file.write_text(mutant.planted(text))
    try:
        passed = _passed(root, tests)
    finally:
        file.write_text(text)
    if passed:
        return None
    cache = root / "cache" / "v" / "cache" / "lastfailed"
    failed: str = next(iter(json.loads(cache.read_text()) if cache.exists() else ()), tests[0])
    if not _passed(root, [failed]):
        raise SystemExit(f"{failed} fails without any mutant. Mend it first.")
    return failed


def _passed(root: Path, tests: Sequence[str]) -> bool:
    """Run tests until the first fails, or time is up: one that hangs has a limit of its own."""
    shutil.rmtree(root / "cache", ignore_errors=True)
    # A mutant may have the size and the second of the file before it: no compiled code is kept.
    env = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", *tests]
    command += ["-o", f"cache_dir={root / 'cache'}"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=root, env=env, stdout=quiet, stderr=quiet) as work:
        try:
            return work.wait(_LIMIT) == 0
        except subprocess.TimeoutExpired:
            work.send_signal(signal.SIGINT)  # it stops the database that it started
            return True


def sample(source: Path, rooms: Sequence[str], seed: int, count: int) -> list[Mutant]:
    """Draw mutants: one of seven of SQL, if there is any, and all others of Python."""
    python, sql = list[Mutant](), list[Mutant]()
    for path in sorted(source.rglob("*.py")):
        file = path.relative_to(source).as_posix()
        if file.split("/")[0] not in _APART:
            python += in_python(file, path.read_text())
    for path in sorted((source / SQL).glob("*.sql")):
        sql += in_sql(path.relative_to(source).as_posix(), path.read_text())
    python, sql = ([one for one in of if not rooms or one.room in rooms] for of in (python, sql))
    chance = Random(seed)  # noqa: S311 - the same each time is the point
    of_sql = min(len(sql), count // _IN_SQL if python else count)
    drawn = chance.sample(sql, of_sql)
    return drawn + chance.sample(python, min(len(python), count - of_sql))


def main(root: Path, rooms: Sequence[str], seed: int, count: int) -> None:
    """Plant mutants one after the other, and say of each what became of it."""
    killed, survived = Counter[str](), defaultdict[str, list[str]](list)
    with tempfile.TemporaryDirectory(prefix="sayso-mutants-") as folder:
        tree = Path(folder, "tree")
        shutil.copytree(root, tree, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        for mutant in sample(tree / "src" / "sayso", rooms, seed, count):
            text = (tree / "src" / "sayso" / mutant.file).read_text()
            line = text.encode()[: mutant.start].count(b"\n") + 1
            where = f"{mutant.file}:{line} {mutant.how}"
            killer = killer_of(mutant, tree)
            print(f"killed    {where}  {killer}" if killer else f"SURVIVED  {where}", flush=True)
            killed[mutant.room] += killer is not None
            if killer is None:
                survived[mutant.room].append(f"\n{where}\n{mutant.diff(text)}")
    for room in sorted(survived):
        print(*survived[room], sep="\n")
    print(f"\n{'room':12}  killed  survived")
    for room in sorted(killed):
        print(f"{room:12}  {killed[room]:6}  {len(survived[room]):8}")
    planted = killed.total() + sum(map(len, survived.values()))
    print(f"{killed.total()} of {planted} killed (seed {seed})")


if __name__ == "__main__":
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("rooms", nargs="*", metavar="ROOM", help="such as asks, web, sql")
    for name, usual in (("--seed", 1), ("--count", 120)):
        given.add_argument(name, type=int, default=usual)
    main(HOME, **vars(given.parse_args()))
