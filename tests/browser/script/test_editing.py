"""What differs from the proposal is seen while it is typed."""

from __future__ import annotations

from html import escape

from playwright.sync_api import expect

from tests.browser.script.conftest import Look
from tests.browser.script.paper import Paper, Sheet


def field(name: str, was: str, control: str) -> str:
    return (
        f'<div class="field" data-pointer="{name}" data-was="{escape(was)}">'
        f"<label>{name[1:]}</label>{control}</div>"
    )


def text(name: str, was: str) -> str:
    return field(name, was, f'<textarea name="{name}">{escape(was)}</textarea>')


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
