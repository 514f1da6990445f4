"""`sayso db backup` and `sayso db restored`."""

from __future__ import annotations

from pathlib import Path

from sayso import Desk
from tests.cli.conftest import Sayso
from tests.places import Place


def test_a_backup_is_refused_with_the_command_that_puts_it_right(sayso: Sayso, desk: Desk) -> None:
    desk.open("refund")
    token, _ = desk.tokens.make("bot")

    assert sayso("db", "backup", "monday.db").code == 0
    refused = sayso("inbox", "--desk", "monday.db")
    assert refused.code == 1
    assert "is a backup, taken on" in refused.err
    assert "sayso db restored --desk sqlite:///monday.db" in refused.err
    assert sayso("doctor", "--desk", "monday.db").code == 1
    again = sayso("db", "backup", "monday.db")
    assert (again.code, "is there already" in again.err) == (1, True)
    lost = sayso("db", "backup", "backups/monday.db")
    assert (lost.code, "There is no folder backups" in lost.err) == (1, True)

    done = sayso("db", "restored", "--desk", "monday.db", "--yes")

    assert done.code == 0
    assert "1 open ask says that it may have been decided before" in done.out
    assert f"sayso tokens revoke {token.id}" in done.out
    assert sayso("inbox", "--desk", "monday.db").code == 0
    assert sayso("audit", "verify", "--desk", "monday.db").code == 0


def test_nothing_is_done_to_a_desk_without_a_yes(sayso: Sayso, desk: Desk) -> None:
    desk.open("refund")

    assert sayso("db", "restored").code == 1
    assert desk.store.restored_at is None
    assert sayso("db", "restored", "--yes", "--json").json["epoch"] == 1
    assert sayso("db", "restored", "--yes", "--desk", "nowhere.db").code == 1
    assert not Path("nowhere.db").exists()


def test_a_server_is_backed_up_with_its_own_tools(sayso: Sayso, postgres: Place) -> None:
    done = sayso("db", "backup", "monday.dump", "--desk", postgres.url)

    assert done.code == 1
    assert "pg_dump" in done.err
