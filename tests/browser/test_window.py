"""The watch that every test here keeps: what a page does wrong is noticed."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe.run import HERE
from tests.browser.chrome import chromium
from tests.browser.office import Office
from tests.browser.window import PATIENCE, Window

WRONG = {
    "a script of an agent": (
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned=1\">')",
        "script-src",
    ),
    "a style in an attribute": (
        "document.body.insertAdjacentHTML('beforeend', '<p style=\"color:red\">red</p>')",
        "style-src",
    ),
    "an error nobody catches": ("setTimeout(() => { throw new Error('ouch') })", "ouch"),
    "a word in the console": ("console.error('something is wrong')", "something is wrong"),
    "another host": ("fetch('http://192.0.2.7/beacon').catch(() => 0)", "192.0.2.7"),
}


def test_whatever_a_page_does_wrong_is_noticed(team: Office) -> None:
    here = team.stranger()
    here.page.goto("/sign-in")
    for script, words in WRONG.values():
        here.page.evaluate(f"() => {{ {script} }}")
        until_said(here, words)

        assert not here.scripted()
        here.complaints.clear()


def until_said(here: Window, words: str) -> None:
    """Wait until the window has complained about it."""
    ends = time.monotonic() + PATIENCE / 1000
    while not any(words in said for said in here.complaints):
        assert time.monotonic() < ends, f"{words!r} is not among {here.complaints}"
        here.page.wait_for_timeout(20)


def test_nothing_outside_this_machine_can_be_reached(team: Office) -> None:
    here = team.stranger(bypass_csp=True)
    here.page.goto("/sign-in")

    for url in ("http://example.com/", "http://192.0.2.7/", "http://localhost:1/"):
        reached = here.page.evaluate(
            "(url) => fetch(url, {mode: 'no-cors'}).then(() => true, () => false)", url
        )
        assert reached is False, url

    here.complaints.clear()


def test_axe_is_the_one_that_was_vendored_and_finds_what_is_wrong(team: Office) -> None:
    [vendored] = json.loads((HERE / "vendored.json").read_text())
    assert hashlib.sha256((HERE / vendored["file"]).read_bytes()).hexdigest() == vendored["sha256"]
    assert all((HERE / name).is_file() for name in vendored["licences"])

    here = team.stranger()
    here.page.goto("/sign-in")
    here.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<input><img src=\"/x\">')")
    expect(here("img")).to_have_count(1)

    assert {"label", "image-alt"} <= {one.rule for one in here.violations()}
    here.complaints.clear()


def test_without_a_browser_the_tests_say_how_to_install_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SAYSO_CHROMIUM", "no-such-browser")

    with pytest.raises(RuntimeError, match="apt-get install chromium") as refused:
        chromium()

    assert "'no-such-browser' is no program" in str(refused.value)


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (["chromium", "chromium-headless-shell"], "chromium-headless-shell"),
        (["chromium"], "chromium"),
    ],
    ids=["both", "chromium alone"],
)
def test_the_browser_without_windows_is_taken_if_it_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: list[str], taken: str
) -> None:
    for name in there:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.delenv("SAYSO_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert chromium() == str(tmp_path / taken)
