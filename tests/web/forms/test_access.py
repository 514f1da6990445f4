"""The HTML of a form: every control has a name for those who do not see it, and nothing is inline."""

from __future__ import annotations

from sayso.web.forms.drawing import form_of
from sayso.web.forms.reading import read_form
from tests.web.forms.browser import Page, drawn
from tests.web.forms.test_controls import ARGS, ORDER

SENT = {"/to": ["Grace"], "/items/0/amount": ["many"], "/due": ["2026-02-31"]}


def page() -> Page:
    sent = Page(drawn(form_of(ORDER, ARGS))).sent() | SENT
    errors = read_form(ORDER, ARGS, sent).errors
    return Page(drawn(form_of(ORDER, ARGS, posted=sent, errors=errors)))


def test_every_control_has_a_label_and_every_reference_leads_somewhere() -> None:
    elements = page().elements
    ids = [e.attrs["id"] for e in elements if "id" in e.attrs]
    assert len(set(ids)) == len(ids)
    labels = [e.attrs["for"] for e in elements if "for" in e.attrs]
    assert set(labels) <= set(ids)
    for element in elements:
        if element.tag in {"input", "select", "textarea"} and element.attrs.get("type") != "hidden":
            assert element.attrs.get("id") in labels or element.attrs.get("aria-label")
        assert set(element.attrs.get("aria-describedby", "").split()) <= set(ids)
        if element.tag == "fieldset":
            assert element.inside[0].tag == "legend"
        if element.tag == "button":
            assert element.text.strip()


def test_what_is_wrong_is_tied_to_its_input() -> None:
    made = page()
    amount = made.named("/items/0/amount")
    assert amount.attrs["aria-invalid"] == "true"
    error = next(e for e in made.elements if e.attrs.get("id") == f"err-{amount.attrs['id']}")
    assert error.attrs["class"] == "error"
    assert 'not the text "many"' in error.text
    assert error.attrs["id"] in amount.attrs["aria-describedby"].split()
    assert "aria-invalid" not in made.named("/to").attrs


def test_what_changed_is_marked_with_what_it_was() -> None:
    field = next(e for e in page().elements if e.attrs.get("data-pointer") == "/to")
    assert "changed" in field.attrs["class"].split()
    assert field.attrs["data-was"] == "Ada"
    assert next(e for e in field.inside if e.attrs.get("class") == "was").text == "was Ada"
    assert (
        next(e for e in field.inside if e.attrs.get("class") == "revert").attrs["value"]
        == "revert:/to"
    )


def test_nothing_is_inline_and_nothing_is_filled_in_by_the_browser() -> None:
    for element in page().elements:
        assert not [name for name in element.attrs if name.startswith("on") or name == "style"]
        if element.tag in {"input", "textarea"} and element.attrs.get("type") not in {
            "hidden",
            "checkbox",
        }:
            assert element.attrs["autocomplete"] == "off"
