"""Whatever the schema: a form sent as it was drawn changes nothing, and an edit only what it edits."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from sayso.model.digest import canonical
from sayso.web.forms.drawing import answer_field, form_of
from sayso.web.forms.fields import Field
from sayso.web.forms.reading import read_answer, read_form
from tests.web.forms.browser import Page, drawn, every
from tests.web.forms.schemas import arguments, pairs

few = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@few
@given(arguments())
def test_a_form_sent_as_it_was_drawn_changes_nothing(given: tuple[dict, dict]) -> None:
    schema, args = given
    form = form_of(schema, args)
    assert form.edits == 0
    assert not [one for one in every(form.fields) if one.changed]
    sent = Page(drawn(form)).sent()
    for control in {one.control for one in every(form.fields)}:
        event(control)

    read = read_form(schema, args, sent)

    assert canonical(read.value) == canonical(args)
    assert read.errors == {}
    again = form_of(schema, args, posted=sent)
    assert again.edits == 0
    assert Page(drawn(again)).sent() == sent


@few
@given(arguments())
def test_the_json_tab_sent_as_it_was_drawn_changes_nothing(given: tuple[dict, dict]) -> None:
    schema, args = given
    text = form_of(schema, args).json_text.replace("\n", "\r\n")
    sent = {"tab": ["json"], "json": [text]}

    assert canonical(read_form(schema, args, sent).value) == canonical(args)
    assert form_of(schema, args, posted=sent).edits == 0


@few
@given(arguments(), arguments())
def test_what_was_typed_as_json_stays_when_the_form_is_sent(
    given: tuple[dict, dict], other: tuple[dict, dict]
) -> None:
    schema, args = given
    typed = {**args, **{name: value for name, value in other[1].items() if name not in args}}
    posted = {"tab": ["json"], "json": [canonical(typed)]}
    page = Page(drawn(form_of(schema, args, posted=posted)))

    assert canonical(read_form(schema, args, page.sent()).value) == canonical(typed)


EDITS: dict[str, tuple[str, Any]] = {
    "text": ("77", "77"),
    "textarea": ("one\r\ntwo", "one\ntwo"),
    "number": ("77.5", 77.5),
    "integer": ("77", 77),
    "json": ('{"b": 1.0}', {"b": 1.0}),
    "date": ("2031-02-03", "2031-02-03"),
    "email": ("x@y.z", "x@y.z"),
}


def editable(fields: tuple[Field, ...]) -> list[Field]:
    """The fields with a text of their own that counts: not the input of a union that says null."""
    return [
        one
        for one in every(fields)
        if one.control in EDITS
        and one.present
        and not one.read_only
        and one.pointer != "#"
        and one.was is not None
        and one.was != EDITS[one.control][0]
    ]


def put(value: Any, pointer: str, new: Any) -> None:
    *way, last = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
    for step in way:
        value = value[int(step)] if isinstance(value, list) else value[step]
    value[int(last) if isinstance(value, list) else last] = new


@few
@given(arguments(), st.data())
def test_an_edit_changes_its_value_with_its_type_and_nothing_else(
    given: tuple[dict, dict], data: st.DataObject
) -> None:
    schema, args = given
    form = form_of(schema, args)
    fields = editable(form.fields)
    assume(fields)
    one = data.draw(st.sampled_from(fields))
    typed, meant = EDITS[one.control]
    sent = {**Page(drawn(form)).sent(), one.pointer: [typed]}
    expected = copy.deepcopy(args)
    put(expected, one.pointer, meant)

    assert canonical(read_form(schema, args, sent).value) == canonical(expected)
    again = form_of(schema, args, posted=sent)
    assert again.edits == 1
    assert one.pointer in {field.pointer for field in every(again.fields) if field.changed}


@few
@given(pairs)
def test_every_answer_field_can_be_drawn_and_read(given: Any) -> None:
    schema, _ = given
    sent = Page(drawn(answer_field(schema))).sent()
    read = read_answer(schema, sent)
    field = answer_field(schema, posted=sent, errors=read.errors)
    assert Page(drawn(field)).sent() == sent


@few
@given(
    arguments(),
    st.dictionaries(st.text(max_size=8), st.lists(st.text(max_size=5)), max_size=6),
    st.data(),
)
def test_nothing_that_is_sent_raises(
    given: tuple[dict, dict], stray: dict[str, list[str]], data: st.DataObject
) -> None:
    schema, args = given
    sent = Page(drawn(form_of(schema, args))).sent()
    marks = ["", "set:", "unset:", "from:", "variant:", "drawn:", "extra:", "new:", "json:"]
    for name in list(sent):
        mark = data.draw(st.sampled_from(marks))
        texts = data.draw(
            st.lists(st.sampled_from(["", "1", "-1", "²", "9" * 30, "x"]), max_size=2)
        )
        sent[mark + name.rpartition(":")[2]] = texts
    posted = {**stray, **sent}
    read = read_form(schema, args, posted)
    page = Page(drawn(form_of(schema, args, posted=posted, errors=read.errors)))
    read_form(schema, args, page.sent())
