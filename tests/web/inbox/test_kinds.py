"""Every kind of ask, decided by a form in a browser without scripts."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from sayso import Desk, Option
from sayso.model.ask import Ask
from tests.web.inbox.browser import Tab, filled

SCHEMA = {
    "type": "object",
    "properties": {
        "order": {"type": "integer"},
        "amount": {"type": "number", "minimum": 0},
        "code": {"type": "string"},
        "urgent": {"type": "boolean"},
        "lines": {"type": "array", "items": {"type": "integer"}},
        "note": {"type": "string"},
    },
    "required": ["order", "amount", "code", "urgent"],
    "additionalProperties": False,
}
ARGS = {"order": 7, "amount": 40.5, "code": "0042", "urgent": True, "lines": [1, 2], "note": "x\ny"}
_numbers = count(1)


def call(desk: Desk, args: dict[str, Any] | None = None, **terms: Any) -> Ask:
    given = {"schema": SCHEMA, "risk": "medium", **terms}
    return desk.open("refund", args or ARGS, key=f"kinds-{next(_numbers)}", **given)


def opened(anna: Tab, ask: Ask) -> Tab:
    anna.go(f"/inbox/{ask.id}")
    assert anna.answer.status_code == 200, anna.answer.text
    return anna


def judged(desk: Desk, ask: Ask) -> Any:
    found = desk.get(ask.id).judged
    assert found is not None
    return found


def test_a_call_is_approved_as_it_is(anna: Tab, desk: Desk) -> None:
    ask = call(desk)

    opened(anna, ask).verdict("approve")

    assert anna.status == 303
    assert (judged(desk, ask).verdict, judged(desk, ask).args) == ("approve", ARGS)
    assert judged(desk, ask).by.id == "anna"


def test_e38_an_edit_changes_one_value_and_keeps_every_type(anna: Tab, desk: Desk) -> None:
    ask = call(desk)

    opened(anna, ask).verdict("approve", **{"/amount": "30"})

    assert anna.status == 303, anna.summary
    decision = judged(desk, ask)
    assert decision.verdict == "edit"
    assert json.dumps(decision.args, sort_keys=True) == json.dumps(
        {**ARGS, "amount": 30}, sort_keys=True
    )


def test_the_json_tab_says_all_of_it(anna: Tab, desk: Desk) -> None:
    ask = call(desk)
    args = {**ARGS, "code": "7", "lines": []}

    opened(anna, ask).verdict("approve", tab="json", json=json.dumps(args))

    assert judged(desk, ask).args == args


def test_what_does_not_fit_is_said_beside_its_field_and_kept(anna: Tab, desk: Desk) -> None:
    ask = call(desk)

    opened(anna, ask).verdict("approve", **{"/amount": "-3", "note": "take less"})

    assert anna.status == 422
    assert desk.get(ask.id).open
    assert "Nothing was sent" in anna.summary
    field = next(node for node in anna.page.walk() if node.attrs.get("name") == "/amount")
    assert field.attrs["value"] == "-3"
    assert field.attrs["aria-invalid"] == "true"
    link = anna.page.one("div", id=f"problems-{ask.id}").all("a")[0]
    assert link.attrs["href"] == f"#{field.attrs['id']}"
    assert anna.page.one("textarea", id=f"note-{ask.id}").raw == "take less"


def test_json_that_is_none_is_said_to_be_so(anna: Tab, desk: Desk) -> None:
    ask = call(desk)

    opened(anna, ask).verdict("approve", tab="json", json='{"order": NaN}')

    assert anna.status == 422
    assert anna.page.one("textarea", name="json").raw == '{"order": NaN}'
    assert desk.get(ask.id).open


def test_a_call_is_rejected_with_a_reason_and_a_note(anna: Tab, desk: Desk) -> None:
    ask = call(desk)

    opened(anna, ask).verdict("reject-with", kind="not-now", note="on Monday")

    decision = judged(desk, ask)
    assert (decision.verdict, decision.kind, decision.note) == ("reject", "not-now", "on Monday")


def test_what_is_ticked_in_the_menu_does_not_go_along_with_the_plain_button(
    anna: Tab, desk: Desk
) -> None:
    ask = call(desk)

    opened(anna, ask).verdict("reject", kind="harmful", end="1", note="no")

    decision = judged(desk, ask)
    assert (decision.verdict, decision.kind, decision.end) == ("reject", None, False)


@pytest.mark.parametrize(
    ("verb", "given", "verdict", "words"),
    [
        ("notice", ("Fire",), "reject", "Ignored: Fire"),
        ("feedback", ("42",), "approve", "Rated good: "),
        ("feedback", ("42",), "reject", "Rated bad: "),
        ("plan", (["Look", "Leap"],), "reject", "Cancelled: "),
        ("draft", ("Dear Ada",), "reject", "Dropped: "),
    ],
)
def test_what_was_done_is_said_in_the_words_of_the_button(
    anna: Tab, desk: Desk, verb: str, given: tuple[Any, ...], verdict: str, words: str
) -> None:
    ask = desk.put(getattr(desk.forms, verb)(*given).content)

    opened(anna, ask).verdict(verdict)

    assert words in anna.page.one("div", id="toast").text


def test_a_step_that_hides_something_is_shown_beside_its_field_and_nothing_of_it_is_cut(
    anna: Tab, desk: Desk
) -> None:
    steps = [
        {"title": "Pay \u202eada", "account": "x" * 300 + "END"},
        {"title": "Write to Ada"},
    ]
    opened(anna, desk.put(desk.forms.plan(steps).content))

    notes = anna.page.all("div", class_="step-shown")
    assert len(notes) == 1, "only of what hides something"
    assert "U+202E" in notes[0].text
    assert "END" in anna.page.one("dl", class_="step-more").text


def test_an_answer_instead_is_the_words_that_were_typed(anna: Tab, desk: Desk) -> None:
    ask = call(desk)

    opened(anna, ask).verdict("respond", note="Ask Ada first.\r\nThen me.")

    assert judged(desk, ask).answer == "Ask Ada first.\nThen me."


def test_an_answer_of_no_words_is_refused(anna: Tab, desk: Desk) -> None:
    ask = call(desk)

    opened(anna, ask).verdict("respond")

    assert anna.status == 422
    assert "empty" in anna.summary


def test_rows_are_kept_or_dropped_one_by_one(anna: Tab, desk: Desk) -> None:
    pays = [{"to": "ada", "amount": 1}, {"to": "ben", "amount": 2}, {"to": "cy", "amount": 3}]
    ask = desk.open("pay", {"pays": pays}, risk="low", key=f"rows-{next(_numbers)}")

    opened(anna, ask).verdict("approve", **{"row:/pays/1": "drop"})

    assert anna.status == 303, anna.summary
    assert judged(desk, ask).args == {"pays": [pays[0], pays[2]]}


def test_rows_that_can_be_ticked_are_shown_once_with_their_money(anna: Tab, desk: Desk) -> None:
    pays = [{"to": "ada", "amount": 1240.5, "currency": "EUR"}, {"to": "b" * 300}]
    ask = desk.open("pay", {"pays": pays}, risk="low", key=f"rows-{next(_numbers)}")

    opened(anna, ask)

    (table,) = anna.page.all("table")
    assert "1,240.50 EUR" in table.text
    assert "b" * 300 in table.text, "all of it: it stands nowhere else"
    assert "amount in all: 1,240.50 EUR" in anna.page.text


def test_a_plan_is_moved_reworded_and_approved_without_a_script(anna: Tab, desk: Desk) -> None:
    steps: list[Any] = [{"title": "Search", "detail": "widely"}, "Write", "Send"]
    ask = desk.put(desk.forms.plan(steps).content)

    opened(anna, ask)
    anna.press(anna.page.one("button", name="do", value="up:2"))
    assert (anna.status, anna.ask) == (200, ask.id)
    anna.press(anna.page.one("button", name="do", value="drop:2"), note="short is good")
    anna.press(anna.page.one("button", name="do", value="add"))
    texts = [node.raw for node in anna.page.all("textarea", name="step")]
    assert texts == ["Search", "Send", ""]
    assert anna.page.one("textarea", id=f"note-{ask.id}").raw == "short is good"
    assert desk.get(ask.id).open, "nothing was decided by that"
    anna.verdict("approve", step=["Search well", "Send", "Rest"])

    assert anna.status == 303, anna.summary
    assert judged(desk, ask).args == {
        "steps": [{"title": "Search well", "detail": "widely"}, "Send", "Rest"]
    }


def test_a_plan_is_put_back_and_is_then_approved_as_it_was(anna: Tab, desk: Desk) -> None:
    ask = desk.put(desk.forms.plan(["Search", "Write"]).content)

    opened(anna, ask)
    anna.press(anna.page.one("button", name="do", value="drop:0"))
    anna.press(anna.page.one("button", name="do", value="put-back:0"))
    anna.verdict("approve")

    assert judged(desk, ask).verdict == "approve"


def test_an_empty_plan_is_refused_and_said(anna: Tab, desk: Desk) -> None:
    ask = desk.put(desk.forms.plan(["Only this"]).content)

    opened(anna, ask).press(anna.page.one("button", name="do", value="drop:0"))
    anna.verdict("approve")

    assert anna.status == 422
    assert desk.get(ask.id).open


def test_only_what_the_ask_allows_is_offered(anna: Tab, desk: Desk) -> None:
    opened(anna, call(desk, allow=["approve", "reject"]))

    assert {one.attrs["value"] for one in anna.buttons} == {"approve", "reject"}
    fields = [one for one in anna.page.all("input") if one.attrs.get("name") == "/amount"]
    assert all("disabled" in one.attrs or "readonly" in one.attrs for one in fields)


def test_a_draft_is_edited_and_approved(anna: Tab, desk: Desk) -> None:
    ask = desk.put(desk.forms.draft("Dear all,\ntea is back.").content)

    opened(anna, ask).verdict("approve", text="Dear all,\r\ntea is back!")

    assert judged(desk, ask).args == {"text": "Dear all,\ntea is back!"}


def test_a_draft_is_sent_back_with_guidance(anna: Tab, desk: Desk) -> None:
    ask = desk.put(desk.forms.draft(lambda _: "Dear all").content)

    opened(anna, ask).verdict("respond", note="Shorter.")

    assert judged(desk, ask).answer == "Shorter."


def test_a_question_is_answered_with_its_type(anna: Tab, desk: Desk) -> None:
    ask = desk.put(desk.forms.question("How much?", int).content)

    opened(anna, ask).verdict("respond", **{"=": "17"})

    assert judged(desk, ask).answer == 17


def test_an_answer_of_the_wrong_type_is_said_beside_the_field(anna: Tab, desk: Desk) -> None:
    ask = desk.put(desk.forms.question("How much?", int).content)

    opened(anna, ask).verdict("respond", **{"=": "lots"})

    assert anna.status == 422
    field = anna.page.one("input", name="=")
    assert (field.attrs["value"], field.attrs["aria-invalid"]) == ("lots", "true")


def test_a_question_can_stay_without_an_answer(anna: Tab, desk: Desk) -> None:
    ask = desk.put(desk.forms.question("How much?", int).content)

    opened(anna, ask).verdict("reject", note="No idea.")

    assert (judged(desk, ask).verdict, judged(desk, ask).note) == ("reject", "No idea.")


def test_an_option_is_chosen_with_its_own_button(anna: Tab, desk: Desk) -> None:
    options = [Option("By train", {"price": 90}), Option("By <b>plane</b>", detail="quick")]
    ask = desk.put(desk.forms.choose("How?", options).content)

    opened(anna, ask)
    anna.press(anna.page.one("button", name="option", value="By <b>plane</b>"))

    assert anna.status == 303, anna.summary
    assert judged(desk, ask).answer["option"] == "By <b>plane</b>"


def test_none_of_the_options_and_a_value_of_ones_own(anna: Tab, desk: Desk) -> None:
    none = desk.put(desk.forms.choose("How?", ["a", "b"]).content)
    own = desk.put(desk.forms.choose("How much?", [1, 2], own=int).content)

    opened(anna, none).verdict("reject")
    opened(anna, own).verdict("respond", **{"=": "3"})

    assert judged(desk, none).verdict == "reject"
    assert judged(desk, own).answer == 3


def test_a_notice_is_ignored_or_answered(anna: Tab, desk: Desk) -> None:
    first, second = (desk.put(desk.forms.notice(text).content) for text in ("one", "two"))

    opened(anna, first).verdict("reject")
    opened(anna, second).verdict("respond", note="Thanks.")

    assert judged(desk, first).verdict == "reject"
    assert judged(desk, second).answer == "Thanks."


def test_feedback_is_good_bad_or_words(anna: Tab, desk: Desk) -> None:
    asks = [desk.put(desk.forms.feedback("The answer was 42.").content) for _ in range(3)]

    opened(anna, asks[0]).verdict("approve")
    opened(anna, asks[1]).verdict("reject", kind="taste", note="dull")
    opened(anna, asks[2]).verdict("respond", note="Why 42?")

    assert [judged(desk, ask).verdict for ask in asks] == ["approve", "reject", "respond"]
    assert judged(desk, asks[1]).kind == "taste"


def test_a_doubt_is_settled_and_shows_what_it_is_about(anna: Tab, desk: Desk) -> None:
    ask = desk.approve(call(desk), by="anna")
    begun = desk.begin(ask)
    doubt = desk.docket.doubt(ask.id, "It fell silent.", attempt=begun.attempt)
    assert doubt is not None

    opened(anna, doubt)
    assert ask.id in anna.answer.text
    assert anna.page.one("article").attrs["data-waits"] == "2"
    anna.verdict("respond", **{"=": '"paid"'})

    assert anna.status == 303, anna.summary
    decision = judged(desk, doubt)
    assert (decision.verdict, decision.answer) == ("respond", "paid")


def test_it_happened_is_not_taken_without_the_result_that_its_page_asks_for(
    anna: Tab, desk: Desk
) -> None:
    ask = desk.approve(call(desk, returns={"type": "string"}), by="anna")
    doubt = desk.docket.doubt(ask.id, "It fell silent.", attempt=desk.begin(ask).attempt)
    assert doubt is not None

    opened(anna, doubt).verdict("respond")

    assert anna.status == 422
    assert "is empty" in anna.summary
    assert anna.page.one("textarea", name="=").attrs["aria-invalid"] == "true"
    assert desk.get(doubt.id).open


# --- what a browser makes of a text ------------------------------------------------------------

_ODD = ["a\rb", "a\r\nb", "a\0b", "\nfirst", "\rfirst", "last\r", "a\u2028b\x85c\x0b\x0c", "\r\n"]


@pytest.mark.parametrize("text", _ODD)
def test_a_draft_that_nobody_touched_is_approved_byte_for_byte(
    anna: Tab, desk: Desk, text: str
) -> None:
    ask = desk.put(desk.forms.draft(f"{text}{next(_numbers)}").content)

    opened(anna, ask).verdict("approve")

    assert anna.status == 303, anna.summary
    decision = judged(desk, ask)
    assert (decision.verdict, desk.get(ask.id).version) == ("approve", ask.version)
    assert decision.args == ask.args


@pytest.mark.parametrize("text", _ODD)
def test_a_step_that_nobody_touched_stays_byte_for_byte(anna: Tab, desk: Desk, text: str) -> None:
    steps: list[Any] = [f"{text}{next(_numbers)}", {"title": f"{text}!", "detail": text}]
    same = desk.put(desk.forms.plan(steps).content)
    other = desk.put(desk.forms.plan([*steps, "Rest"]).content)

    opened(anna, same).verdict("approve")
    opened(anna, other)
    shown = [value for name, value in filled(anna.page, anna.form(other.id)) if name == "step"]
    anna.verdict("approve", step=[*shown[:2], "Sleep"])

    assert (judged(desk, same).verdict, judged(desk, same).args) == ("approve", same.args)
    assert judged(desk, other).args["steps"] == [*steps, "Sleep"]


def test_an_option_is_chosen_whatever_a_browser_makes_of_its_label(anna: Tab, desk: Desk) -> None:
    form = desk.forms.choose(f"Which {next(_numbers)}?", ["one\rway", "other\0way"])
    ask = desk.put(form.content)
    opened(anna, ask)

    anna.press(anna.page.all("button", name="option")[1])

    assert anna.status == 303, anna.summary
    assert judged(desk, ask).answer["option"] == "other\0way"


def test_two_options_that_are_one_in_a_browser_cannot_be_mixed_up(anna: Tab, desk: Desk) -> None:
    ask = desk.put(desk.forms.choose(f"Which {next(_numbers)}?", ["a\rb", "a\nb"]).content)
    opened(anna, ask)

    anna.press(anna.page.all("button", name="option")[0])

    assert anna.status == 422
    assert desk.get(ask.id).open


# --- what is sent is what was filled in (E61) --------------------------------------------------

FORM_ANSWER = {
    "type": "object",
    "properties": {"from": {"type": "string"}, "n": {"type": "integer"}},
}


@pytest.mark.parametrize(
    "asked", [list[str], list[int], FORM_ANSWER], ids=["texts", "numbers", "form"]
)
def test_an_answer_with_nothing_in_it_is_an_error_at_its_field_e61(
    anna: Tab, desk: Desk, asked: Any
) -> None:
    """E61: Answer sent `[]` or `{}` for a list or a form in which nothing was filled in."""
    ask = desk.put(desk.forms.question("Whom?", asked).content)

    opened(anna, ask).verdict("respond", note="a note is no answer")

    assert anna.status == 422
    assert desk.get(ask.id).open
    field = anna.page.one("fieldset", data_pointer="=")
    (wrong,) = field.all("p", class_="error")
    assert "is empty" in wrong.text
    assert wrong.attrs["id"] in field.attrs["aria-describedby"].split()
    link = anna.page.one("div", id=f"problems-{ask.id}").all("a")[0]
    assert link.attrs["href"] == f"#{field.attrs['id']}"
    assert anna.page.one("textarea", id=f"note-{ask.id}").raw == "a note is no answer"


def test_each_line_of_what_is_wrong_names_its_field_e61(anna: Tab, desk: Desk) -> None:
    schema = {**FORM_ANSWER, "required": ["from", "n"]}
    ask = desk.put(desk.forms.question("Which flight?", schema).content)

    opened(anna, ask).verdict("respond")

    links = anna.page.one("div", id=f"problems-{ask.id}").all("a")
    words = {link.text: anna.page.one(id=link.attrs["href"][1:]).attrs["name"] for link in links}
    assert words == {
        "from: is empty": "=/from",
        "n: must be a whole number, and is empty": "=/n",
    }


def test_an_answer_differs_from_nothing_that_was_proposed(anna: Tab, desk: Desk) -> None:
    """A form in which nothing was typed yet offered to revert it."""
    for asked in (FORM_ANSWER, list[str]):
        opened(anna, desk.put(desk.forms.question("Which?", asked).content))
        assert anna.page.all("fieldset", data_pointer="=")
        assert [one.text for one in anna.page.all("button") if one.text == "Revert"] == []


def test_a_list_whose_rows_are_blank_is_an_error_at_the_row_e61(anna: Tab, desk: Desk) -> None:
    ask = desk.put(desk.forms.question("Whom?", list[str]).content)
    add = opened(anna, ask).page.one("button", data_do="add")

    anna.press(add).verdict("respond", **{"=/0": "  "})

    assert anna.status == 422
    assert desk.get(ask.id).open
    anna.verdict("respond", **{"=/0": "ada"})
    assert judged(desk, ask).answer == ["ada"]


@pytest.mark.parametrize("typed", ["", "  ", "\r\n"])
@pytest.mark.parametrize("kind", ["notice", "feedback", "action"])
def test_words_that_say_nothing_are_an_error_at_the_note_e61(
    anna: Tab, desk: Desk, kind: str, typed: str
) -> None:
    """E61: Respond with an empty box sent an empty text, and the agent went to work."""
    ask = call(desk) if kind == "action" else desk.put(getattr(desk.forms, kind)("News.").content)

    opened(anna, ask).verdict("respond", note=typed)

    assert anna.status == 422
    assert desk.get(ask.id).open
    note = anna.page.one("textarea", id=f"note-{ask.id}")
    assert note.attrs["aria-invalid"] == "true"
    assert "empty" in anna.page.one("p", id=note.attrs["aria-describedby"]).text
    assert "open" in anna.page.one("details", id=f"note-fold-{ask.id}").attrs


# --- how long an ask takes no decision (E62) ---------------------------------------------------


@pytest.mark.parametrize(
    ("risk", "seconds"),
    [("low", "1"), ("medium", "1"), (None, "1"), ("high", "2"), ("critical", "2")],
)
def test_every_ask_says_for_how_long_it_takes_no_press_e62(
    anna: Tab, desk: Desk, risk: str | None, seconds: str
) -> None:
    page = opened(anna, call(desk, risk=risk)).page

    article = page.one("article")
    assert article.attrs["data-waits"] == seconds
    assert {"data-arms" in one.attrs for one in article.all("button", name="verdict")} == {True}


def test_what_is_critical_has_no_key_on_any_button_e64(anna: Tab, desk: Desk) -> None:
    opened(anna, call(desk, risk="critical"))

    assert anna.buttons
    assert not [one for one in anna.buttons if one.all("kbd")]
