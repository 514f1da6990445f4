"""What differs from the proposal is seen while it is typed."""

from __future__ import annotations

from html import escape

from playwright.sync_api import expect

from tests.browser.script.conftest import Look
from tests.browser.script.paper import Fields, Paper, Sheet


def field(name: str, was: str, control: str) -> str:
    return (
        f'<div class="field" data-pointer="{name}" data-was="{escape(was)}">'
        f"<label>{name[1:]}</label>{control}</div>"
    )


def text(name: str, was: str) -> str:
    return field(name, was, f'<textarea name="{name}">{escape(was)}</textarea>')


def test_a_changed_field_says_what_it_was_and_can_be_put_back(paper: Paper, look: Look) -> None:
    notify = field("/notify", "true", '<input type="checkbox" name="/notify" value="true" checked>')
    currency = field(
        "/currency",
        "EUR",
        '<select name="/currency"><option>EUR</option><option>USD</option></select>',
    )
    paper.sheets[0] = Sheet("a-1", "First", editor=text("/amount", "1240") + notify + currency)
    window = look()
    label = window("[data-approve-label]")
    window("[name='/amount']").fill("620")
    expect(label).to_have_text("Approve with 1 edit")
    window("[name='/notify']").uncheck()
    window("[name='/currency']").select_option("USD")
    expect(label).to_have_text("Approve with 3 edits")
    amount = window(".field[data-pointer='/amount']")
    expect(amount).to_have_class("field changed")
    expect(amount.locator(".was")).to_have_text("was 1240")
    expect(window("#edits-a-1 dl > div").first).to_have_text("amount1240620")
    expect(window("#edits-a-1 del").first).to_have_text("1240")
    amount.get_by_role("button", name="Revert").click()
    expect(window("[name='/amount']")).to_have_value("1240")
    expect(window("[name='/amount']")).to_be_focused()
    window(".field[data-pointer='/notify'] .revert").click()
    expect(window("[name='/notify']")).to_be_checked()
    window(".field[data-pointer='/currency'] .revert").click()
    expect(window("[name='/currency']")).to_have_value("EUR")
    expect(label).to_have_text("Approve")
    expect(window("#edits-a-1")).to_be_hidden()


def test_words_are_compared_and_hostile_text_stays_text(paper: Paper, look: Look) -> None:
    was = "It can take five days.\n<img src=x onerror=window.pwned=1>"
    paper.sheets[0] = Sheet("a-1", "First", editor=text("/message", was))
    window = look()
    window("textarea[name='/message']").fill(was.replace("five", "three") + "\u202eevil\u200b")
    expect(window("#edits-a-1 del")).to_have_text("five")
    expect(window("#edits-a-1 ins").first).to_have_text("three")
    expect(window("#edits-a-1 .cp")).to_have_text(["U+202E", "U+200B"])
    expect(window("#edits-a-1 dd")).to_contain_text("<img src=x onerror=window.pwned=1>")
    assert not window.scripted()


def test_a_long_text_is_compared_by_lines_and_quickly(paper: Paper, look: Look) -> None:
    was = "".join(f"line {number} of many words\n" for number in range(500))
    paper.sheets[0] = Sheet("a-1", "First", editor=text("/log", was))
    window = look()
    typed = "(field, text) => { field.value = text; field.dispatchEvent(new Event('input', {bubbles: true})); }"
    window("[name='/log']").evaluate(typed, was.replace("line 250 of", "line 250 in"))
    expect(window("#edits-a-1 del")).to_have_text("line 250 of many words\n")
    window("[name='/log']").evaluate(typed, "x " * 100_000)
    expect(window("#edits-a-1 ins")).to_have_count(1)


def test_a_row_is_added_by_the_server_and_the_focus_goes_there(paper: Paper, look: Look) -> None:
    def rows(values: list[str]) -> str:
        made = "".join(
            f'<div class="field" data-pointer="/items/{n}" data-was="{value}">'
            f'<input type="hidden" name="from:/items/{n}" value="{n}">'
            f'<input name="/items/{n}" value="{value}" aria-label="Item {n + 1}">'
            + "".join(
                f'<button name="do" value="{what}:/items/{n}" formaction="/inbox/a-1/edit" '
                f'hx-post="/inbox/a-1/edit" hx-target="#detail">{what}</button>'
                for what in ("up", "drop")
            )
            + "</div>"
            for n, value in enumerate(values)
        )
        return (
            f'<div class="field" data-pointer="/items">{made}<button name="do" value="add:/items" '
            'formaction="/inbox/a-1/edit">Add</button></div>'
        )

    def edit(given: Fields) -> tuple[int, str]:
        typed = [given[f"/items/{n}"][0] for n in range(9) if f"/items/{n}" in given]
        do = given["do"][0]
        if do == "add:/items":
            typed.append("")
        elif do == "drop:/items/1":
            del typed[1]
        elif do == "up:/items/1":
            typed[:2] = typed[1::-1]
        return 200, Sheet("a-1", "First", editor=rows(typed)).article

    paper.sheets[0] = Sheet("a-1", "First", editor=rows(["apples", "pears"]))
    paper.answers["/inbox/a-1/edit"] = edit
    window = look()
    window("summary").click()
    window("#note-a-1").fill("stays")
    window("[name='/items/0']").fill("plums")
    window.page.get_by_role("button", name="Add").click()
    expect(window("[name='/items/2']")).to_be_focused()
    expect(window("[name='/items/0']")).to_have_value("plums")
    expect(window("#note-a-1")).to_have_value("stays")
    window("[value='up:/items/1']").click()
    expect(window("[name='/items/0']")).to_have_value("pears")
    expect(window("[value='up:/items/0']")).to_be_focused()
    window("[value='drop:/items/1']").click()
    expect(window("[name='/items/2']")).to_have_count(0)
    expect(window("[value='drop:/items/1']")).to_be_focused()
    assert paper.verdicts() == []


def test_a_step_that_is_dragged_is_moved(paper: Paper, look: Look) -> None:
    def plan(titles: list[str]) -> str:
        return (
            '<section class="plan-editor"><ol class="plan">'
            + "".join(
                f'<li class="step"><input type="hidden" name="was" value="{titles.index(title)}">'
                f'<span class="step-number">{n + 1}</span><textarea name="step">{title}</textarea>'
                f'<button name="do" value="up:{n}" formaction="/inbox/a-1/edit">Up</button></li>'
                for n, title in enumerate(titles)
            )
            + "</ol></section>"
        )

    paper.sheets[0] = Sheet("a-1", "First", kind="plan", editor=plan(["one", "two", "three"]))
    paper.answers["/inbox/a-1/edit"] = lambda given: (
        200,
        Sheet("a-1", "First", kind="plan", editor=plan(given["step"])).article,
    )
    window = look()
    first, last = (window(".step-number").nth(n).bounding_box() for n in (0, 2))
    assert first
    assert last
    window.page.mouse.move(first["x"] + 3, first["y"] + 3)
    window.page.mouse.down()
    window.page.mouse.move(last["x"] + 3, last["y"] + last["height"] - 1, steps=10)
    window.page.mouse.up()
    expect(window("#toast")).to_contain_text("Now step 3.")
    expect(window("textarea[name=step]").last).to_have_value("one")
    given = next(given for path, given in paper.posted if path.endswith("/edit"))
    assert (given["step"], given["was"]) == (["two", "three", "one"], ["1", "2", "0"])


def test_tabs_show_one_panel_and_go_with_the_arrows(paper: Paper, look: Look) -> None:
    tabs = (
        '<div role="tablist">'
        '<button type="button" role="tab" aria-controls="p1" aria-selected="true">One</button>'
        '<button type="button" role="tab" aria-controls="p2" aria-selected="false">Two</button></div>'
        '<div id="p1">first</div><div id="p2" hidden>second</div>'
    )
    paper.sheets[0] = Sheet("a-1", "First", kind="draft", editor=tabs)
    window = look()
    window("[role=tab]").last.click()
    expect(window("#p2")).to_be_visible()
    expect(window("#p1")).to_be_hidden()
    window.page.keyboard.press("ArrowRight")
    expect(window("[role=tab]").first).to_be_focused()
    expect(window("#p1")).to_be_visible()
