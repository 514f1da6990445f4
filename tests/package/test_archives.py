"""What is in the wheel and in the sdist, and what is not."""

from __future__ import annotations

import email
import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from tests.package.archives import ROOT, RUBBISH, Built, files_of_ours, ignored

SOURCE = "src/sayso/"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture
def metadata(built: Built) -> Message:
    """What an index and pip read."""
    (name,) = (name for name in built.in_wheel if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(built.in_wheel[name])


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built: Built) -> None:
    ours = {name.removeprefix("src/") for name in files_of_ours() if name.startswith(SOURCE)}

    own = {name for name in built.in_wheel if ".dist-info/" not in name}

    assert own == ours


@pytest.mark.parametrize(
    "name",
    [
        "sayso/py.typed",
        "sayso/policy/default.toml",
        "sayso/store/sql/schema/0100_desk.sql",
        "sayso/web/static/geist-latin.woff2",
    ],
)
def test_the_wheel_has_what_is_no_python(built: Built, name: str) -> None:
    assert built.in_wheel[name] == (ROOT / "src" / name).read_bytes()


def test_the_licences_travel_with_what_they_are_of(built: Built) -> None:
    folder = ROOT / "src/sayso/web/static/licences"
    kept = [f"src/sayso/web/static/licences/{file.name}" for file in folder.iterdir()]

    assert len(kept) >= 4
    for name in ["LICENSE", *kept]:
        text = (ROOT / name).read_bytes()
        assert built.in_wheel[f"sayso-{PROJECT['version']}.dist-info/licenses/{name}"] == text


def test_the_sdist_is_the_whole_repository(built: Built) -> None:
    assert built.in_sdist == {*files_of_ours(), "PKG-INFO"}


def test_nothing_that_git_ignores_is_packed(built: Built) -> None:
    ours = ignored()
    assert all(map(ours.match_file, RUBBISH)), "what is planted must be what git ignores"

    assert [name for name in built.in_sdist if ours.match_file(name)] == []
    assert [name for name in built.in_wheel if ours.match_file(name)] == []


def test_the_sdist_makes_the_same_wheel(built: Built, tmp_path: Path) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"),
            *("--no-build-isolation", "--wheel-dir", tmp_path, built.sdist),
        ],
        check=True,
    )

    (again,) = tmp_path.glob("*.whl")
    assert again.name == built.wheel.name
    with zipfile.ZipFile(again) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == built.in_wheel


def test_the_metadata_says_what_the_project_says(metadata: Message) -> None:
    assert metadata["Name"] == "sayso"
    assert metadata["Version"] == PROJECT["version"]
    assert metadata["Summary"] == PROJECT["description"]
    assert metadata["License-Expression"] == PROJECT["license"]
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata.get_all("Classifier") == PROJECT["classifiers"]
    assert set(metadata.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])


def test_the_readme_is_the_page_of_the_package(metadata: Message) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload(decode=True) == (ROOT / "README.md").read_bytes()
