"""What a desk knows of a tool: its arguments, its risk, what must not be seen.

Code declares a tool, or the policy does, and nobody who asks for a call. Where several declare one
tool, the stricter counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

from sayso.errors import BadValue
from sayso.model.content import Content
from sayso.model.digest import canonical, path_text, read
from sayso.model.faults import violations
from sayso.model.pattern import fits
from sayso.model.ruled import CRITICAL, RANKS, UNSTATED
from sayso.model.schema import inferred
from sayso.model.tool import HIDDEN, Tool

POLICY = "policy"  # the source of what the policy declares
COMPUTED = "computed"  # a risk that only the code of the tool can tell
_DEEPEST = 24
_NAMED = 5  # arguments that a sentence names

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A tool as code or the policy declares it, or as all of them together do.

    Attributes:
        name: Of the tool.
        sources: Who declares it: `policy`, or a file of code with the name of a function.
        shapes: JSON Schemas of its arguments, as canonical text; one from each source that says.
        risk: A word, or `computed` where only the code can tell; `None` if nothing is said.
        reversible: Whether it can be undone; `None` if nothing is said.
        affects: Whom it touches besides the one who asks.
        secret: Arguments that are never shown or stored.
        bucket: Whether its code sorts its calls into kinds.
        matters: Arguments whose change says something of a call.
        asks: Whether people are asked for each call of it, whatever its risk.
    """

    name: str
    sources: tuple[str, ...]
    shapes: tuple[str, ...] = ()
    risk: str | None = None
    reversible: bool | None = None
    affects: str | None = None
    secret: tuple[str, ...] = ()
    bucket: bool = False
    matters: tuple[str, ...] | None = None
    asks: bool = False

    @classmethod
    def of(cls, tool: Tool, *, asks: bool = False) -> Declaration:
        """Return what a function declares; `asks` says that its gate asks for each call."""
        return cls(
            name=tool.name,
            sources=(tool.source,),
            shapes=(tool.shape,),
            risk=COMPUTED if callable(tool.risk) else tool.risk,
            reversible=tool.reversible,
            affects=tool.affects,
            secret=tool.secret,
            bucket=tool.bucket is not None,
            matters=tool.matters,
            asks=asks,
        )

    @property
    def source(self) -> str:
        """Who declares it, in one line."""
        return " and ".join(self.sources)

    @property
    def spoken(self) -> str:
        """The same for a sentence that agents read too: of each file its folder and its name."""
        shown = {POLICY: "the policy"}
        return " and ".join(
            shown.get(source) or "/".join(source.split("/")[-2:]) for source in self.sources
        )

    @property
    def digest(self) -> str:
        """What tells this declaration from another one of the same source."""
        return _digest(canonical(self.to_json()))

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments that each of its sources knows, first those that are needed."""
        known = [read(shape) for shape in self.shapes]
        if not known:
            return ()
        listed = dict.fromkeys([*known[0].get("required", ()), *known[0].get("properties", {})])
        return tuple(
            name for name in listed if all(name in one.get("properties", {}) for one in known)
        )

    @property
    def worst(self) -> str | None:
        """The gravest risk that a call may have: one that only code can tell may be the worst."""
        return CRITICAL if self.risk == COMPUTED else self.risk

    def covers(self, content: Content) -> bool:
        """Whether a call is put as its tool is declared: then nothing has to be looked at again."""
        shapes, posted = (content.proposal.shape,), content.posted
        if self.shapes != shapes and (self.shapes or posted):
            return False
        if content.reversible is not False and (
            self.reversible is False or (posted and content.reversible is not self.reversible)
        ):
            return False
        if (posted and self.secret != content.hidden) or (
            self.affects is not None and self.affects != content.affects
        ):
            return False
        if self.risk == content.risk or (self.risk == COMPUTED and content.posted is None):
            return True
        return self.risk is None or grave(content.risk) <= grave(self.risk)

    def to_json(self) -> dict[str, Any]:
        """Return the form kept in the journal; what is not said is left out."""
        said: dict[str, Any] = {
            "name": self.name,
            "schemas": [read(shape) for shape in self.shapes],
            "risk": self.risk,
            "reversible": self.reversible,
            "affects": self.affects,
            "secret": list(self.secret),
            "bucket": self.bucket or None,
            "matters": None if self.matters is None else list(self.matters),
            "asks": self.asks or None,
        }
        return {name: value for name, value in said.items() if value not in (None, [])}

    @classmethod
    def from_json(cls, said: Mapping[str, Any], source: str) -> Declaration:
        """Read the form kept in the journal."""
        matters = said.get("matters")
        return cls(
            name=said["name"],
            sources=(source,),
            shapes=tuple(canonical(schema) for schema in said.get("schemas", ())),
            risk=said.get("risk"),
            reversible=said.get("reversible"),
            affects=said.get("affects"),
            secret=tuple(said.get("secret", ())),
            bucket=said.get("bucket", False),
            matters=None if matters is None else tuple(matters),
            asks=said.get("asks", False),
        )


@lru_cache(maxsize=1024)
def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


# --- several of one tool -----------------------------------------------------------------------


def joined(declarations: Iterable[Declaration]) -> Declaration | None:
    """Return what all of them together say of one tool, the stricter of each; `None` of none."""
    several = list(declarations)
    if len(several) < 2:
        return several[0] if several else None
    said = [one.matters for one in several if one.matters is not None]
    return Declaration(
        name=several[0].name,
        sources=_union(one.sources for one in several),
        shapes=_union(one.shapes for one in several),
        risk=_gravest([one.risk for one in several]),
        reversible=_least([one.reversible for one in several]),
        affects=" and ".join(_union((one.affects,) for one in several if one.affects)) or None,
        secret=_union(one.secret for one in several),
        bucket=any(one.bucket for one in several),
        matters=_union(said) if said else None,
        asks=any(one.asks for one in several),
    )


def _union(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for each in lists for one in each))


def _gravest(risks: Sequence[str | None]) -> str | None:
    """Return the gravest risk. One that only code can tell may be the worst."""
    said = [risk for risk in risks if risk is not None]
    if COMPUTED in said and set(said) != {COMPUTED}:
        return CRITICAL
    return min(said, key=grave, default=None)


def grave(risk: str | None) -> int:
    """Return where a risk stands, the gravest first. One that only code can tell is the gravest."""
    return RANKS[CRITICAL] if risk == COMPUTED else RANKS.get(risk, UNSTATED)


def _least(said: Sequence[bool | None]) -> bool | None:
    if False in said:
        return False
    return None if None in said else True


def differing(declarations: Sequence[Declaration]) -> list[str]:
    """Return of what several declarations of one tool say different things, in words."""
    coded = [one for one in declarations if one.shapes]
    found = ["its arguments"] if len({one.shapes for one in coded}) > 1 else []
    parts = (("risk", "its risk"), ("reversible", "whether it can be undone"),
             ("affects", "whom it affects"), ("secret", "what is secret"),
             ("asks", "whether people are always asked"))  # fmt: skip
    own = [one for one in declarations if one.sources != (POLICY,)]
    found += [words for name, words in parts if len({getattr(one, name) for one in own}) > 1]
    return found


def changes(before: Declaration, after: Declaration) -> list[str]:
    """Say what a declaration changed of the one before it, in words."""
    old, new = _shown(before), _shown(after)
    found = [f"argument {name} added" for name in new if name not in old]
    found += [f"argument {name} removed" for name in old if name not in new]
    found += [f"argument {name} changed" for name in new if name in old and new[name] != old[name]]
    for name, words in (("risk", "risk"), ("reversible", "can be undone"), ("affects", "affects")):
        one, other = getattr(before, name), getattr(after, name)
        if one != other:
            found.append(f"{words}: {_word(one)} → {_word(other)}")
    found += [f"{name} is secret" for name in after.secret if name not in before.secret]
    found += [f"{name} is no longer secret" for name in before.secret if name not in after.secret]
    if before.asks != after.asks:
        found.append("people are always asked" if after.asks else "people are not always asked")
    if before.bucket != after.bucket:
        found.append("its calls are sorted" if after.bucket else "its calls are not sorted")
    if before.matters != after.matters:
        found.append(f"what matters: {', '.join(after.matters or ()) or 'nothing said'}")
    return found or ["its schema"]


def _shown(declared: Declaration) -> dict[str, str]:
    shapes = (read(shape) for shape in declared.shapes)
    required = [(shape.get("properties", {}), shape.get("required", ())) for shape in shapes]
    return {
        name: canonical([schema, name in needed])
        for properties, needed in required
        for name, schema in properties.items()
    }


def _word(value: object) -> str:
    return {None: "not said", True: "yes", False: "no"}.get(value, str(value))  # type: ignore[call-overload,no-any-return]


# --- one call against it -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fit:
    """How the arguments of a call fit a declaration: those it does not know, and what is wrong."""

    strays: tuple[str, ...] = ()
    wrong: Mapping[str, str] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """What is wrong, in one line."""
        return "; ".join(f"{where}: {what}" for where, what in list(self.wrong.items())[:_NAMED])


def fit(declared: Declaration, args: Mapping[str, Any]) -> Fit:
    """Hold the arguments of a call against every schema that is declared.

    A name that one of them does not know is a stray; the others must fit.
    """
    if not declared.shapes:
        return Fit(tuple(args), {})
    strays: dict[str, None] = {}
    wrong: dict[str, str] = {}
    for shape in declared.shapes:
        schema = read(shape)
        unknown = list(_strays([schema], args, schema, ()))
        strays |= dict.fromkeys(path_text(path) for path in unknown)
        top = {path[0] for path in unknown if len(path) == 1}
        try:
            wrong |= violations(shape, {n: v for n, v in args.items() if n not in top})
        except BadValue as error:
            wrong |= {error.path or "args": str(error)}
    return Fit(tuple(strays), wrong)


def widened(shape: str, args: Mapping[str, Any]) -> str:
    """Return a schema that also takes the arguments which it does not know, as people let them in."""
    schema = read(shape)
    unknown = {name: value for name, value in args.items() if name not in schema["properties"]}
    if not unknown:
        return shape
    more = read(inferred(canonical(unknown)))["properties"]
    return canonical({**schema, "properties": {**schema["properties"], **more}})


def _strays(schemas: list[Any], value: object, root: Any, path: Path) -> Iterator[Path]:  # noqa: ANN401
    """Yield the way to each field of a value that none of these schemas knows."""
    if len(path) > _DEEPEST or not isinstance(value, dict | list):
        return
    forms = list(_forms(schemas, root))
    if isinstance(value, list):
        items = [form[key] for form in forms for key in ("items", "contains") if key in form]
        items += [each for form in forms for each in form.get("prefixItems", ())]
        for number, item in enumerate(value):
            yield from _strays(items, item, root, (*path, number))
        return
    patterns = [one for form in forms for one in form.get("patternProperties", {}).items()]
    named = bool(patterns) or any(form.get("properties") for form in forms)
    rest = [form["additionalProperties"] for form in forms if "additionalProperties" in form]
    for name, inner in value.items():
        found = [form["properties"][name] for form in forms if name in form.get("properties", {})]
        found += [schema for pattern, schema in patterns if fits(pattern, name)]
        if found:
            yield from _strays(found, inner, root, (*path, name))
        elif named or not path:
            yield (*path, name)
        else:
            yield from _strays(rest, inner, root, (*path, name))


def _forms(schemas: Sequence[Any], root: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Yield every form that a value may have, behind references and choices, each once."""
    waiting, seen = list(schemas), set[int]()
    while waiting:
        schema = waiting.pop(0)
        if not isinstance(schema, dict) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        waiting += [one for key in ("allOf", "anyOf", "oneOf") for one in schema.get(key, ())]
        target = _referred(schema.get("$ref"), root)
        if target is not None:
            waiting.append(target)


def _referred(reference: object, root: Any) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    node = root
    for part in reference.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict) or name not in node:
            return None
        node = node[name]
    return node


# --- the schema of arguments that somebody lists -------------------------------------------------


def schema_of_args(args: Mapping[str, Any], secret: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of arguments that are listed by name, each with its type or its schema.

    Each of them is required, unless it says `optional = true`.

    Raises:
        BadValue: one of them is neither; `path` names it.
    """
    properties: dict[str, Any] = {}
    required = []
    for name, said in args.items():
        given = {"type": said} if isinstance(said, str) else said
        if not isinstance(given, Mapping):
            raise BadValue(f'{name} is a type such as "integer", or a schema.', path=name)
        optional = given.get("optional", False)
        if not isinstance(optional, bool):
            raise BadValue(f"optional of {name} is true or false.", path=name)
        properties[name] = {key: value for key, value in given.items() if key != "optional"}
        if not optional:
            required.append(name)
    for name in secret:
        properties[name] = {"const": HIDDEN}
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def concealed(schema: Mapping[str, Any], secret: Sequence[str]) -> dict[str, Any]:
    """Return a schema in which the values of these arguments are not there."""
    hidden = {name: {"const": HIDDEN} for name in secret}
    return {**schema, "properties": {**schema.get("properties", {}), **hidden}}


def sketched(name: str, calls: Sequence[Mapping[str, Any]]) -> str:
    """Return a declaration for the policy as TOML, of a tool by the arguments of its calls."""
    seen: dict[str, set[str]] = {}
    for args in calls:
        for arg, value in args.items():
            seen.setdefault(arg, set()).add(_kind(value))
    listed = ", ".join(
        f"{_key(arg)} = {_sketch(kinds, optional=not all(arg in args for args in calls))}"
        for arg, kinds in seen.items()
    )
    return f"[tools.{_key(name)}]\nargs = {{ {listed} }}\n" if listed else ""


def _key(name: str) -> str:
    """Write a name as a key of TOML."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else json.dumps(name)


def _kind(value: object) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return "null" if value is None else kinds.get(type(value), "object")


def _sketch(kinds: set[str], *, optional: bool) -> str:
    kinds = kinds - {"integer"} if "number" in kinds else kinds
    one = json.dumps(min(kinds) if len(kinds) == 1 else sorted(kinds))
    more = ", optional = true" if optional else ""
    return f"{{ type = {one}{more} }}" if more or len(kinds) > 1 else one
