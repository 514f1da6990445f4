"""Conditions in words: nothing is lost, nothing is added, and what has no words has none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.policy.conditions import Condition, Conditions
from sayso.policy.facts import Facts
from sayso.policy.parts import UnknownPart, parts_of
from sayso.policy.plain import in_words
from tests.hostile import ALL

NOW = datetime(2026, 3, 4, 17, 30, tzinfo=UTC)  # a Wednesday


def words(text: str) -> str | None:
    return in_words(Condition.parse(text))


SAID = [
    ("args.amount <= 20", "amount is at most 20"),
    ("args.amount < 20.5", "amount is less than 20.5"),
    ("args.amount > 1000", "amount is more than 1000"),
    ("100 < args.amount", "amount is more than 100"),
    ("args.amount >= -1", "amount is at least -1"),
    ("!(args.amount > 5)", "amount is not more than 5"),
    ("!!conflict", "the agent names information that contradicts itself"),
    ("args.dry_run == true", "dry_run is true"),
    ("!args.dry_run && unseen", "dry_run is false and nothing like it was approved before"),
    ('args.currency == "EUR"', 'currency is "EUR"'),
    ('args.currency != "EUR"', 'currency is not "EUR"'),
    ("args.note == null", "note is null"),
    ("args.payer == args.payee", "payer is the same as payee"),
    ("has(args.amount)", "amount is given"),
    ('!("amount" in args)', "amount is not given"),
    ('args.customer.country in ["DE", "FR"]', 'country of customer is one of "DE", "FR"'),
    ('args["two words"] == 1', 'the argument "two words" is 1'),
    ('args.to.endsWith("@corp.example")', 'the argument "to" ends with "@corp.example"'),
    ('args.risk == "high"', 'the argument "risk" is "high"'),
    (r'args.code.matches(r"^\d+$")', r'code matches the pattern "^\d+$"'),
    ('!args.body.contains("a")', 'body does not contain "a"'),
    ('args.mail.lowerAscii() == "ceo@x"', 'mail in small letters is "ceo@x"'),
    ("int(args.amount) > 100", "amount as a whole number is more than 100"),
    ("size(args.recipients) > 50", "the length of recipients is more than 50"),
    ("tags.size() == 0", "the number of its tags is 0"),
    ('"pii" in tags', '"pii" is one of its tags'),
    ('!("pii" in tags)', '"pii" is not one of its tags'),
    ('"anna" in args.recipients', '"anna" is in recipients'),
    ('tool == "refund"', 'the tool is "refund"'),
    ('agent.startsWith("growth")', 'the agent starts with "growth"'),
    ('kind == "draft"', 'the kind of ask is "draft"'),
    ('risk in ["high", "critical"]', 'the declared risk is one of "high", "critical"'),
    ('risk in ["high"]', 'the declared risk is "high"'),
    ("!has(risk)", "no risk is declared"),
    ("has(confidence) && confidence < 0.7", "a confidence is stated and the confidence is less than 0.7"),
    ("reversible == false", "it is stated that it cannot be undone"),
    ("reversible != true", "it is not stated that it can be undone"),
    ("has(affects)", "it is stated whom it affects"),
    ('affects == "customers"', 'whom it affects is "customers"'),
    ("unreadable", "some of its arguments cannot be read by anybody"),
    ('time.getHours("Europe/Berlin") < 6', "the hour in Europe/Berlin is less than 6"),
    ("time.getDayOfWeek() == 0", "the day in UTC is Sunday"),
    ("time.getDayOfWeek() in [0, 6]", "the day in UTC is one of Sunday, Saturday"),
    ('// a "comment"\nargs.amount > 1', "amount is more than 1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), SAID)
def test_a_condition_is_said_in_words(text: str, said: str) -> None:
    assert words(text) == said


def test_brackets_say_what_belongs_together_however_deep() -> None:
    both = 'args.amount > 9 && (risk == "high" || !(conflict && unseen))'

    assert words(both) == (
        'amount is more than 9 and (the declared risk is "high" or the agent names no information '
        "that contradicts itself or something like it was approved before)"
    )
    assert words('args.amount > 9 || risk == "low" && unseen') == (
        'amount is more than 9 or (the declared risk is "low" and nothing like it was approved before)'
    )

    said = words(f"args{'.deep' * 20} == 1")

    assert said == f"{' of '.join(['deep'] * 20)} is 1"
    assert words("!(" * 20 + "conflict" + ")" * 20) == words("conflict")


UNSAID = [
    "args.items.exists(item, item.price > 100)",
    'args.to.split("@")[1] != "corp.example"',
    "conflict ? unseen : unreadable",
    "args.price * args.count > 100",
    'args.day < "2026-01-01"',  # texts have an order of their own
    "args.total > args.limit",  # and these may be texts
    "args.items[0] == 1",
    "time.getDayOfWeek() > 3",
    "args.day == time.getDayOfWeek()",
    "time.getDayOfWeek() == 9",
    "time.getMonth() == 0",
    'args.name == "a \\"b\\" c"',  # who would know where it ends
    'args.name == "a\\nb"',
    'args.name == "two  blanks"',
    'args.name.startsWith(agent)',
    "args.name in [1, args.other]",
    "args.name in []",
    "confidence == null",
    "args == {}",
    "tags == []",
    "conflict == unseen",
    'timestamp("2026-01-01T00:00:00Z") < time',
    " || ".join(f"args.amount == {number}" for number in range(40)),
]  # fmt: skip


@pytest.mark.parametrize("text", UNSAID)
def test_what_there_are_no_exact_words_for_is_not_said(text: str) -> None:
    assert words(text) is None


@pytest.mark.parametrize("text", UNSAID)
def test_what_is_not_said_in_part_is_not_said_at_all(text: str) -> None:
    assert words(f"unseen && ({text}\n)") is None
    assert words(f"!({text}\n) || args.amount > 3") is None


def test_text_that_hides_is_left_as_it_was_written() -> None:
    for hostile in ALL:
        quoted = "".join(f"\\U{ord(char):08x}" for char in hostile if char != "\0")
        said = words(f'args.name == "{quoted}" || args.amount > 1')
        assert said is None or f'"{hostile}"' in said


@given(st.binary(max_size=200))
def test_a_reading_of_another_kind_is_refused_and_never_guessed(data: bytes) -> None:
    with pytest.raises(UnknownPart):
        parts_of(data)


# --- read back ---
#
# A sentence is turned into a condition again by somebody who has nothing but the words; both then
# have to say the same to every call.

NAMES = ("amount", "flag", "note")
NUMBERS = (0, 20, 0.5)
TEXTS = ("", "high", "and (or)", "is not 1")


SUBJECTS_SEEN = (*(f"args.{name}" for name in NAMES), "args.risk", "args.inner.deep")
TEXTS_SEEN = ("args.note", "args.risk", "tool", "risk", "agent", "affects")


def literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def atoms() -> Iterator[str]:
    """Yield conditions of one comparison each."""
    for one, number in product((*SUBJECTS_SEEN, "confidence"), NUMBERS):
        yield from (f"{one} {sign} {number}" for sign in ("<", "<=", ">", ">=", "==", "!="))
        yield f"{number} < {one}"
        yield f"{number} >= {one}"
    for one, other in product(SUBJECTS_SEEN, (*TEXTS, True, False)):
        yield from (f"{one} {sign} {literal(other)}" for sign in ("==", "!="))
    for one in SUBJECTS_SEEN:
        yield from (f"{one} in [{several}]" for several in ("1", '20, "high"', '"", 0, 0.5'))
    for one, text in product(TEXTS_SEEN, ("high", "and", "h.g")):
        yield from (f'{one}.{name}("{text}")' for name in ("startsWith", "endsWith", "contains"))
        yield f'{one}.matches("{text}")'
        yield f'{one} == "{text}"'
    yield from (f"{literal(text)} in tags" for text in TEXTS)
    yield from (f"reversible {sign}" for sign in ("== true", "== false", "!= true", "!= false"))
    yield from (f"time.getDayOfWeek() {sign} {day}" for sign in ("==", "!=") for day in range(7))
    yield from ("conflict", "unseen", "unreadable", "conflict == false", "has(args.inner.deep)")
    yield from (f"has({name})" for name in ("risk", "confidence", "affects", "reversible"))
    yield from (f"has(args.{name})" for name in NAMES)


def calls() -> Iterator[Facts]:
    """Yield calls of which everything has the same value, or is not there at all."""
    for one in (*NUMBERS, *TEXTS, True, False, None):
        text = one if isinstance(one, str) else None
        yield Facts(
            tool=text,
            args=dict.fromkeys((*NAMES, "risk"), one) | {"inner": {"deep": one}},
            agent=text or "",
            risk=text,
            confidence=one if isinstance(one, float | int) else None,
            conflict=one is True,
            unseen=one is True,
            unreadable=one is True,
            reversible=one if isinstance(one, bool) else None,
            affects=text,
            tags=() if text is None else (text,),
        )
    yield Facts(args={"inner": {}})


condition = st.recursive(
    st.sampled_from(sorted(set(atoms()))),
    lambda inner: st.one_of(
        st.builds("({}) && ({})".format, inner, inner),
        st.builds("({}) || ({})".format, inner, inner),
        inner.map("!({})".format),
    ),
    max_leaves=6,
)
value = st.sampled_from([*NUMBERS, *TEXTS, True, False, None])
call = st.builds(
    Facts,
    tool=st.sampled_from(TEXTS),
    args=st.dictionaries(
        st.sampled_from([*NAMES, "risk", "inner"]),
        value | st.fixed_dictionaries({}, optional={"deep": value}),
    ),
    agent=st.sampled_from(TEXTS),
    risk=st.none() | st.sampled_from(TEXTS),
    confidence=st.none() | st.sampled_from(NUMBERS),
    conflict=st.booleans(),
    unseen=st.booleans(),
    reversible=st.sampled_from([None, True, False]),
    affects=st.none() | st.sampled_from(TEXTS),
    tags=st.lists(st.sampled_from(TEXTS)).map(tuple),
    unreadable=st.booleans(),
)


def agree(text: str, back: str, seen: Iterable[Facts]) -> bool:
    """Whether two conditions say the same to all these calls; what cannot be told, neither tells."""
    both = Conditions([Condition.parse(text), Condition.parse(back)])
    said = (both.evaluated(facts.values(NOW)) for facts in seen)
    return all(one == other or type(one) is type(other) is str for one, other in said)


WHOLE = {
    "the agent names information that contradicts itself": "conflict",
    "the agent names no information that contradicts itself": "!conflict",
    "nothing like it was approved before": "unseen",
    "something like it was approved before": "!unseen",
    "some of its arguments cannot be read by anybody": "unreadable",
    "all of its arguments can be read": "!unreadable",
    "a risk is declared": "has(risk)",
    "no risk is declared": "!has(risk)",
    "a confidence is stated": "has(confidence)",
    "no confidence is stated": "!has(confidence)",
    "it is stated whom it affects": "has(affects)",
    "it is not stated whom it affects": "!has(affects)",
    "it is stated whether it can be undone": "has(reversible)",
    "it is not stated whether it can be undone": "!has(reversible)",
    "it is stated that it can be undone": "reversible == true",
    "it is not stated that it can be undone": "reversible != true",
    "it is stated that it cannot be undone": "reversible == false",
    "it is not stated that it cannot be undone": "reversible != false",
}
SUBJECTS = {
    "the tool": "tool",
    "the agent": "agent",
    "the declared risk": "risk",
    "whom it affects": "affects",
    "the confidence": "confidence",
    "the day in UTC": "['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']"
    "[time.getDayOfWeek()]",
    'the argument "risk"': "args.risk",
    "deep of inner": "args.inner.deep",
    **{name: f"args.{name}" for name in NAMES},
}
SIGNS = (
    ("is at least", "{} >= {}"),
    ("is not at least", "!({} >= {})"),
    ("is at most", "{} <= {}"),
    ("is not at most", "!({} <= {})"),
    ("is more than", "{} > {}"),
    ("is not more than", "!({} > {})"),
    ("is less than", "{} < {}"),
    ("is not less than", "!({} < {})"),
    ("is one of", "{} in [{}]"),
    ("is not one of", "!({} in [{}])"),
    ("starts with", "{}.startsWith({})"),
    ("does not start with", "!{}.startsWith({})"),
    ("ends with", "{}.endsWith({})"),
    ("does not end with", "!{}.endsWith({})"),
    ("contains", "{}.contains({})"),
    ("does not contain", "!{}.contains({})"),
    ("matches the pattern", "{}.matches({})"),
    ("does not match the pattern", "!{}.matches({})"),
    ("is not", "{} != {}"),
    ("is", "{} == {}"),
)


def read_back(sentence: str) -> str:
    """Return a condition that says what the sentence does."""
    phrases, joints, at = [], [], 0
    for found in re.finditer(r'"[^"]*"|[()]| (?:and|or) ', sentence):
        if found[0].startswith('"'):
            continue
        phrases.append(sentence[at : found.start()])
        joints.append({" and ": " && ", " or ": " || "}.get(found[0], found[0]))
        at = found.end()
    phrases.append(sentence[at:])
    read = [f"({phrase_read(phrase)})" if phrase else "" for phrase in phrases]
    return read[0] + "".join(joint + one for joint, one in zip(joints, read[1:], strict=True))


def phrase_read(phrase: str) -> str:
    if phrase in WHOLE:
        return WHOLE[phrase]
    if found := re.fullmatch(r'("[^"]*") is (not )?one of its tags', phrase):
        return f"{'!' if found[2] else ''}({found[1]} in tags)"
    for words_of, code in SUBJECTS.items():
        if found := re.fullmatch(rf"{re.escape(words_of)} is (not )?given", phrase):
            return f"{'!' if found[1] else ''}has({code})"
        for sign, form in SIGNS:
            if phrase.startswith(f"{words_of} {sign} "):
                given_ = phrase.removeprefix(f"{words_of} {sign} ")
                return form.format(code, f'"{given_}"' if given_.endswith("day") else given_)
    raise AssertionError(f"nobody could read: {phrase}")


def test_who_has_only_the_words_of_a_comparison_comes_to_the_same() -> None:
    seen = list(calls())
    for text in (negated.format(one) for one in atoms() for negated in ("{}", "!({})")):
        said = words(text)
        assert said is not None, text
        assert agree(text, read_back(said), seen), said


@given(condition, st.lists(call, min_size=1, max_size=5))
def test_who_has_only_the_words_of_several_comes_to_the_same(text: str, seen: list[Facts]) -> None:
    said = words(text)
    if said is None:
        assert len(text) > 400  # nobody would read that
        return
    assert agree(text, read_back(said), seen), said
