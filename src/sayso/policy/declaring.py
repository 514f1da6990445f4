"""Tools that a policy declares: `[tools.refund]` with its arguments, and what is not declared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sayso.errors import BadPolicy, BadValue
from sayso.policy.places import normal, places
from sayso.policy.tables import Table, document

if TYPE_CHECKING:  # most policies declare no arguments
    from sayso.model.declaration import Declaration

TOOL = ("tier", "args", "schema", "reversible", "affects", "secret", "matters", "bucket")
DEFAULTS = ("unknown_tools", "unknown_arguments")
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_STARS = ("*", "?")
_MOST_AFFECTS = 200
_ONE_LINE = re.compile(r"""\"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")


@dataclass(frozen=True, slots=True)
class Unknown:
    """What is done with a call of a tool that nothing declares, or with such an argument."""

    tools: Literal["ask", "deny"] = "ask"
    arguments: Literal["ask", "deny"] = "ask"


def read_defaults(table: Table) -> Unknown:
    """Read `[defaults]`.

    Raises:
        BadPolicy: it makes no sense; says where, and what to do.
    """
    table.only(*DEFAULTS)
    said = {key: table.get(key, "ask") for key in DEFAULTS}
    for key, word in said.items():
        if word not in ("ask", "deny"):
            table.fail(key, f"{key} is ask or deny: nothing unknown runs alone.")
    return Unknown(said["unknown_tools"], said["unknown_arguments"])


def read_declared(table: Table) -> dict[str, Declaration]:
    """Read what `[tools]` declares, by the name of each tool. A pattern has a tier and no more.

    Raises:
        BadPolicy: it makes no sense; says where, and what to do.
    """
    found: dict[str, Declaration] = {}
    for written in table:
        whole = isinstance(table.get(written), dict)
        if any(star in written for star in _STARS):
            if whole:
                _check_pattern(table.table(written))
            continue
        name = table.plain(written, "tool", written, at_key=True)
        if name in found:
            table.fail(written, f"The tool {name} is declared twice.", at_key=True)
        found[name] = _declared(table.table(written) if whole else None, name)
    return found


def _check_pattern(table: Table) -> None:
    table.only(*TOOL)
    if "tier" not in table:
        table.fail(None, 'A pattern of tools says tier = "high", for example.')
    more = next((key for key in table if key != "tier"), None)
    if more is not None:
        table.fail(more, f"{more} goes with the name of one tool, without * and ?.", at_key=True)


def _declared(table: Table | None, name: str) -> Declaration:
    from sayso.model.declaration import POLICY, Declaration

    if table is None:  # `refund = "high"` says its tier, and nothing of its arguments
        return Declaration(name=name, sources=(POLICY,))
    table.only(*TOOL)
    if not list(table):
        table.fail(None, f"The tool {name} says nothing: give its tier, or its args.")
    if "args" in table and "schema" in table:
        table.fail("schema", "args and schema both say which arguments there are. Give one.")
    secret = table.texts("secret", '["card"]')
    schema = _schema(table, secret)
    return Declaration(
        name=name,
        sources=(POLICY,),
        shapes=() if schema is None else (schema,),
        reversible=table.flag("reversible") if "reversible" in table else None,
        affects=_affects(table),
        secret=_known(table, "secret", secret, schema),
        sorts=_bucket(table, secret, schema),
        matters=_known(table, "matters", table.texts("matters", '["amount"]'), schema) or None,
    )


def _affects(table: Table) -> str | None:
    if "affects" not in table:
        return None
    said = table.sentence("affects")
    if not said or len(said) > _MOST_AFFECTS:
        table.fail("affects", 'affects says whom it touches, such as "customers".')
    return said


def _known(table: Table, key: str, names: tuple[str, ...], schema: str | None) -> tuple[str, ...]:
    """Return names of arguments, each of which is declared."""
    known = {} if schema is None else json.loads(schema).get("properties", {})
    for name in names:
        if name not in known:
            shown = ", ".join(known) or "none"
            table.fail(key, f"{key} names {name!r}, which is no declared argument: {shown}.")
    return names


def _bucket(table: Table, secret: tuple[str, ...], schema: str | None) -> str | None:
    """Return the argument whose value sorts the calls; `None` if they are not sorted."""
    if "bucket" not in table:
        return None
    name = table.get("bucket")
    if not isinstance(name, str):
        table.fail("bucket", 'bucket names one argument, such as "currency".')
    if schema is None:
        table.fail("bucket", f"bucket names {name!r}, and no args are declared. Declare them.")
    if name in secret:
        table.fail("bucket", f"bucket names {name!r}, which is secret: nobody sees its value.")
    _known(table, "bucket", (name,), schema)
    return name


def _schema(table: Table, secret: tuple[str, ...]) -> str | None:
    """Return the schema of its arguments as canonical text; `None` if it declares none."""
    from sayso.model.declaration import concealed, schema_of_args
    from sayso.model.digest import canonical
    from sayso.model.schema import check_schema

    key = "args" if "args" in table else "schema"
    if key not in table:
        return None
    try:
        given = _of_args(table) if key == "args" else _of_text(table)
        schema = schema_of_args(given) if key == "args" else given
        check_schema(schema)
        return canonical(concealed(schema, secret) if secret else schema)
    except BadValue as error:
        table.fail(key, str(error))


def _of_args(table: Table) -> Mapping[str, Any]:
    given = table.get("args")
    if not isinstance(given, dict):
        table.fail("args", 'args lists arguments by name: args = { order = "integer" }.')
    for name, said in given.items():
        if isinstance(said, str) and said not in _TYPES:
            table.fail("args", f"{name} is of a type that is none: {', '.join(_TYPES)}.")
    return given


def _of_text(table: Table) -> dict[str, Any]:
    text = table.get("schema")
    if not isinstance(text, str) or not text.strip():
        table.fail("schema", 'schema names a file beside the policy: schema = "refund.json".')
    if not text.lstrip().startswith("{"):
        table.fail("schema", f"The file {text!r} was not read with the policy: name it as a file.")
    try:
        schema = json.loads(text)
    except ValueError as error:
        table.fail("schema", f"The schema is no JSON: {error}.")
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        table.fail("schema", "The schema has no properties: it must name the arguments.")
    return schema


# --- files beside the policy -------------------------------------------------------------------


def whole(text: str, beside: Callable[[str], str], source: str = "") -> str:
    """Return the text of a policy with the schemas that it names as files written out in it.

    So it says all by itself, and its digest covers them. Lines keep their numbers.

    Args:
        text: As it was written.
        beside: Returns the text of a file by its name, or raises `OSError` or `ValueError`.
        source: Where it was written, for errors.

    Raises:
        BadPolicy: one of the files cannot be read, or is no JSON.
    """
    given = document(text, source).get("tools")
    if not isinstance(given, dict):
        return text
    plain = normal(text)
    where = places(plain)
    found = []
    for tool, said in given.items():
        name = said.get("schema") if isinstance(said, dict) else None
        if not isinstance(name, str) or name.lstrip().startswith("{"):
            continue
        start = where.values[("tools", tool, "schema")]
        token = _ONE_LINE.match(plain, start)
        line, column = where.of(("tools", tool, "schema")) or (1, 1)
        try:
            schema = json.dumps(json.loads(beside(name)), ensure_ascii=False)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BadPolicy(
                f"The schema {name!r} cannot be read: {reason}.",
                line=line,
                column=column,
                file=source,
            ) from error
        if token is not None:
            # A literal text has no quotes of its kind in it; JSON writes them otherwise.
            found.append((start, token.end(), "'" + schema.replace("'", "\\u0027") + "'"))
    for start, end, literal in sorted(found, reverse=True):
        plain = plain[:start] + literal + plain[end:]
    return plain
