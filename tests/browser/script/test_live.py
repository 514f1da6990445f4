"""Pages stay true while others work, and nobody loses their place, their focus or their words."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.script.conftest import Look
from tests.browser.script.paper import Paper, Sheet
from tests.browser.window import Window
from tests.together import until

GATHERED = 400  # milliseconds after which a page has looked at what it heard of, if it wanted to


def listening(window: Window, paper: Paper) -> Window:
    """Wait until the page follows, and has looked once."""
    expect(window("body[data-seen]")).to_be_attached()
    assert paper.streams
    return window


def test_new_asks_wait_behind_a_button(paper: Paper, look: Look) -> None:
    window = listening(look(), paper)
    paper.add(Sheet("a-0", "Newest"))
    expect(window("#new")).to_have_text("1 new")
    paper.add(Sheet("a-9", "Newer still"))
    expect(window("#new")).to_have_text("2 new")
    assert window.rows == ["a-1", "a-2", "a-3"]
    expect(window("#count")).to_have_text("5 waiting")
    expect(window.page).to_have_title("(5) First - sayso")
    window("#new").click()
    expect(window(".row")).to_have_count(5)
    assert window.rows[:2] == ["a-9", "a-0"]
    expect(window("#new")).to_be_hidden()
    expect(window('.row[data-ask="a-9"] a')).to_be_focused()
    assert window.ask == "a-1"


def test_a_row_that_left_stays_where_it_is_while_the_pointer_is_over_the_list(
    paper: Paper, look: Look
) -> None:
    window = listening(look(), paper)
    window('.row[data-ask="a-3"]').hover()
    paper.remove("a-2")
    expect(window('.row[data-ask="a-2"]')).to_have_attribute("data-left", "")
    assert window.rows == ["a-1", "a-2", "a-3"]
    window("#detail h1").hover()
    expect(window(".row")).to_have_count(2)
    assert window.rows == ["a-1", "a-3"]


def test_keys_pass_by_what_has_left(paper: Paper, look: Look) -> None:
    window = listening(look(), paper)
    window('.row[data-ask="a-3"]').hover()
    paper.remove("a-2")
    expect(window('.row[data-ask="a-2"]')).to_have_attribute("data-left", "")
    window.page.keyboard.press("j")
    window.shows("a-3")


def test_a_page_without_a_connection_says_so_and_decides_nothing(paper: Paper, look: Look) -> None:
    window = listening(look(own=True), paper)
    window.forgive("ERR_")
    paper.up = False
    window.page.clock.install()
    for stream in [*paper.streams]:
        stream.put(None)
    window.page.wait_for_event("requestfailed", lambda request: "events" in request.url)
    window.page.clock.run_for(10_500)
    expect(window("#offline")).to_be_visible()
    window.page.keyboard.press("a")
    expect(window("#toast")).to_contain_text("Not connected")
    assert paper.posted == []


def test_an_emptied_list_shows_what_comes_at_once(paper: Paper, look: Look) -> None:
    paper.sheets = []
    window = listening(look(), paper)
    paper.add(Sheet("a-5", "Fifth"))
    expect(window(".row")).to_have_count(1)
    expect(window("#new")).to_be_hidden()


def test_letters_stay_letters_when_the_field_goes_away_under_somebody_who_types(
    paper: Paper, look: Look
) -> None:
    window = listening(look(), paper)
    window("summary").click()
    window("#note-a-1").press("j")
    window("#note-a-1").evaluate("note => note.remove()")
    window.page.keyboard.type("ar")
    window.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert paper.posted == []
    assert window.ask == "a-1"
    window.page.keyboard.press("Escape")
    window.page.keyboard.press("r")
    expect(window("#detail")).to_contain_text("Decided.")


def looks(paper: Paper) -> list[str]:
    return [path for path in paper.asked if urlsplit(path).path == "/inbox/queue"]


def test_one_look_at_a_time_and_one_more_if_something_came_meanwhile(
    paper: Paper, look: Look
) -> None:
    window = listening(look(), paper)
    old = paper.hold("/inbox/queue")
    before = len(looks(paper))
    paper.tell("a-2")
    until(lambda: len(looks(paper)) == before + 1)
    del paper.held["/inbox/queue"]  # whatever is asked from now on is answered at once

    for number in (7, 8):
        paper.add(Sheet(f"a-{number}"))
        window.passes(GATHERED)
    assert len(looks(paper)) == before + 1, "the answer to the first has not come"
    old.set()

    expect(window("#new")).to_have_text("2 new")
    window.passes(GATHERED)
    expect(window("#new")).to_be_visible()
    assert len(looks(paper)) == before + 2


def test_an_old_list_does_not_take_the_place_of_one_that_came_with_an_answer(
    paper: Paper, look: Look
) -> None:
    paper.answers["/inbox/a-1/decision"] = lambda _: (
        200,
        f"<p>Decided.</p>{paper.queue.replace('<section ', '<section hx-swap-oob=true ', 1)}",
    )
    window = listening(look(), paper).armed()
    old = paper.hold("/inbox/queue")
    before = len(looks(paper))
    paper.tell("a-2")
    until(lambda: len(looks(paper)) == before + 1)
    del paper.held["/inbox/queue"]

    paper.sheets = paper.sheets[1:]
    window.page.keyboard.press("a")
    expect(window("#count")).to_have_text("2 waiting")
    old.set()
    until(lambda: len(looks(paper)) > before + 1)

    window.passes(GATHERED)
    expect(window("#count")).to_have_text("2 waiting")


def test_a_page_says_which_version_it_shows_when_it_asks_how_an_ask_stands(
    paper: Paper, look: Look
) -> None:
    window = listening(look(), paper)
    paper.change("a-1", banner='<p role="alert">It has changed.</p>', digest="d2")
    expect(window("#banner-a-1")).to_contain_text("It has changed.")

    asked = [urlsplit(path) for path in paper.asked if "/a-1/state" in path]
    assert {parse_qs(path.query)["seen"][0] for path in asked} == {"d1"}
    assert {parse_qs(path.query)["view"][0] for path in asked} == {"mine"}
