"""What a call says, drawn by us from its frozen arguments: money as money, people as people.

The agent's own words are no facts. What cannot be read is said to be so. Every argument has its
fact, in the order of the function's parameters; only the parts of a mail are put together.
"""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Literal

from sayso.channels.mails import mail_of, people_in, read_people
from sayso.channels.sql import looks_like_sql, read_sql
from sayso.channels.urls import url_of
from sayso.channels.values import clipped, ordered
from sayso.channels.worddiff import reads_otherwise
from sayso.model.ask import Ask
from sayso.model.lookalikes import disguised, unmasked
from sayso.model.unreadable import Blob, blob_in, undecodable

__all__ = ["BRIEF", "FULL", "Bounds", "Fact", "FactKind", "facts_from", "facts_of", "undecodable"]

FactKind = Literal[
    "text",  # words; may have several lines
    "number",
    "flag",  # yes or no
    "money",  # `text` is the amount with its currency
    "people",  # addresses and names: `items`; `rows` has each as name, domain and what follows
    "path",
    "sql",  # `items` are what it does, in our words
    "mail",  # `rows` are its parts: To, Subject, Body
    "url",  # `items` is scheme, host and the rest
    "diff",  # `text` is a unified diff
    "when",
    "list",  # `items`
    "table",  # `columns` and `rows`; what amounts come to in `totals`, equal rows in `same`
    "hidden",  # there is a value, and nobody sees it
    "opaque",  # bytes in a text: cannot be read by a person
    "json",  # nested values that no other kind fits
    "empty",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that a call says. Texts are as they came; whoever draws them makes them visible."""

    name: str
    kind: FactKind
    value: Any = None
    text: str = ""
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    columns: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()  # by column, all rows counted; "" where nothing is added up
    same: frozenset[int] = frozenset()  # the places of rows that another row equals
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a call is read: so many arguments, and characters in one and in all of them."""

    arguments: int
    each: int
    all: int


FULL = Bounds(arguments=300, each=200_000, all=200_000)
BRIEF = Bounds(
    arguments=40, each=4_000, all=20_000
)  # for a line in a list, of which there are many

MOST_ITEMS = 100
_WRITER = json.JSONEncoder(ensure_ascii=False)
_START = 1_200  # characters of an argument that is too long to be read
_MOST_COLUMNS = 12
_MOST_CELL = 400
_MOST_JSON = 100_000
_LONGEST_NUMBER = 60
_DISGUISES = 3
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_PRICES = frozenset(
    {
        *("amount", "price", "cost", "fee", "payment", "refund", "salary", "balance"),
        *("charge", "payout", "deposit", "tip", "wage"),
    }
)
_SUMS = frozenset(
    {
        *("total", "subtotal", "sum", "budget", "limit", "value", "credit", "debit"),
        *("discount", "tax", "max", "min"),
    }
)
_CODES = frozenset(
    {
        *("eur", "usd", "gbp", "chf", "jpy", "cny", "sek", "nok", "dkk", "pln", "czk"),
        *("huf", "cad", "aud", "nzd", "inr", "brl", "mxn", "btc", "eth"),
    }
)
_CURRENCIES = ("currency", "currency_code", "currencyCode", "ccy")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_ONE_DECIMAL = re.compile(r"\.\d\s*$")
_THOUSAND = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")
_PATHS = frozenset(
    {
        *("path", "file", "filename", "filepath", "directory", "dir", "folder"),
        *("destination", "dest", "source", "src", "target"),
    }
)
_PATH = re.compile(r"(/|~|\.{1,2}[/\\]|[A-Za-z]:\\|\\\\)[^\n]*|[^\s:]+[/\\][^\n]*")
_SURE_PATH = re.compile(r"(/|~/|\.{1,2}/|[A-Za-z]:\\|\\\\)\S*")
_QUERIES = frozenset({"sql", "query", "statement", "statements", "queries"})
_WHEN = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?)?", re.IGNORECASE
)
_HUNK = re.compile(r"^@@ .*@@", re.MULTILINE)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class _Argument:
    """One argument: its name, its value, what the schema says of it, and those beside it."""

    name: str
    value: Any
    schema: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        return [word.lower() for word in _WORD.findall(self.name)]

    def called(self, names: frozenset[str]) -> bool:
        words = self.words
        return bool(words) and (words[-1] in names or words[-1].removesuffix("s") in names)

    @property
    def format(self) -> str:
        """What the schema calls it: its `format`, or a hint of our own (`x-sayso`)."""
        said = self.schema.get("x-sayso") or self.schema.get("format")
        return said if isinstance(said, str) else ""


def facts_of(ask: Ask, within: Bounds = FULL) -> tuple[Fact, ...]:
    """Return what the call of an ask says, edits included, in the function's order.

    What is beyond the bounds is said to be so: an argument in its note, many in a last fact.
    """
    return _facts(ordered(ask), ask.proposal.schema, ask.content.hidden, within)


def facts_from(pairs: Iterable[tuple[str, Any]] | Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return what named values say: a preview, facts that were given, a result."""
    items = pairs.items() if isinstance(pairs, Mapping) else pairs
    return _facts([(str(name), value) for name, value in items], {}, (), FULL)


def _facts(
    pairs: list[tuple[str, Any]],
    schema: Mapping[str, Any],
    hidden: tuple[str, ...],
    within: Bounds,
) -> tuple[Fact, ...]:
    known = pairs[: within.arguments]
    open_ones = {name: value for name, value in known if name not in hidden}
    read = _within(open_ones, within)
    mail = mail_of(open_ones, read)
    found = []
    for name, value in known:
        if name in hidden:
            found.append(_hidden(name))
        elif mail is not None and name in mail.parts:
            if name == mail.parts[0]:
                parts = {part: open_ones[part] for part in mail.parts}
                fact = Fact(name="mail", kind="mail", value=parts, rows=mail.rows, note=mail.note)
                found.append(_noted(fact, within))
        elif name in read:
            argument = _Argument(name, value, _property(schema, name), open_ones)
            found.append(_noted(_fact(argument), within))
        else:
            found.append(_unread(name, value))
    return tuple(found) if len(pairs) == len(known) else (*found, _more(len(pairs) - len(known)))


def _within(args: Mapping[str, Any], within: Bounds) -> frozenset[str]:
    """Return the arguments that are short enough to be read, one after the other."""
    found, left = [], within.all
    for name, value in args.items():
        size = len(name) + _size(value, min(left, within.each))
        if size <= min(left, within.each):
            found.append(name)
            left -= size
    return frozenset(found)


def _size(value: object, most: int) -> int:
    """Return about how many characters a value has, and stop as soon as there are too many."""
    size, waiting = 0, [value]
    while waiting and size <= most:
        node = waiting.pop()
        if isinstance(node, str):
            size += len(node)
        elif isinstance(node, dict):
            size += 4 * len(node) + sum(map(len, node))
            waiting.extend(node.values())
        elif isinstance(node, list):
            size += 4 * len(node)
            waiting.extend(node)
        elif isinstance(node, int) and not isinstance(node, bool):
            size += node.bit_length() // 3
    return size


def _unread(name: str, value: object) -> Fact:
    """Return the start of an argument that is too long to be read."""
    kind: FactKind = "text" if isinstance(value, str) else "json"
    text = value if isinstance(value, str) else _start_of(value)
    cut = f". Only its first {_START:,} characters are shown" if len(text) > _START else ""
    note = f"It was not read: it is too long, or the call says too much{cut}."
    return Fact(name=name, kind=kind, value=value, text=text[:_START], note=note)


def _start_of(value: object) -> str:
    return "".join(islice(_WRITER.iterencode(value), _START + 1))


def _more(count: int) -> Fact:
    note = "The call is made with them all the same. The JSON has all of them."
    return Fact(name="", kind="empty", text=f"{count:,} arguments more are not shown", note=note)


def _property(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return what a schema says of one argument, behind one reference or one optional form."""
    properties = schema.get("properties")
    own = properties.get(name) if isinstance(properties, dict) else None
    if not isinstance(own, dict):
        return {}
    said: MutableMapping[str, Any] = own
    for option in own.get("anyOf", ()) if isinstance(own.get("anyOf"), list) else ():
        if isinstance(option, dict) and option.get("type") != "null":
            said = ChainMap(said, option)
            break
    target = _referred(schema, said)
    if target is not None:
        said = ChainMap(said, target)
    items = said.get("items")
    if isinstance(items, dict):
        said = ChainMap({"items": _referred(schema, items) or items}, said)
    return said


def _referred(schema: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a part of a schema refers to, if it does."""
    reference, known = said.get("$ref"), schema.get("$defs")
    if not isinstance(reference, str) or not isinstance(known, dict):
        return None
    target = known.get(reference.removeprefix("#/$defs/"))
    return target if isinstance(target, dict) else None


def _hidden(name: str) -> Fact:
    note = "The program that asks puts a value in. The desk does not have it, and nobody sees it."
    return Fact(name=name, kind="hidden", text="hidden", note=note)


def _noted(fact: Fact, within: Bounds) -> Fact:
    """Return a fact that says which of its words are not spelt as they look."""
    if fact.kind in ("opaque", "hidden", "flag", "number", "empty"):
        return fact
    cells = (cell for row in fact.rows for cell in row)
    pieces = (piece[: within.each] for piece in (fact.name, fact.text, *fact.items, *cells))
    read = "\n".join(pieces)[: within.all]
    words = [word for word in dict.fromkeys(disguised(read)) if word not in (fact.note or "")]
    if not words:
        return fact
    said = [f"{clipped(word, 40)} is not spelt as it looks ({unmasked(word)})" for word in words]
    more = [f"and {len(words) - _DISGUISES} more"] if len(words) > _DISGUISES else []
    return replace(fact, note=_together(fact.note, *said[:_DISGUISES], *more))


def _together(*notes: str | None) -> str | None:
    said = [note.rstrip(".") for note in notes if note]
    return ". ".join(said) + "." if said else None


def _fact(argument: _Argument) -> Fact:
    if argument.value in (None, "", [], {}):
        return _empty(argument)
    match argument.value:
        case bool():
            return _made(argument, "flag", "yes" if argument.value else "no")
        case int() | float():
            return _money(argument) or _made(argument, "number", json.dumps(argument.value))
        case str():
            return _text(argument)
        case list():
            return _list(argument)
        case _:
            return _object(argument)


def _made(argument: _Argument, kind: FactKind, text: str, note: str | None = None) -> Fact:
    return Fact(name=argument.name, kind=kind, value=argument.value, text=text, note=note)


def _empty(argument: _Argument) -> Fact:
    words = {"str": "an empty text", "list": "an empty list", "dict": "nothing in it"}
    return _made(argument, "empty", words.get(type(argument.value).__name__, "nothing (null)"))


# --- texts -------------------------------------------------------------------------------------


def _text(argument: _Argument) -> Fact:
    for read in (_blob, _money, _url, _when, _people, _diff, _sql, _path):
        fact = read(argument)
        if fact is not None:
            return fact
    text = argument.value
    note = "A text, not a number." if _NUMBER.fullmatch(text.strip()[:400]) else None
    if note is None and reads_otherwise(text):
        note = _literally(text)
    blob = blob_in(text)
    if blob is not None:
        note = _together(note, f"{blob.size:,} bytes in it cannot be read", *_seeming(blob))
    return _made(argument, "text", text, note)


def _literally(text: str) -> str:
    """Say exactly what a text is that reads otherwise; of most, only their end does."""
    body = text.rstrip("\n")
    if body and not reads_otherwise(body):
        breaks = len(text) - len(body)
        return f"It ends with {'a line break' if breaks == 1 else f'{breaks:,} line breaks'}."
    return f"A text, exactly {len(text):,} characters: {clipped(_quoted(text), 60)}."


def _blob(argument: _Argument) -> Fact | None:
    blob = blob_in(argument.value)
    if blob is None or not blob.whole:
        return None
    note = _together(f"Written as {blob.written}", *_seeming(blob))
    return _made(argument, "opaque", f"{blob.size:,} bytes that cannot be read", note)


def _seeming(blob: Blob) -> list[str]:
    seems = [f"It seems to be {blob.seems}"] if blob.seems else []
    return seems + (
        [f"Decoded it begins: {clipped(_quoted(blob.reads), 120)}"] if blob.reads else []
    )


def _quoted(text: str) -> str:
    """Write words that are not ours so that they cannot pass for the sentence around them."""
    return json.dumps(text[:400], ensure_ascii=False)


def _money(argument: _Argument) -> Fact | None:
    """Return an amount with the currency that is given with it; none is ever guessed."""
    value, words = argument.value, argument.words
    minor = bool(words) and words[-1] in ("cents", "minor")
    core = [word for word in words if word not in _CODES and word not in ("cents", "minor", "in")]
    named = bool(core) and core[-1] in _PRICES
    currency = _currency(argument)
    if not (named or argument.format in ("money", "currency")) and not (
        currency and core and core[-1] in _SUMS
    ):
        return None
    number = value if isinstance(value, str) else json.dumps(value)
    if len(number) > _LONGEST_NUMBER or _NUMBER.fullmatch(number.strip()) is None:
        return None
    typed = "Given as a text, not as a number" if isinstance(value, str) else None
    unit = " cents" if minor else ""
    if currency is None:
        note = _together("No currency given", typed)
        return _made(argument, "money", f"{_grouped(number)}{unit}", note)
    # `1240.5` is how JSON writes it; a zero more is the same amount as people write it.
    text = (
        f"{_grouped(number)}{'0' * bool(_ONE_DECIMAL.search(number) and not unit)}{unit} {currency}"
    )
    return _made(argument, "money", text, _together(typed))


def _currency(argument: _Argument) -> str | None:
    """Return the currency that stands beside an amount: in an argument, the schema or the name."""
    own = [word.upper() for word in argument.words if word in _CODES]
    base = argument.name.removesuffix("_cents")
    names = (f"{base}_currency", f"{base}Currency", *(_CURRENCIES if not own else ()))
    given = [argument.schema.get("x-currency"), *own, *map(argument.beside.get, names)]
    return next((one.strip() for one in given if isinstance(one, str) and _short(one)), None)


def _short(text: str) -> bool:
    return 0 < len(text.strip()) <= 12


def _grouped(number: str) -> str:
    """Group the thousands, and keep every decimal as it came."""
    whole, point, rest = number.strip().partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return f"{sign}{_THOUSAND.sub(',', digits)}{point}{rest}"


def _url(argument: _Argument) -> Fact | None:
    url = url_of(argument.value)
    if url is None:
        return None
    items = (url.scheme, url.host, url.rest)
    return replace(
        _made(argument, "url", argument.value, " ".join(url.warnings) or None), items=items
    )


def _when(argument: _Argument) -> Fact | None:
    text = argument.value
    if len(text) > 40 or _WHEN.fullmatch(text.strip()) is None:
        return None
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        return _made(argument, "when", text, "There is no such day or time.")
    zone = "No time zone given" if len(text.strip()) > 10 and at.tzinfo is None else None
    return _made(argument, "when", text, _together(f"A {_DAYS[date.weekday(at)]}", zone))


def _people(argument: _Argument) -> Fact | None:
    found = people_in(argument.value)
    return None if not found else _of_people(argument, found)


def _of_people(argument: _Argument, found: tuple[str, ...]) -> Fact:
    people = read_people(found)
    note = _together(people.note, _cut(len(found), "people"))
    fact = _made(argument, "people", ", ".join(found[:MOST_ITEMS]), note)
    return replace(fact, items=found[:MOST_ITEMS], rows=people.apart[:MOST_ITEMS])


def _diff(argument: _Argument) -> Fact | None:
    text = argument.value
    if _HUNK.search(text) is None or ("\n+" not in text and "\n-" not in text):
        return None
    lines = text.split("\n")
    files = sum(line.startswith("+++ ") for line in lines)
    added = sum(line.startswith("+") for line in lines) - files
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    where = f" in {files:,} files" if files > 1 else ""
    return _made(argument, "diff", text, f"Lines added: {added:,}, removed: {removed:,}{where}.")


def _sql(argument: _Argument) -> Fact | None:
    text = argument.value
    if argument.format != "sql" and not (argument.called(_QUERIES) and looks_like_sql(text)):
        return None
    reading = read_sql(text)
    note = " ".join(reading.warnings) or None
    return replace(_made(argument, "sql", argument.value, note), items=reading.does)


def _path(argument: _Argument) -> Fact | None:
    text = argument.value
    if len(text) > 4096 or "\n" in text:
        return None
    said = argument.format in ("path", "file-path", "directory-path")
    if not (said or _SURE_PATH.fullmatch(text)) and not (
        argument.called(_PATHS) and (_PATH.fullmatch(text) or re.fullmatch(r"[\w.-]+", text))
    ):
        return None
    return _made(argument, "path", text, _together(*_of_path(text)))


def _of_path(text: str) -> list[str]:
    parts = re.split(r"[/\\]", text)
    said = []
    if text.startswith("~"):
        said.append("In a home folder (~)")
    elif text.startswith(("\\\\", "//")):
        said.append("On another machine")
    elif text.startswith("/") or re.match(r"[A-Za-z]:", text):
        said.append("Absolute: from the root of the machine")
    if ".." in parts:
        said.append("It goes up (..), out of the folder it begins in")
    if set("*?") & set(text):
        said.append("It stands for several files (* or ?)")
    if "$" in text or "%" in text:
        said.append("Part of it may be filled in by the system ($ or %)")
    if text != text.strip():
        said.append("It begins or ends with a blank")
    return said


# --- lists and objects -------------------------------------------------------------------------


def _list(argument: _Argument) -> Fact:
    values = argument.value
    if all(isinstance(item, dict) for item in values):
        return _table(argument) or _nested(argument)
    if any(isinstance(item, list | dict) for item in values):
        return _nested(argument)
    if all(isinstance(item, str) and len(people_in(item)) == 1 for item in values):
        return _of_people(argument, tuple(values))
    items = tuple(_cell(item) for item in values[:MOST_ITEMS])
    note = _together(_cut(len(values), "entries"), *_opaque_in(values))
    return replace(_made(argument, "list", f"{len(values):,} entries", note), items=items)


def _table(argument: _Argument) -> Fact | None:
    values = argument.value
    columns = _columns(argument, values[:MOST_ITEMS])
    cells = (cell for item in values[:MOST_ITEMS] for cell in item.values())
    flat = not any(isinstance(cell, list | dict) and cell for cell in cells)
    if not flat or not 0 < len(columns) <= _MOST_COLUMNS:
        return None
    rows = tuple(
        tuple(_in_row(argument, item, name) if name in item else "" for name in columns)
        for item in values[:MOST_ITEMS]
    )
    equal = _equal(values)
    note = _together(_cut(len(values), "rows"), _said_of(equal), *_opaque_in(values))
    totals = tuple(_total(argument, name) for name in columns)
    summed = [f"{name} in all: {said}" for name, said in zip(columns, totals, strict=True) if said]
    text = "; ".join((f"{len(values):,} {'row' if len(values) == 1 else 'rows'}", *summed))
    return replace(
        _made(argument, "table", text, note),
        columns=columns,
        rows=rows,
        totals=totals if summed else (),
        same=frozenset(place for places in equal for place in places),
    )


def _equal(rows: list[Any]) -> list[list[int]]:
    """Return the places of rows that are equal, those of each kind together."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(json.dumps(row, sort_keys=True), []).append(place)
    return [found for found in places.values() if len(found) > 1]


def _said_of(equal: list[list[int]]) -> str | None:
    """Say which rows are equal: paid twice, they are easily overlooked."""
    if not equal:
        return None
    groups = [", ".join(f"{place + 1:,}" for place in found[:_DISGUISES]) for found in equal]
    more = len(equal) > _DISGUISES or any(len(found) > _DISGUISES for found in equal)
    named = "; ".join(groups[:_DISGUISES]) + (" and more" if more else "")
    return f"{sum(map(len, equal)):,} equal rows: {named}"


def _total(argument: _Argument, column: str) -> str:
    """Add up the amounts of a column, those of each currency by themselves; "" if it is no money."""
    sums: dict[str, Decimal] = {}
    for item in argument.value:
        if item.get(column) is None:
            continue
        amount = _amount(argument, item, column)
        if amount is None:
            return ""
        number, _, unit = amount.text.replace(",", "").partition(" ")
        sums[unit] = sums.get(unit, Decimal(0)) + Decimal(number)
    return " + ".join(f"{_grouped(f'{total:f}')} {unit}".strip() for unit, total in sums.items())


def _amount(argument: _Argument, item: Mapping[str, Any], name: str) -> Fact | None:
    """Return a cell as money, with the currency of its row."""
    shape = argument.schema.get("items")
    schema = _property(shape, name) if isinstance(shape, dict) else {}
    value = item[name]
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return _money(_Argument(name, value, schema, item))


def _columns(argument: _Argument, items: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of the columns, as declared: what must be there, in its order, then the rest."""
    found = dict.fromkeys(name for item in items for name in item)
    shape = argument.schema.get("items")
    declared = shape.get("required") if isinstance(shape, dict) else None
    first = [name for name in declared if name in found] if isinstance(declared, list) else []
    return tuple(dict.fromkeys([*first, *found]))


def _object(argument: _Argument) -> Fact:
    value = argument.value
    amount, currency = value.get("amount", value.get("value")), value.get("currency")
    if set(value) <= {"amount", "value", "currency"} and isinstance(currency, str):
        inner = _money(_Argument("amount", amount, {}, value))
        if inner is not None and not isinstance(amount, bool):
            return replace(inner, name=argument.name, value=value)
    return _nested(argument)


def _nested(argument: _Argument) -> Fact:
    text = json.dumps(argument.value, ensure_ascii=False, indent=2)
    cut = None
    if len(text) > _MOST_JSON:
        cut = f"The first {_MOST_JSON:,} of {len(text):,} characters are shown"
    note = _together(cut, *_opaque_in(argument.value))
    return _made(argument, "json", text[:_MOST_JSON], note)


def _cut(count: int, what: str) -> str | None:
    return f"The first {MOST_ITEMS} of {count:,} {what} are shown" if count > MOST_ITEMS else None


def _opaque_in(value: object) -> list[str]:
    places = undecodable(value)
    if not places:
        return []
    more = f" and {len(places) - _DISGUISES:,} more" if len(places) > _DISGUISES else ""
    return [f"What stands at {', '.join(places[:_DISGUISES])}{more} cannot be read"]


def _in_row(argument: _Argument, item: Mapping[str, Any], name: str) -> str:
    """Write a cell of a table: an amount whose currency stands in its row is money there, too."""
    value = item[name]
    if not isinstance(value, int | float) or isinstance(value, bool):
        return _cell(value)
    money = _amount(argument, item, name)
    return _cell(value) if money is None or money.note is not None else money.text


def _cell(value: object) -> str:
    """Write a value so that its type is seen: a text that reads as something else has quotes."""
    if isinstance(value, str) and not reads_otherwise(value):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _MOST_CELL:
        return text
    return f"{text[:_MOST_CELL]}… ({len(text):,} characters)"
