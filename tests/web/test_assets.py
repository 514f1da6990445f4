"""Style, scripts, fonts and icons: kept for ever under a name, small, and the ones we vouch for."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Desk
from sayso.web.look.assets import FOLDER, asset, modules
from tests.web.gallery import pages
from tests.web.house import House, serving

ROOT = Path(__file__).parent.parent.parent
VENDOR = ROOT / "tools/vendor.py"
BUDGET = 120_000  # bytes on the wire for a first look at the inbox


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with (
        Desk(f"sqlite:///{tmp_path_factory.mktemp('assets')}/desk.db") as desk,
        serving(desk) as it,
    ):
        yield it


def test_a_file_may_be_kept_for_ever_because_another_edition_has_another_name(house: House) -> None:
    came = house.client().get(asset("app.css"))

    assert came.status_code == 200
    assert came.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert came.headers["content-type"] == "text/css; charset=utf-8"
    assert came.headers["x-content-type-options"] == "nosniff"
    assert re.fullmatch(r"/static/app\.[0-9a-f]{10}\.css", asset("app.css"))


@pytest.mark.parametrize(
    "name",
    [
        "app.css",  # without the edition
        "app.0000000000.css",
        "vendored.json",
        "licences",
        "..%2fapp.py",
        "%2e%2e/sign_in.py",
        "nothing",
    ],
)
def test_what_is_no_file_of_the_pages_is_not_there(house: House, name: str) -> None:
    assert house.client().get(f"/static/{name}").status_code == 404


def test_text_goes_packed_to_whoever_reads_it_and_fonts_are_packed_already(house: House) -> None:
    plain = house.client().get(asset("app.css"), headers={"Accept-Encoding": "identity"})
    refused = house.client().get(asset("app.css"), headers={"Accept-Encoding": "gzip;q=0"})
    packed = house.client().get(asset("app.css"), headers={"Accept-Encoding": "br, gzip"})
    font = house.client().get(asset("geist-latin.woff2"), headers={"Accept-Encoding": "gzip"})

    assert "content-encoding" not in plain.headers
    assert "content-encoding" not in refused.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    assert packed.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in font.headers
    assert font.headers["content-type"] == "font/woff2"


def test_whoever_has_a_file_is_told_so(house: House) -> None:
    first = house.client().get(asset("htmx.min.js"))
    again = house.client().get(
        asset("htmx.min.js"), headers={"If-None-Match": first.headers["etag"]}
    )

    assert again.status_code == 304
    assert again.content == b""


def test_files_of_ours_name_each_other_by_the_names_they_are_served_under(house: House) -> None:
    client = house.client()
    for path in (asset("app.css"), *modules()):
        text = client.get(path).text
        assert '"./' not in text, path
        for named in re.findall(r'"(/static/[^"]+)"', text):
            assert client.head(named).status_code in (200, 405), named
    assert asset("geist-latin.woff2") in client.get(asset("app.css")).text


def test_pages_go_packed_too(house: House) -> None:
    packed = house.client().get("/sign-in", headers={"Accept-Encoding": "gzip"})
    plain = house.client().get("/sign-in", headers={"Accept-Encoding": "identity"})

    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.text == plain.text


def test_the_first_look_at_the_inbox_is_small() -> None:
    page = pages()["ask-action"]
    named = re.findall(r'"/static/([^"#]+)', page)
    files = {re.sub(r"\.[0-9a-f]{10}(?=\.\w+$)", "", name) for name in named}
    fonts = {"geist-latin.woff2", "geist-mono-latin.woff2"}
    sizes = {name: _on_the_wire(FOLDER / name) for name in files | fonts}

    assert sum(sizes.values()) + len(gzip.compress(page.encode())) <= BUDGET, sizes


def _on_the_wire(file: Path) -> int:
    body = file.read_bytes()
    return len(body) if file.suffix == ".woff2" else len(gzip.compress(body, 9))


def test_what_others_wrote_is_what_we_noted() -> None:
    done = subprocess.run(
        [sys.executable, VENDOR, "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_a_file_that_was_changed_behind_our_back_is_found(tmp_path: Path) -> None:
    web = tmp_path / "src/sayso/web/static"
    web.mkdir(parents=True)
    for file in FOLDER.rglob("*"):
        if file.is_file():
            (web / file.relative_to(FOLDER)).parent.mkdir(exist_ok=True)
            (web / file.relative_to(FOLDER)).write_bytes(file.read_bytes())
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/vendor.py").write_text(VENDOR.read_text("utf-8"), "utf-8")
    (web / "htmx.min.js").write_bytes((web / "htmx.min.js").read_bytes() + b"//")
    (web / "licences/lucide-static.txt").unlink()

    done = subprocess.run(
        [sys.executable, tmp_path / "tools/vendor.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "htmx.min.js is not what vendored.json says" in done.stderr
    assert "the licence of lucide-static is missing" in done.stderr


def test_each_vendored_file_says_where_it_is_from_and_under_which_licence() -> None:
    noted = json.loads((FOLDER / "vendored.json").read_text("utf-8"))

    for entry in noted:
        assert entry["name"]
        assert re.fullmatch(r"\d+\.\d+\.\d+", entry["version"])
        assert entry["licence"] in {"0BSD", "OFL-1.1", "ISC"}
    listed = {entry["file"] for entry in noted}
    assert {file.name for file in FOLDER.glob("*.woff2")} <= listed
