"""What a text of SQL would do, in our words, by a small reader that admits what it cannot read.

It knows the statements that change or delete something, and which table they name. It is no
parser: where databases would read one text in different ways, it says that it is not certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

_MOST = 20_000  # characters; nobody reads more, and it takes a moment
_MOST_STATEMENTS = 50
_MOST_TABLES = 6
# Nothing here looks for the end of a comment or of `$tag$`: many that never end would each be
# looked for to the end of the text.
_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*)
    |(?P<opens>/\*|\$\w*\$)
    |(?P<text>'(?:[^']|'')*')
    |(?P<word>(?:"(?:[^"]|"")*"|`[^`]*`|\[[^\[\]\n]*\]|[^\W\d]\w*)
        (?:\s*\.\s*(?:"(?:[^"]|"")*"|`[^`]*`|\[[^\[\]\n]*\]|[^\W\d][\w$]*))*)
    |(?P<broken>'|"|`)
    |(?P<sign>[^\s\w])
    |(?P<other>\d[\w.]*|\w+)""",
    re.VERBOSE,
)
_TAGS = re.compile(r"(?=(\$\w*\$))")
_COMMENTS = re.compile(r"/\*|\*/")
_STARTS = re.compile(
    r"\s*(?:(?:--[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)\s*)*"
    r"(select|insert\s+into|update|delete\s+from|drop|truncate|alter|create|grant|revoke|merge"
    r"|with|replace\s+into|copy|call|exec|execute|vacuum|begin|set|explain|pragma)\b",
    re.IGNORECASE,
)
_THINGS = frozenset(
    {
        *("TABLE", "VIEW", "INDEX", "DATABASE", "SCHEMA", "USER", "ROLE", "SEQUENCE"),
        *("FUNCTION", "PROCEDURE", "TRIGGER", "TYPE", "EXTENSION", "COLUMN", "CONSTRAINT"),
        *("POLICY", "TABLESPACE", "OWNED"),
    }
)
_SKIPPED = frozenset(
    {
        *("OR", "REPLACE", "TEMP", "TEMPORARY", "UNLOGGED", "EXTERNAL", "MATERIALIZED"),
        *("UNIQUE", "CONCURRENTLY", "IF", "NOT", "EXISTS", "ONLY", "GLOBAL", "LOCAL"),
    }
)
_NO_TABLE = frozenset({"SELECT", "LATERAL", "UNNEST", "VALUES"})
_NO_UPDATE = frozenset({"FOR", "ON", "DO", "KEY"})
_HARMLESS = frozenset(
    {
        *("BEGIN", "COMMIT", "ROLLBACK", "START", "END", "SAVEPOINT", "ANALYZE", "VACUUM"),
        *("SHOW", "USE"),
    }
)
_RUNS_CODE = frozenset({"CALL", "EXEC", "EXECUTE", "DO"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text of SQL does, one sentence for each statement, and what has to be said of it."""

    does: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    depth: int
    bare: bool  # a keyword, perhaps; nothing in quotes is one

    @property
    def upper(self) -> str:
        return self.text.upper() if self.bare else ""


def looks_like_sql(text: str) -> bool:
    """Whether a text begins as a statement does."""
    return _STARTS.match(text[:2_000]) is not None


def read_sql(text: str) -> Reading:
    """Say what a text of SQL does."""
    statements, warnings = _statements(text[:_MOST])
    if len(text) > _MOST:
        warnings.append(f"Only the first {_MOST:,} of {len(text):,} characters were read.")
    if len(statements) > 1:
        warnings.insert(0, f"{len(statements):,} statements.")
    does = [_said(words) for words in statements[:_MOST_STATEMENTS]]
    if len(statements) > _MOST_STATEMENTS:
        does.append(f"and {len(statements) - _MOST_STATEMENTS:,} statements more")
    return Reading(tuple(does), tuple(dict.fromkeys(warnings)))


def _statements(text: str) -> tuple[list[list[_Word]], list[str]]:
    """Take a text apart into statements of words, and say what makes that uncertain."""
    found: list[list[_Word]] = [[]]
    depth, broken = 0, False
    for kind, piece in _tokens(text):
        if piece == ";":
            found.append([])
            depth = 0
        elif piece == "(":
            depth += 1
        elif piece == ")":
            depth -= 1
            found[-1].append(_Word(")", depth, bare=False))
        elif kind != "comment":
            found[-1].append(_word(kind, piece, depth))
        broken = broken or kind == "broken"
    return [words for words in found if words], list(_uncertain(text, broken=broken))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each token, in one pass.

    What is opened and never closed is broken, and what stands behind it is read all the same.
    """
    closed = {"*/": text.rfind("*/"), **{tag[1]: tag.start() for tag in _TAGS.finditer(text)}}
    at = 0
    while (token := _TOKEN.search(text, at)) is not None:
        kind, at = str(token.lastgroup), token.end()
        if kind != "opens":
            yield kind, token[0]
            continue
        closes = "*/" if token[0] == "/*" else token[0]
        if closed[closes] < at:
            yield "broken", token[0]
            continue
        at = text.find(closes, at) + len(closes)
        yield ("comment", "") if closes == "*/" else ("text", text[token.start() : at])


def _word(kind: str, token: str, depth: int) -> _Word:
    if kind != "word":
        return _Word(token[:40], depth, bare=False)
    name = re.sub(r"\s*\.\s*", ".", token)
    return _Word(name, depth, bare=name[0].isalpha() or name[0] == "_")


def _uncertain(text: str, *, broken: bool) -> Iterator[str]:
    bare = re.sub(r"'(?:[^'\\]|'')*'", "''", text)
    if broken:
        yield "A quote or a comment in it does not end, so it cannot be read for certain."
    if re.search(r"\\['\"`]", text):
        yield "It has a backslash before a quote, which databases read in different ways."
    if "#" in bare:
        yield "It has a #, which some databases take for a comment."
    if "/*!" in text or "/*+" in text:
        yield "It has a comment that some databases carry out."
    if any(one == other == "/*" for one, other in pairwise(_COMMENTS.findall(text))):
        yield "It has a comment inside a comment, which databases read in different ways."


def _said(words: Sequence[_Word]) -> str:
    """Say what one statement does."""
    first = words[0].upper
    if first in ("EXPLAIN", "WITH"):
        return _inside(words, first)
    inner = _changes_inside(words[1:])
    said = _plainly(words, first)
    return f"{said}, and inside it {inner}" if inner and first == "SELECT" else said


def _plainly(words: Sequence[_Word], first: str) -> str:
    match first:
        case "SELECT" | "TABLE" | "VALUES":
            return _select(words)
        case "DELETE":
            return " ".join(("DELETE FROM", _after(words, "FROM") + _where(words)))
        case "UPDATE":
            return f"UPDATE {_name(words[1:])}{_where(words)}"
        case "INSERT" | "REPLACE" | "MERGE":
            return f"{first} INTO {_after(words, 'INTO')}"
        case "DROP" | "TRUNCATE" | "ALTER" | "CREATE":
            return _thing(words, first)
        case _:
            return _other(words, first)


def _other(words: Sequence[_Word], first: str) -> str:
    if first in ("GRANT", "REVOKE"):
        return _granted(words, first)
    if first in _RUNS_CODE:
        return f"{first} {_name(words[1:])}: what that does cannot be read here"
    if first == "COPY":
        out = " to a PROGRAM" if any(word.upper == "PROGRAM" for word in words) else ""
        return f"COPY {_name(words[1:])}{out}"
    if first in ("SET", "PRAGMA", "RESET"):
        return f"{first} {_name(words[1:])}"
    if first in _HARMLESS:
        return first
    return f"a statement that begins with {words[0].text[:40]}: it cannot be read here"


def _inside(words: Sequence[_Word], first: str) -> str:
    """Say what a statement does that begins with something else: `WITH`, `EXPLAIN`."""
    inner = _changes_inside(words[1:])
    if inner:
        return f"{first} …: {inner}"
    return f"{first} …: {_select(words)}"


def _changes_inside(words: Sequence[_Word]) -> str:
    """Say what else a statement changes, wherever in it that stands."""
    places = [
        place
        for place, word in enumerate(words)
        if word.upper in ("DELETE", "INSERT")
        or (word.upper == "UPDATE" and (not place or words[place - 1].upper not in _NO_UPDATE))
    ]
    said = [_plainly(_level(words[place:]), words[place].upper) for place in places[:_MOST_TABLES]]
    if len(places) > _MOST_TABLES:
        said.append(f"{len(places) - _MOST_TABLES:,} more")
    return "; ".join(said)


def _level(words: Sequence[_Word]) -> list[_Word]:
    """Return the words of a statement that stands in another, up to the bracket that ends it."""
    depth = words[0].depth
    inside = takewhile(lambda word: word.depth >= depth, words)
    return [_Word(word.text, word.depth - depth, word.bare) for word in inside]


def _select(words: Sequence[_Word]) -> str:
    tables = [
        words[place + 1].text
        for place, word in enumerate(words[:-1])
        if word.upper in ("FROM", "JOIN")
        and words[place + 1].upper not in _NO_TABLE
        and words[place + 1].depth == word.depth
        and words[place + 1].text[0] not in "(;"
    ]
    known = list(dict.fromkeys(tables))
    more = f" and {len(known) - _MOST_TABLES} more" if len(known) > _MOST_TABLES else ""
    into = f" INTO {_after(words, 'INTO')}" if any(word.upper == "INTO" for word in words) else ""
    return (
        f"SELECT{into} FROM {', '.join(known[:_MOST_TABLES])}{more}" if known else f"SELECT{into}"
    )


def _thing(words: Sequence[_Word], first: str) -> str:
    """Say what is made, changed or dropped."""
    rest = [word for word in words[1:] if word.upper not in _SKIPPED]
    listed = first in ("DROP", "TRUNCATE")
    if rest and rest[0].upper in _THINGS:
        said = f"{first} {rest[0].upper} {(_names if listed else _name)(rest[1:])}"
    else:
        said = f"{first} {(_names if listed else _name)(rest)}"
    if first == "ALTER" and any(word.upper == "DROP" for word in words):
        said += ", and DROP something in it"
    cascades = ", with everything that depends on it (CASCADE)"
    return f"{said}{cascades if words[-1].upper == 'CASCADE' else ''}"


def _granted(words: Sequence[_Word], first: str) -> str:
    to = "TO" if first == "GRANT" else "FROM"
    what = f" on {_after(words, 'ON')}" if any(word.upper == "ON" for word in words) else ""
    return f"{first} {_name(words[1:])}{what} {to.lower()} {_after(words, to)}"


def _where(words: Sequence[_Word]) -> str:
    """Say whether a change is limited to some rows."""
    at = next(
        (n for n, word in enumerate(words) if word.upper == "WHERE" and word.depth == 0), None
    )
    if at is None:
        return ": EVERY ROW, there is no WHERE"
    rest = "".join(word.text for word in words[at + 1 :]).lower()
    if re.fullmatch(r"true|(\d+)=\1|('[^']*')=\2|\d+", rest):
        return ": EVERY ROW, its WHERE is always true"
    return " with a WHERE"


def _after(words: Sequence[_Word], keyword: str) -> str:
    for place, word in enumerate(words):
        if word.upper == keyword:
            return _name(words[place + 1 :])
    return _name(words[1:])


def _name(words: Sequence[_Word]) -> str:
    rest = (word for word in words if word.upper not in _SKIPPED)
    name = next(rest, None)
    return "something that cannot be read" if name is None else name.text[:200]


def _names(words: Sequence[_Word]) -> str:
    """Return the names of a list: `a, b`."""
    rest = [word for word in words if word.upper not in {*_SKIPPED, "TABLE"}]
    names = [_name(rest)]
    for comma, word in zip(rest[1::2], rest[2::2], strict=False):
        if comma.text != ",":
            break
        names.append(word.text[:200])
    more = f" and {len(names) - _MOST_TABLES} more" if len(names) > _MOST_TABLES else ""
    return ", ".join(names[:_MOST_TABLES]) + more
