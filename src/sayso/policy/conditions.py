"""Conditions in CEL: checked when they are loaded, evaluated on the facts of a call.

A condition that cannot be evaluated (an argument it names is missing, a value has
another type) is neither true nor false. Whoever asks treats it as a reason to ask.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

from sayso.errors import BadPolicy
from sayso.model.text import character_name, one_line
from sayso.policy.complaints import MAY_BE_UNSTATED, bad_condition, kind_word, untold
from sayso.policy.facts import Unreadable

if TYPE_CHECKING:
    from sayso.policy.parts import Part

# `has(risk)` becomes a variable of the same length, so that columns stay what they were. What
# stands in quotes or in a comment is left alone.
_HAS = re.compile(
    r"""//[^\n]*|[rR](?:'''.*?'''|\"{3}.*?\"{3}|'[^'\n]*'|"[^"\n]*")"""
    r"""|'''(?:[^\\]|\\.)*?'''|\"{3}(?:[^\\]|\\.)*?\"{3}|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""
    rf"""|(?<![\w.])has\([ \t]*({"|".join(MAY_BE_UNSTATED)})[ \t]*\)""",
    re.DOTALL,
)
_QUOTED = r"""[rR]?'(?:[^'\\\n]|\\.)*'|[rR]?"(?:[^"\\\n]|\\.)*\""""
_WRITTEN = re.compile(rf"\.(matches|get[A-Z]\w+)\(\s*({_QUOTED})\s*\)")
_PLACE = re.compile(r"<input>:(\d+):(\d+): ([^\n]*)")
_NAMED = ("tool", "agent")  # variables that hold a name
_LOOKS_AT_HIDDEN = "it looks at an argument that is hidden"
_LOGIC = frozenset({"_&&_", "_||_", "!_", "_?_:_"})
_ESCAPED = re.compile(r"\\.")  # as in a pattern: `\S` is no capital letter
_AT_ONCE = 60  # conditions in one evaluation: as many as a number has bits to spare


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as it was written, known to make sense."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Check a condition.

        Raises:
            BadPolicy: it does not compile, is neither true nor false, or the same whatever the
                call; `line` and `column` say where in the condition.
        """
        if not isinstance(text, str) or not text.strip():
            _refuse("A condition is a text such as: args.amount > 100")
        kind = _compiled(text).return_type().name().lower()
        shown = _shown(text)
        if kind == "dyn":
            _refuse(
                f"The condition may be something else than yes or no. Compare it: {shown} == true"
            )
        if kind != "bool":
            _refuse(f"The condition is no yes or no but {kind_word(kind)}: {shown}")
        _check_written(text)
        _check_names(text)
        fixed = _fixed(text)
        if isinstance(fixed, str):
            _refuse(f"The condition can never be told: {fixed}. In: {shown}")
        if fixed is False:
            _refuse(f"The condition is never true, so the rule would never match: {shown}")
        return cls(text)

    @property
    def compiled(self) -> bytes:
        """How the library has read it, as a `cel.expr.CheckedExpr`."""
        return bytes(_compiled(self.text).serialize())


def _shown(text: str) -> str:
    return one_line(" ".join(text.split()), 100)


def _refuse(reason: str, line: int = 1, column: int = 1) -> NoReturn:
    raise BadPolicy(reason, line=line, column=column) from None


Verdict = bool | str  # true, false, or why it could not be told


class Conditions:
    """Several conditions, evaluated at once: into one number with a bit for each."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        texts = [condition.text for condition in conditions]
        parts = [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]
        self._parts = [(_all_at_once(tuple(part)), part) for part in parts]

    def evaluated(self, values: Mapping[str, Any], hidden: Collection[str] = ()) -> list[Verdict]:
        """Return what each says of these values; a text where it could not be told.

        The values of `hidden` arguments are not among them, which is not to say that there are none.
        """
        if not self._parts:
            return []
        if hidden:
            return list(self._partly(values, frozenset(hidden)))
        activation = _env().Activation(values)
        said: list[Verdict] = []
        for program, texts in self._parts:
            bits = None if program is None else _value(program, activation)
            if type(bits) is int:
                said += [bool(bits >> number & 1) for number in range(len(texts))]
            else:  # one of them could not be told: find out which
                said += [_verdict(_value(_compiled(text), activation)) for text in texts]
        return said

    def _partly(self, values: Mapping[str, Any], hidden: frozenset[str]) -> Iterator[Verdict]:
        seen = _env().Activation(values)
        unseen = _env().Activation({**values, "args": Unreadable()})
        missed = {untold(f'Key not found in map : "{name}"') for name in hidden}
        for text in chain.from_iterable(texts for _, texts in self._parts):
            if not _misses(text, hidden):
                told = _verdict(_value(_compiled(text), seen))
                yield _LOOKS_AT_HIDDEN if told in missed else told
                continue
            said = _value(_compiled(text), unseen)
            yield said if isinstance(said, bool) else _LOOKS_AT_HIDDEN


@lru_cache(maxsize=4096)
def _misses(text: str, hidden: frozenset[str]) -> bool:
    """Whether a condition takes a hidden argument for one that is not there.

    To read its value is an error already. `has(args.card)`, and what looks at all arguments at once,
    would say no instead.
    """
    from sayso.policy.parts import Call, Literal, Member, Name, UnknownPart, parts_in, parts_of

    try:
        inner = list(parts_in(parts_of(bytes(_compiled(text).serialize()))))
    except UnknownPart:  # such as a loop
        return "args" in text
    args, reads = Name("args"), 0
    for part in inner:
        match part:
            case Member(of=of, name=name, has=has) if of == args:
                reads += not (has and name in hidden)
            case Call(name="_[_]", given=(of, Literal())) if of == args:
                reads += 1
    return reads < inner.count(args)


def _value(program: Any, activation: Any) -> object:  # noqa: ANN401 - the library has no types
    """Evaluate; an error is the text of it, whether the library returns or raises it."""
    try:
        return program.eval(activation).value()
    except (RuntimeError, TypeError, ValueError) as error:  # too many steps, text that is none
        return str(error)


def _verdict(value: object) -> Verdict:
    return value if isinstance(value, bool) else untold(str(value))


@cache
def _env() -> Any:  # noqa: ANN401 - the library has no types
    from cel_expr_python import cel

    kinds = cel.Type
    return _with_strings(
        {
            **dict.fromkeys(("tool", "agent", "kind", "risk", "affects"), kinds.STRING),
            **dict.fromkeys(("confidence", "reversible"), kinds.DYN),
            **dict.fromkeys(("conflict", "unseen", "unreadable"), kinds.BOOL),
            **dict.fromkeys((f"has_{name}_" for name in MAY_BE_UNSTATED), kinds.BOOL),
            "args": kinds.Map(kinds.STRING, kinds.DYN),
            "tags": kinds.List(kinds.STRING),
            "time": kinds.TIMESTAMP,
        }
    )


@cache
def _bare() -> Any:  # noqa: ANN401 - the library has no types
    """Return the language without any variable: what compiles here is the same for every call."""
    return _with_strings({})


def _with_strings(variables: dict[str, Any]) -> Any:  # noqa: ANN401 - the library has no types
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_strings

    return cel.NewEnv(variables=variables, extensions=[ext_strings.ExtStrings()])


def _plain(text: str) -> str:
    def named(found: re.Match[str]) -> str:
        return f"has_{found[1]}_".ljust(len(found[0])) if found[1] else found[0]

    return _HAS.sub(named, text)


@lru_cache(maxsize=4096)
def _compiled(text: str) -> Any:  # noqa: ANN401 - the library has no types
    """Compile one condition.

    Raises:
        BadPolicy: it does not compile.
    """
    shown = _shown(text)
    try:
        return _env().compile(_plain(text))
    except TypeError:
        _refuse(f"The condition holds characters that are no text: {shown}")
    except RuntimeError as error:
        found = _PLACE.search(str(error))
        line, column = (int(found[1]), int(found[2])) if found else (1, 1)
        what = found[3] if found else str(error).partition("\n")[0]
        _refuse(f"{bad_condition(what, _at(text, line, column))} In: {shown}", line, column)


def _fixed(text: str) -> Verdict | None:
    """Return what a condition is for every call, `None` if that depends on the call."""
    try:
        program = _bare().compile(_plain(text))
    except RuntimeError:
        return None
    return _verdict(_value(program, _bare().Activation({})))


def _check_written(text: str) -> None:
    """Try patterns and time zones that are written out: the library looks at them too late."""
    for found in _WRITTEN.finditer(text):
        subject = "''" if found[1] == "matches" else "timestamp('2025-01-01T00:00:00Z')"
        said = _fixed(f"type({subject}.{found[1]}({found[2]})) != type")
        if isinstance(said, str):
            before = text[: found.start(2)]
            line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
            _refuse(f"{said[0].upper()}{said[1:]}: {one_line(found[2], 60)}", line, column)


@lru_cache(maxsize=1024)
def _all_at_once(texts: tuple[str, ...]) -> Any:  # noqa: ANN401 - the library has no types
    """Compile several into one; `None` if together they are too deep or too long."""
    # A line of its own for the bracket: a condition may end in a comment.
    parts = [f"(({_plain(text)}\n) ? {1 << n} : 0)" for n, text in enumerate(texts)]
    try:
        return _env().compile(" + ".join(_balanced(parts)))
    except RuntimeError:
        return None


def _balanced(parts: Sequence[str]) -> list[str]:
    """Add in pairs: a long row of additions would be too deep for the library."""
    row = list(parts)
    while len(row) > 8:
        row = [f"({' + '.join(row[n : n + 8])})" for n in range(0, len(row), 8)]
    return row


def _check_names(text: str) -> None:
    """Refuse a name that no tool or agent has: theirs are plain, and in small letters (E40)."""
    if not any(name in text for name in _NAMED):
        return
    from sayso.policy.parts import UnknownPart, parts_of  # only for conditions about names

    try:
        whole = parts_of(bytes(_compiled(text).serialize()))
    except UnknownPart:
        return
    for found in _beside_names(whole):
        char = next((char for char in found if not char.isascii()), None)
        if char is not None:
            _refuse(
                f"No tool or agent has {character_name(char)} (U+{ord(char):04X}) in its name. Write "
                f"plain letters. In: {_shown(text)}"
            )
        if _ESCAPED.sub("", found) != _ESCAPED.sub("", found).lower():
            _refuse(
                "Names of tools and agents count in small letters, so this would never match "
                f"{one_line(found, 60)!r}. Write {one_line(found.lower(), 60)!r}. In: {_shown(text)}"
            )


def _beside_names(part: Part) -> Iterator[str]:
    """Yield the texts that the name of a tool or an agent is compared with."""
    from sayso.policy.parts import Call, Literal, Name, parts_in

    if not isinstance(part, Call):
        return
    if part.name in _LOGIC:
        for one in part.given:
            yield from _beside_names(one)
        return
    inner = list(parts_in(part))
    if any(isinstance(one, Name) and one.name in _NAMED for one in inner):
        texts = (one.value for one in inner if isinstance(one, Literal))
        yield from (text for text in texts if isinstance(text, str))


def _at(text: str, line: int, column: int) -> str:
    lines = text.split("\n")
    row = lines[line - 1] if line <= len(lines) else ""
    return row[column - 1 : column]
