"""The package is built once, and installed once."""

from __future__ import annotations

import pytest

from tests.package.archives import Built, build, copied
from tests.package.installed import Installed, install


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """What `hatchling build` makes of our files."""
    folder = tmp_path_factory.mktemp("built")
    return build(copied(folder / "source"), folder / "dist")


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel, in an environment with what it says it needs and nothing else."""
    return install(built.wheel, tmp_path_factory.mktemp("installed") / "venv")
