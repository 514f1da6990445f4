"""Text of agents, people and tools that wants to be more than text: nothing runs, nothing hides."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from sayso import Ask, Option
from tests.browser.office import Office
from tests.browser.window import DESKTOP, PHONE, Window
from tests.hostile import ANSI, BIDI, ZERO_WIDTH, raw_in

MARKUP = (
    "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script>"
    "<svg onload=window.pwned=1></svg></textarea></title>\"'><b>bold</b>"
)
LINK = "javascript:window.pwned=1"
RTL = "\u0634\u0643\u0631\u0627 \u05e9\u05dc\u05d5\u05dd"
COMBINING = "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e" * 20
TAGS = "pay\U000e0041\U000e0042"
EVIL = f"{MARKUP} {LINK} {BIDI} {ANSI} {ZERO_WIDTH} {TAGS} {RTL} {COMBINING}"
LONG = "never ending " * 800  # 10,400 characters
UNBROKEN = "x" * 10_000

BADGES = ("U+202E", "U+001B", "U+200B", "U+E0041")


def harmless(here: Window) -> None:
    """Nothing ran, nothing became an element, and no character hides what is there."""
    assert not here.scripted()
    assert here('main#detail img[src="x"], svg[onload], main#detail script').count() == 0
    assert here('a[href^="javascript:"], form[action^="javascript:"]').count() == 0
    # Whatever a page shows as text, its attributes included, has labels instead.
    texts: str = here.page.evaluate(
        """() => [document.title, ...[...document.querySelectorAll('*')].flatMap((one) => [
          ...[...one.childNodes].filter((node) => node.nodeType === 3 && one.tagName !== 'TEXTAREA')
            .map((node) => node.data),
          ...['title', 'aria-label', 'placeholder', 'alt'].map((name) => one.getAttribute(name) ?? ''),
        ])].join('\\n')"""
    )
    assert raw_in(texts) == []
    assert not re.search("[\U000e0000-\U000e007f]", texts)


def _action(office: Office) -> Ask:
    return office.open(
        "refund",
        {"to": EVIL, "nested": {EVIL[:60]: [EVIL]}, "url": LINK},
        title=EVIL,
        why=EVIL,
        facts={EVIL[:60]: EVIL},
        impact=EVIL,
        affects=EVIL,
        conflicts=[EVIL],
        tags=[EVIL],
    )


def _choice(office: Office) -> Ask:
    options = [Option(MARKUP[:150], 1, EVIL), Option(f"{BIDI} {ZERO_WIDTH}", 2, EVIL)]
    return office.put("choose", EVIL, options, own=True, why=EVIL)


def _plan(office: Office) -> Ask:
    return office.put("plan", [EVIL, {"title": EVIL, "detail": EVIL, EVIL[:60]: EVIL}], title=EVIL)


def _draft(office: Office) -> Ask:
    prose = f"# {EVIL}\n\n[click]({LINK}) ![x](http://192.0.2.7/x.png) <{LINK}>\n\n{EVIL}\n"
    return office.put("draft", prose, title=EVIL)


CASES: dict[str, Any] = {
    "action": _action,
    "choice": _choice,
    "plan": _plan,
    "draft": _draft,
    "question": lambda office: office.put("question", EVIL, str, why=EVIL),
    "notice": lambda office: office.put("notice", EVIL, {EVIL[:60]: EVIL}),
    "feedback": lambda office: office.put("feedback", {EVIL[:60]: EVIL}, task=EVIL, title=EVIL),
}


def test_hostile_text_in_every_field_is_only_text(solo: Office) -> None:
    here = solo.window()
    for number, opened in enumerate(CASES.values(), 1):
        ask = opened(solo)
        here.visit(solo.path(ask)).shows(ask.id)

        harmless(here)
        for badge in BADGES:
            expect(here("main#detail .cp", has_text=badge).first).to_be_visible()
        expect(here("#queue .row")).to_have_count(number)
        assert here.too_wide() == []


def test_what_people_and_tools_say_is_only_text_too(solo: Office) -> None:
    ask = solo.open()
    solo.desk.approve(ask, note=EVIL)
    solo.desk.finish(solo.desk.begin(ask), result={EVIL[:60]: EVIL})
    failed = solo.open()
    solo.desk.approve(failed)
    solo.desk.finish(solo.desk.begin(failed), error=EVIL)
    answered = solo.put("question", "What now?", str)
    solo.desk.respond(answered, EVIL)
    rejected = solo.open()
    solo.desk.reject(rejected, EVIL)

    here = solo.window()
    for one in (ask, failed, answered, rejected):
        here.visit(solo.path(one))
        harmless(here)
        expect(here("main#detail")).to_contain_text("U+202E")


def test_a_title_of_ten_thousand_characters_leaves_the_page_usable(solo: Office) -> None:
    here = solo.window()
    for title in (LONG, UNBROKEN, COMBINING * 40):
        ask = solo.open(title=title)
        here.visit(solo.path(ask))
        for size in (DESKTOP, PHONE):
            here.page.set_viewport_size(size)
            assert here.too_wide() == []
            row = here("#queue .row").first.evaluate("(one) => one.getBoundingClientRect().height")
            assert row < 120
            expect(here.verdict("approve")).to_be_in_viewport()
