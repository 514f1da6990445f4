"""A database for what is decided before a database is asked, or drawn from what a desk says.

Desks, stores and credentials are tested on both databases elsewhere.
"""

from __future__ import annotations

import pytest

from tests.places import Place


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.soak)])
def shared_place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """An empty database for all tests of a module; PostgreSQL's turn is in the soak."""
    if request.param == "sqlite":
        return Place("sqlite", f"sqlite:///{tmp_path_factory.mktemp('pages')}/desk.db")
    place = Place("postgres", request.getfixturevalue("cluster"))
    place.clear()
    return place
