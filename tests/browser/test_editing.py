"""Arguments edited in the browser: of the type they were, as the tool then gets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Dialog, expect

import sayso
from sayso import Ask
from tests.browser.office import Office
from tests.browser.window import Window
from tests.together import in_thread, until

ARGS: dict[str, Any] = {
    "order": 7,
    "code": "0042",
    "amount": 40.5,
    "urgent": False,
    "currency": "EUR",
    "due": "2026-02-01",
    "note": "Charged twice,\nsorry.",
    "customer": {"name": "Ada", "address": {"city": "Berlin", "zip": "10115"}},
    "tags": ["billing", "vip"],
    "items": [{"sku": "A1", "count": 1}, {"sku": "B2", "count": 2}],
    "pay": {"by": "card", "digits": "4242"},
    "limit": None,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "integer"},
        "code": {"type": "string"},
        "amount": {"type": "number", "minimum": 0, "maximum": 1000},
        "urgent": {"type": "boolean"},
        "currency": {"enum": ["EUR", "USD"]},
        "due": {"type": "string", "format": "date"},
        "note": {"type": "string", "maxLength": 2000},
        "customer": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "address": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
                    "required": ["city", "zip"],
                },
            },
            "required": ["name", "address"],
        },
        "tags": {"type": "array", "items": {"type": "string"}},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
                "required": ["sku", "count"],
            },
        },
        "pay": {
            "oneOf": [
                {
                    "type": "object",
                    "title": "Card",
                    "properties": {"by": {"const": "card"}, "digits": {"type": "string"}},
                    "required": ["by", "digits"],
                },
                {
                    "type": "object",
                    "title": "Transfer",
                    "properties": {"by": {"const": "iban"}, "iban": {"type": "string"}},
                    "required": ["by", "iban"],
                },
            ]
        },
        "limit": {"type": ["integer", "null"]},
    },
    "required": ["order", "amount"],
}


def asked(office: Office) -> Ask:
    return office.open("pay_back", ARGS, schema=SCHEMA)


def carried_out(office: Office, ask: Ask) -> dict[str, Any]:
    """Let the decision count, and return what the tool is called with."""
    decision = office.decided(ask)
    assert decision.verdict == "edit"
    return dict(office.desk.begin(ask).args)


def at(here: Window, pointer: str) -> Any:
    """The input of one value."""
    return here(f'main#detail [name="{pointer}"]:not([type=hidden])').first


Edit = Callable[[Window], None]
# What is changed in the form, by the JSON Pointer of it, and what the tool then gets.
EDITS: dict[str, tuple[Edit, dict[str, Any]]] = {
    "an integer stays an integer": (lambda w: at(w, "/order").fill("8"), {"order": 8}),
    "text of digits stays text": (lambda w: at(w, "/code").fill("0043"), {"code": "0043"}),
    "a number stays a number": (lambda w: at(w, "/amount").fill("12"), {"amount": 12}),
    "yes or no stays yes or no": (lambda w: at(w, "/urgent").check(), {"urgent": True}),
    "one of a few": (lambda w: at(w, "/currency").select_option(label="USD"), {"currency": "USD"}),
    "a date": (lambda w: at(w, "/due").fill("2026-03-04"), {"due": "2026-03-04"}),
    "several lines": (lambda w: at(w, "/note").fill("One\n\nTwo"), {"note": "One\n\nTwo"}),
    "deep inside": (
        lambda w: at(w, "/customer/address/city").fill("Paris"),
        {"customer": {"name": "Ada", "address": {"city": "Paris", "zip": "10115"}}},
    ),
    "in a list": (lambda w: at(w, "/tags/1").fill("press"), {"tags": ["billing", "press"]}),
    "in a list of objects": (
        lambda w: at(w, "/items/1/count").fill("5"),
        {"items": [{"sku": "A1", "count": 1}, {"sku": "B2", "count": 5}]},
    ),
    "in a union": (
        lambda w: at(w, "/pay/digits").fill("1881"),
        {"pay": {"by": "card", "digits": "1881"}},
    ),
}


def test_every_edit_keeps_its_type_and_reaches_the_tool(solo: Office) -> None:
    ask = asked(solo)
    here = solo.window().visit(solo.path(ask)).armed()

    changed: dict[str, Any] = {}
    for edit, result in EDITS.values():
        edit(here)
        changed |= result
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()

    got = carried_out(solo, ask)
    assert got == ARGS | changed
    assert type(got["order"]) is int
    assert got["amount"] == 12
    assert got["limit"] is None


def test_a_text_that_nobody_touched_is_approved_as_it_is_whatever_is_in_it(solo: Office) -> None:
    text = "\nfirst\rsecond\r\nthird\0\u2028fourth\x0b\x0c\x85\ufdd0 \t\r"
    asks = [
        solo.put("draft", text),
        solo.put("plan", [text, {"title": text, "detail": text}]),
        solo.put("choose", "Which?", [text, "no"]),
        solo.open("note", {"text": text, "more": {text[1:]: [text]}}),
    ]
    here = solo.window()
    for ask in asks:
        here.visit(solo.path(ask)).armed()
        chosen = here("main#detail button[name=option]").first
        (chosen if ask.kind == "choice" else here.verdict("approve")).click()
        expect(here("#held form.undo")).to_be_visible()

        decision = solo.decided(ask)
        assert (decision.verdict, solo.now(ask).version) == ("approve", ask.version), ask.kind
        if ask.kind == "choice":
            assert decision.answer["option"] == text
        else:
            assert decision.args == ask.args, ask.kind


def test_the_button_counts_the_edits_and_each_can_be_reverted(solo: Office) -> None:
    ask = asked(solo)
    here = solo.window().visit(solo.path(ask))
    label = here("[data-approve-label]").first
    expect(label).to_have_text("Approve")

    at(here, "/order").fill("8")
    expect(label).to_have_text("Approve with 1 edit")
    at(here, "/amount").fill("12")
    expect(label).to_have_text("Approve with 2 edits")
    expect(here(f"#edits-{ask.id}")).to_contain_text("40.5")
    expect(here('.field[data-pointer="/amount"] .was')).to_contain_text("40.5")

    at(here, "/urgent").check()
    at(here, "/currency").select_option("USD")
    expect(label).to_have_text("Approve with 4 edits")

    for pointer in ("/amount", "/urgent", "/currency"):
        here(f'.field[data-pointer="{pointer}"] button.revert').click()
        expect(at(here, pointer)).to_be_focused()

    expect(label).to_have_text("Approve with 1 edit")
    expect(at(here, "/amount")).to_have_value("40.5")
    expect(at(here, "/urgent")).not_to_be_checked()
    expect(at(here, "/currency")).to_have_value("EUR")
    at(here, "/order").fill("7")
    expect(label).to_have_text("Approve")
    expect(here(f"#edits-{ask.id}")).to_be_hidden()


def test_a_value_that_does_not_fit_is_said_on_its_field_and_nothing_typed_is_lost(
    solo: Office,
) -> None:
    ask = asked(solo)
    here = solo.window().visit(solo.path(ask)).armed()

    at(here, "/amount").fill("1001")
    at(here, "/code").fill("changed")
    here.note(ask.id).fill("kept")
    # The browser itself would not send it; a script or a stranger might.
    here("main#detail form[id^=decide]").evaluate("(form) => { form.noValidate = true; }")
    here.verdict("approve").click()

    wrong = here('.field[data-pointer="/amount"] .error')
    expect(wrong).to_be_visible()
    expect(at(here, "/amount")).to_have_value("1001")
    expect(at(here, "/code")).to_have_value("changed")
    expect(here.note(ask.id)).to_have_value("kept")
    described = at(here, "/amount").get_attribute("aria-describedby") or ""
    assert wrong.get_attribute("id") in described.split()
    assert at(here, "/amount").get_attribute("aria-invalid") == "true"
    expect(at(here, "/amount")).to_be_focused()
    assert solo.now(ask).status == "open"


# --- lists, unions, what is left out -----------------------------------------------------------


def do(here: Window, value: str) -> None:
    """Press the button that edits the form."""
    here(f'main#detail button[name=do][value="{value}"]').first.click()


def test_entries_of_lists_are_added_dropped_and_moved(solo: Office) -> None:
    ask = asked(solo)
    here = solo.window().visit(solo.path(ask)).armed()

    at(here, "/order").fill("9")
    do(here, "add:/tags")
    expect(at(here, "/tags/2")).to_be_focused()
    at(here, "/tags/2").fill("third")
    do(here, "drop:/tags/0")
    expect(here('[value="drop:/tags/0"]')).to_be_focused()
    expect(at(here, "/tags/1")).to_have_value("third")
    do(here, "up:/items/1")
    expect(at(here, "/items/0/sku")).to_have_value("B2")
    do(here, "add:/items")
    at(here, "/items/2/sku").fill("C3")
    at(here, "/items/2/count").fill("3")
    here.armed().verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()

    got = carried_out(solo, ask)
    assert got["tags"] == ["vip", "third"]
    assert got["items"] == [
        {"sku": "B2", "count": 2},
        {"sku": "A1", "count": 1},
        {"sku": "C3", "count": 3},
    ]
    assert got["order"] == 9


def test_a_union_is_switched_to_its_other_variant(solo: Office) -> None:
    ask = asked(solo)
    here = solo.window().visit(solo.path(ask)).armed()

    field = here('main#detail .field[data-pointer="/pay"]')
    field.locator("select").first.select_option(label="Transfer")
    at(here, "/pay/iban").fill("DE00 1234")
    here.armed().verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()

    assert carried_out(solo, ask)["pay"] == {"by": "iban", "iban": "DE00 1234"}


def test_everything_can_be_edited_as_json(solo: Office) -> None:
    ask = asked(solo)
    here = solo.window().visit(solo.path(ask)).armed()
    wanted = ARGS | {"order": 12, "limit": 3, "customer": ARGS["customer"] | {"name": "Bo"}}

    json_tab(here)
    here("main#detail textarea[name=json]").fill(json.dumps(wanted))
    here.armed().verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()

    assert carried_out(solo, ask) == wanted


def json_tab(here: Window) -> None:
    """Turn to the tab with the JSON text."""
    here.pick("main#detail [name=tab][value=json]")
    expect(here("main#detail textarea[name=json]")).to_be_visible()


# --- a verdict for each row --------------------------------------------------------------------


def test_each_row_of_a_list_gets_a_verdict_of_its_own(solo: Office) -> None:
    payments = [{"to": name, "amount": 10 * n} for n, name in enumerate(("ada", "bo", "cy"), 1)]
    schema = {
        "type": "object",
        "properties": {
            "payments": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
                },
            }
        },
    }
    ask = solo.open("pay_all", {"payments": payments}, schema=schema)
    here = solo.window().visit(solo.path(ask)).armed()

    here.pick('main#detail [name="row:/payments/1"][value=keep]')
    here.armed().verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()

    assert carried_out(solo, ask) == {"payments": [payments[0], payments[2]]}


# --- what nobody may see -----------------------------------------------------------------------


def test_a_hidden_value_is_said_to_be_hidden_is_nowhere_in_the_page_and_reaches_the_tool(
    solo: Office,
) -> None:
    secret = "hunter2-9d1c"
    got: list[tuple[str, int]] = []

    @solo.desk.gate(agent=solo.agent, secret=["key"])
    def connect(key: str, port: int) -> str:
        got.append((key, port))
        return "connected"

    calling = in_thread(lambda: connect(secret, 80))
    [ask] = until(lambda: [one for one in solo.desk.inbox() if one.content.agent == solo.agent])
    here = solo.window().visit(solo.path(ask)).armed()

    assert secret not in here.page.content()
    expect(here('main#detail .field[data-pointer="/key"]')).to_contain_text("hidden")
    at(here, "/port").fill("443")
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()
    solo.later()

    assert calling.result(20) == "connected"
    assert got == [(secret, 443)]


# --- not losing it -----------------------------------------------------------------------------


def test_the_browser_asks_before_what_was_typed_is_lost(solo: Office) -> None:
    ask = solo.open()
    here = solo.window(own=True).visit(solo.path(ask)).armed()
    asked: list[str] = []

    def stays(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    here.page.on("dialog", stays)
    here('main#detail [name="/amount"]').first.fill("31")

    here("#queue .chip").nth(1).click(no_wait_after=True)

    expect(here('main#detail [name="/amount"]').first).to_have_value("31")
    assert asked == ["beforeunload"]
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()
    here("#queue .chip").nth(1).click()
    here.page.wait_for_url("**view=team**")
    assert asked == ["beforeunload"], "what was sent is not lost"


def test_back_leaves_what_was_typed_only_on_the_second_try(solo: Office) -> None:
    first, second = solo.several(2)
    here = solo.window().visit(solo.path(first)).armed()
    here(f'#queue .row[data-ask="{second.id}"] .row-link').click()
    here.shows(second.id).armed()
    here('main#detail [name="/amount"]').first.fill("31")

    here.page.evaluate("history.back()")

    expect(here("#toast")).to_contain_text("was not sent")
    expect(here('main#detail [name="/amount"]').first).to_have_value("31")
    assert second.id in here.page.url


def test_a_preview_says_that_it_was_worked_out_before_the_edit(solo: Office) -> None:
    @sayso.tool(risk="high", preview=lambda subject: {"as Ada reads it": subject})
    def send(subject: str) -> str:
        return subject

    @solo.desk.workflow
    def mail(run: sayso.Running) -> str:
        return run.call(send, subject="Hello")

    ask = solo.desk.run(mail, wait=False).asks[0]
    here = solo.window().visit(solo.path(ask))
    words = here("[data-worked-out]")
    expect(words).to_have_text("Worked out by the tool for these values")

    here("main#detail .field :is(input, textarea)").first.fill("Goodbye")
    expect(words).to_have_text("Worked out before the edit")
    here("main#detail .field :is(input, textarea)").first.fill("Hello")
    expect(words).to_have_text("Worked out by the tool for these values")
