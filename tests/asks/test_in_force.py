"""The policy in force is the desk's: whichever program rules, from whichever folder."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from sayso import Desk
from sayso.asks.backtesting import backtest
from sayso.asks.law import PUBLISHED, add_to_law, law_of
from sayso.asks.lawbook import default_policy
from sayso.errors import (
    AskChanged,
    BadPolicy,
    BadValue,
    Conflict,
    Denied,
    Forbidden,
    Misuse,
    NotApproved,
    Tampered,
)
from sayso.model.actor import Actor
from sayso.policy.reading import read
from sayso.policy.rules import Policy, Rule
from sayso.testing import FakeClock
from tests.forked import run
from tests.places import Place

SENIOR = '[tools]\npay = "pay"\n\n[tiers.pay]\nneeds = ["1 senior", "1 finance"]\n'
JUNIOR = '[tools]\npay = "medium"\n'
FREE = '[tools]\npay = "low"\n'
ANY_PACE = "[agents]\nasks = false\nwaiting = false\n"
NEVER = '[[rules]]\nname = "stopped"\neffect = "deny"\n'
PEOPLE = {"ada": ["admin", "senior"], "fin": ["finance"], "jun": ["junior"]}
Program = Callable[..., Desk]


@pytest.fixture
def program(
    place: Place, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Program]:
    """Starts programs, each in a folder of its own."""
    with ExitStack() as stack:

        def start(folder: str, text: str | None = None, **given: Any) -> Desk:
            here = tmp_path / folder
            here.mkdir(exist_ok=True)
            monkeypatch.chdir(here)
            if text is not None:
                (here / "sayso.toml").write_text(text)
            desk = Desk(place.url, clock=clock, agent="shop", account="sam@till", **given)
            desk.law.own._settle = 0
            return stack.enter_context(desk)

        yield start


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "sayso.policy")
    return caplog


def staff(desk: Desk, **more: list[str]) -> None:
    for name, roles in {**PEOPLE, **more}.items():
        desk.people.add(name, roles=roles)


def pay(desk: Desk, amount: int = 9_000) -> Any:
    return desk.open("pay", {"amount": amount})


# --- one desk, many folders --------------------------------------------------------------------


def test_a_program_in_another_folder_goes_by_the_policy_of_the_desk_e48(program: Program) -> None:
    """A worker and a decider that found no `sayso.toml` took the default policy without a word."""
    service = program("shop", SENIOR)
    staff(service)
    ask = pay(service)
    worker, decider = program("cron"), program("home")

    with pytest.raises(Forbidden, match="needs 1 senior and 1 finance"):
        decider.approve(ask, by="jun")
    assert decider.approve(ask, by="ada").open
    with pytest.raises(NotApproved):
        worker.begin(ask)
    other = pay(worker, 8_000)
    assert str(other.needs) == "1 senior and 1 finance"
    assert other.content.ruled.version == ask.content.ruled.version == service.policy.version
    assert decider.approve(ask, by="fin").decision
    assert worker.begin(ask).args == {"amount": 9_000}


def test_a_desk_that_exists_has_the_file_that_is_found_put_in_force_once(
    program: Program, log: pytest.LogCaptureFixture
) -> None:
    shop = program("shop", SENIOR)
    assert shop.policies.in_force is None, "whoever looks puts nothing in force"
    assert "pay" in shop.policy.tiers
    assert shop.policies.in_force is None

    pay(shop)
    pay(shop, 1)
    pay(program("shop"), 2)

    (found,) = shop.policies.log()
    assert (found.number, found.kind, found.text) == (1, "file", SENIOR)
    assert found.source.endswith("shop/sayso.toml")
    assert (found.by.kind, found.account) == ("policy", "sam@till")
    (record,) = log.records
    assert "as number 1 on this desk" in record.getMessage()


def test_a_desk_without_any_policy_has_none_put_in_force(program: Program) -> None:
    desk = program("shop")
    pay(desk)

    assert desk.policies.log() == []
    assert law_of(desk.store).mark == b""


def test_what_the_file_says_of_the_desk_and_the_service_is_kept_out_of_the_journal(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = '[desk]\nurl = "postgresql://sam:hunter2@db/shop"\n'
    serve = "[serve.oidc]\nclient_secret = 'hunter2'\n"
    desk = program("shop", f"{secret}{JUNIOR}{serve}")
    pay(desk)

    found = desk.policies.show()
    assert "hunter2" not in str(found)
    assert found.text == f"\n\n{JUNIOR}\n\n"
    assert desk.policies.read(found).rules[-1].line == 4


# --- alone: the file; in a team: publish -------------------------------------------------------


def test_alone_a_change_of_the_file_is_in_force_for_the_next_ruling_e54(
    program: Program, log: pytest.LogCaptureFixture
) -> None:
    desk = program("shop", SENIOR)
    elsewhere = program("home")
    assert str(pay(desk).needs) == "1 senior and 1 finance"

    Path(desk.law.own.path or "").write_text(JUNIOR)

    assert str(pay(desk, 2).needs) == "1 junior"
    assert str(pay(elsewhere, 3).needs) == "1 junior"
    assert [one.text for one in desk.policies.log()] == [JUNIOR, SENIOR]
    assert len(log.records) == 2


def test_in_a_team_a_change_of_the_file_counts_once_it_is_published_e54(
    program: Program, log: pytest.LogCaptureFixture
) -> None:
    desk = program("shop", SENIOR)
    staff(desk)
    pay(desk)
    log.clear()

    Path(desk.law.own.path or "").write_text(JUNIOR)
    assert str(pay(desk, 2).needs) == "1 senior and 1 finance"
    again = program("shop")
    assert str(pay(again, 3).needs) == "1 senior and 1 finance"
    (record,) = log.records
    assert "is not the policy in force on this desk" in record.getMessage()
    assert "sayso policy publish" in record.getMessage()
    assert record.getMessage() == again.law.differing()

    found = again.policies.publish(note="juniors may", by="ada")
    assert (found.number, found.by.id, found.note) == (2, "ada", "juniors may")
    assert str(pay(desk, 4).needs) == "1 junior"
    assert again.law.differing() is None


def test_a_team_looks_at_no_file_while_it_rules(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = program("shop", SENIOR)
    staff(desk)
    pay(desk)
    looked: list[object] = []
    stat = __import__("os").stat

    def look(*given: Any, **more: Any) -> Any:
        looked.append(given)
        return stat(*given, **more)

    monkeypatch.setattr("os.stat", look)

    ask = pay(desk, 2)
    desk.approve(ask, by="ada")
    desk.approve(ask, by="fin")
    desk.begin(ask)

    assert [given for given in looked if "sayso.toml" in str(given)] == []


def test_another_file_counts_for_nothing_also_alone_and_it_is_said(
    program: Program, log: pytest.LogCaptureFixture
) -> None:
    pay(program("shop", SENIOR))
    other = program("other", FREE)

    assert str(pay(other, 2).needs) == "1 senior and 1 finance"
    assert "other/sayso.toml is not the policy in force" in log.records[-1].getMessage()


@pytest.mark.parametrize("listens", [False, True])
def test_a_program_hears_once_that_its_file_is_not_in_force_e48(
    program: Program, place: Place, tmp_path: Path, listens: bool
) -> None:
    """On stderr, or in its log if it listens to one. A log that nobody kept was not a word."""
    pay(program("shop", SENIOR))
    code = (
        "import logging, sys; from sayso import Desk\n"
        "if sys.argv[2:]: logging.basicConfig(format='LOG %(message)s')\n"
        "desk = Desk(sys.argv[1])\n"
        "for number in range(3): desk.open('pay', {'amount': number})\n"
    )
    here = tmp_path / "other"
    here.mkdir()
    (here / "sayso.toml").write_text(FREE)
    (here / "app.py").write_text(code)

    command = [sys.executable, "app.py", place.url, *(["listens"] if listens else [])]
    ended = run(command, cwd=here, env=os.environ)

    assert ended.returncode == 0, ended.stderr
    said = [line for line in ended.stderr.splitlines() if "not the policy in force" in line]
    (line,) = said
    assert line.startswith("LOG " if listens else "sayso: ")
    assert "sayso policy diff" in line


def test_a_roll_back_stays_although_the_file_says_something_else(program: Program) -> None:
    desk = program("shop", SENIOR)
    pay(desk)
    file = Path(desk.law.own.path or "")
    file.write_text(FREE)
    pay(desk, 2)

    desk.policies.rollback(1, note="that was a mistake")

    for one in (desk, program("shop"), program("home")):
        assert str(pay(one, 3 + len(one.policies.log())).needs) == "1 senior and 1 finance"
    found = desk.policies.show()
    assert (found.number, found.restores, found.text) == (3, 1, SENIOR)
    file.write_text(JUNIOR)
    assert str(pay(desk, 9).needs) == "1 junior", "a change since then is one"


def test_a_roll_back_to_nothing_is_the_built_in_policy(program: Program) -> None:
    desk = program("shop", SENIOR)
    pay(desk)

    desk.policies.rollback(0)

    assert str(pay(desk, 2).needs) == "1 reviewer"
    assert desk.law.law.kind == "default"


def test_an_emptied_file_is_no_weaker_policy(program: Program) -> None:
    desk = program("shop", SENIOR)
    pay(desk)

    Path(desk.law.own.path or "").write_text("")

    assert str(pay(desk, 2).needs) == "1 senior and 1 finance"
    assert desk.law.law.trouble


# --- who may, and what ------------------------------------------------------------------------


def test_only_administrators_put_a_policy_in_force_where_there_are_any(program: Program) -> None:
    desk = program("shop", SENIOR)
    staff(desk)

    with pytest.raises(Forbidden, match=r"jun is no administrator.*here: ada"):
        desk.policies.publish(FREE, by="jun")
    with pytest.raises(Exception, match="by=NAME"):
        desk.policies.publish(FREE)
    assert desk.policies.publish(FREE, by="ada").by.id == "ada"


def test_an_administrator_undoes_a_policy_that_denies_everything(program: Program) -> None:
    desk = program("shop", SENIOR)
    staff(desk)
    pay(desk)
    desk.policies.publish(NEVER, by="ada")
    with pytest.raises(Denied):
        pay(desk, 2)

    desk.policies.rollback(1, by="ada")

    assert str(pay(desk, 2).needs) == "1 senior and 1 finance"


def test_what_the_people_could_never_do_is_not_put_in_force_e21(program: Program) -> None:
    desk = program("shop")
    staff(desk)
    pay(desk)
    wants = '[tools]\npay = "pay"\n[tiers.pay]\nneeds = ["3 king"]\n'

    with pytest.raises(BadPolicy, match="king"):
        desk.policies.publish(wants, by="ada")
    with pytest.raises(BadPolicy, match="Did you mean"):
        desk.policies.publish("[rulez]\n", by="ada")
    assert desk.policies.log() == []


def test_a_policy_that_was_compared_with_another_one_is_not_put_over_a_third(
    program: Program,
) -> None:
    desk = program("shop")
    first = desk.policies.publish(JUNIOR)
    desk.policies.publish(SENIOR, over=first.number)

    with pytest.raises(Conflict, match="Version 2 of the policy is in force by now"):
        desk.policies.publish(FREE, over=first.number)
    assert len(desk.policies.log()) == 2


def test_versions_are_named_by_number_or_by_their_digest(program: Program) -> None:
    desk = program("shop")
    one, two = desk.policies.publish(JUNIOR), desk.policies.publish(SENIOR)

    assert desk.policies.show() == desk.policies.show(2) == two
    assert desk.policies.show("1") == desk.policies.show(str(one.digest)[:6]) == one
    for nothing in (3, "x", "0", "99999999999"):
        with pytest.raises(BadValue, match=r"There are 2: 1 to 2.*sayso policy log"):
            desk.policies.show(nothing)


def test_where_there_is_no_policy_there_is_none_to_put_in_force(program: Program) -> None:
    with pytest.raises(Misuse, match="sayso policy publish FILE"):
        program("shop").policies.publish()


def test_the_difference_is_said_in_words(program: Program) -> None:
    desk = program("shop", SENIOR)
    pay(desk)

    said = {change.sentence for change in desk.policies.diff(_file(desk, JUNIOR))}
    assert any(
        one.startswith("Changed: the rule 'tools.pay'. Before: For every call of pay: it belongs")
        for one in said
    )
    assert any(
        one.startswith("Gone: the tier pay. It says: ask 1 senior and 1 finance") for one in said
    )
    assert desk.policies.diff(1, 1) == ()
    assert desk.policies.diff(0, 1)[-1].sort == "new"


def _file(desk: Desk, text: str) -> Path:
    file = Path(desk.law.own.path or "").with_name("new.toml")
    file.write_text(text)
    return file


# --- code --------------------------------------------------------------------------------------


PAY = read('[tools.pay]\nargs = { amount = "number" }\n').declared


def coded(limit: int, name: str | None = "shop rules") -> Policy:
    small = Rule(name="small", asked=lambda call: call.args["amount"] <= limit, tier="low")
    return Policy(name=name, rules=(small,), declared=PAY)


def test_a_policy_in_code_is_known_by_name_and_digest(program: Program) -> None:
    desk = program("shop", policy=coded(10))
    assert pay(desk, 1).decision, "it runs alone"
    assert pay(desk, 20).open

    (found,) = desk.policies.log()
    assert (found.kind, found.name, found.text) == ("code", "shop rules", None)
    assert pay(program("cron", policy=coded(10)), 21).open
    assert len(desk.policies.log()) == 1, "the same code is the same policy"
    ask = pay(desk, 22)
    assert ask.content.ruled.version == found.digest == coded_digest(10)


@pytest.mark.parametrize("of", ["the default", "a text", "a text alone"])
def test_a_policy_that_was_read_and_then_changed_in_code_is_code(program: Program, of: str) -> None:
    """Its text does not say what it does: whoever read that would rule by another policy."""
    read_one = {
        "the default": default_policy(),
        "a text": read(FREE, source="law.toml", default=default_policy()),
        "a text alone": read(NEVER, source="law.toml"),
    }[of]
    desk = program("shop", policy=replace(read_one, rules=coded(10).rules, declared=PAY))

    assert pay(desk, 1).decision
    assert pay(desk, 20).open
    (found,) = desk.policies.log()
    assert (found.kind, found.text) == ("code", None)


def test_a_policy_that_was_read_is_published_as_its_text(program: Program) -> None:
    desk = program("shop", policy=read(FREE, source="law.toml", default=default_policy()))

    assert pay(desk, 1).decision
    (found,) = desk.policies.log()
    assert (found.kind, found.text) == ("file", FREE)
    assert pay(program("cron"), 2).decision


def coded_digest(limit: int) -> str:
    from sayso.policy.digests import digest_of

    return digest_of(coded(limit))


def test_a_program_without_the_code_in_force_rules_nothing_and_says_what_it_needs(
    program: Program,
) -> None:
    shop = program("shop", policy=coded(10))
    staff(shop)
    ask = pay(shop, 20)
    for other in (program("cron"), program("home", SENIOR), program("x", policy=coded(11))):
        with pytest.raises(BadPolicy, match=r"'shop rules'.*Desk\(policy=\.\.\.\)"):
            pay(other, 1)
        with pytest.raises(BadPolicy, match="version 1 of the policy in force"):
            other.approve(ask, by="ada")
    assert len(shop.policies.log()) == 1

    assert not other.reject(ask, by="ada").open, "a no is always possible"


def test_alone_code_that_was_changed_is_put_in_force_by_its_next_start(program: Program) -> None:
    before = program("shop", policy=coded(10))
    pay(before, 1)
    after = program("shop", policy=coded(100))

    assert pay(after, 50).decision
    assert len(after.policies.log()) == 2
    with pytest.raises(BadPolicy, match="version 2"):
        pay(before, 2)


def test_a_published_file_replaces_code_for_every_program(program: Program) -> None:
    shop = program("shop", policy=coded(10))
    pay(shop, 1)
    shop.policies.publish(JUNIOR)

    assert str(pay(shop, 2).needs) == "1 junior"
    assert str(pay(program("cron"), 3).needs) == "1 junior"


# --- what cannot be read -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "file", "text": "[from_the_future]\nx = 1\n", "digest": "abc"},
        {"kind": "oracle", "digest": "abc"},
        {"kind": "file"},
    ],
)
def test_nothing_is_ruled_by_a_policy_that_newer_code_wrote(
    program: Program, said: dict[str, Any]
) -> None:
    desk = program("shop", SENIOR)
    staff(desk)
    ask = pay(desk)
    zoe = Actor("person", "zoe")
    law = law_of(desk.store)
    assert add_to_law(desk.store, law, PUBLISHED, actor=zoe, origin=desk.origin, **said)

    for one in (desk, program("home")):
        with pytest.raises(BadPolicy, match=r"zoe put version 2 .*Upgrade it"):
            pay(one, 2)
        with pytest.raises(BadPolicy):
            one.approve(ask, by="ada")
        assert one.law.broken
    desk.policies.rollback(1, by="ada")
    assert pay(desk, 2).open
    assert desk.approve(ask, by="ada").open


def test_nothing_is_ruled_by_a_law_that_newer_code_wrote(program: Program) -> None:
    desk = program("shop", SENIOR)
    pay(desk)
    zoe = Actor("person", "zoe")
    add_to_law(desk.store, law_of(desk.store), "tool.invented", actor=zoe, origin=desk.origin)

    with pytest.raises(BadPolicy, match=r"'tool\.invented'.*Upgrade"):
        pay(desk, 2)
    with pytest.raises(BadPolicy, match="Upgrade"):
        desk.policies.publish(JUNIOR)


def test_a_law_that_was_changed_by_hand_rules_nothing(program: Program, place: Place) -> None:
    desk = program("shop", SENIOR)
    ask = pay(desk)
    place.sql("update events set actor = 'person:eve' where stream = 'law'")

    with pytest.raises(Tampered, match="nothing is ruled"):
        program("home").approve(ask)
    assert not desk.verify()


# --- a desk that is another one by now ---------------------------------------------------------


def test_a_desk_from_before_the_policy_is_ruled_by_what_it_had_then(
    program: Program, place: Place
) -> None:
    """A restored desk can reach the same number of versions with other content."""
    desk = program("shop")
    desk.policies.publish(JUNIOR)
    assert str(pay(desk, 1).needs) == "1 junior"
    place.sql("delete from events where stream = 'law'")  # as a restore of an older backup does
    other = program("home")
    other.policies.publish(SENIOR)

    assert str(pay(desk, 2).needs) == "1 senior and 1 finance"


def test_a_desk_from_before_any_policy_has_it_put_in_force_again(
    program: Program, place: Place
) -> None:
    desk = program("shop", JUNIOR)
    pay(desk, 1)
    place.sql("delete from events where stream = 'law'")

    assert str(pay(program("shop"), 2).needs) == "1 junior"
    assert len(desk.policies.log()) == 1


# --- under way ---------------------------------------------------------------------------------


def test_a_refusal_by_a_policy_of_before_is_none(program: Program) -> None:
    """A program that only meets refusals writes nothing that could tell it of another policy."""
    desk, admin = program("shop"), program("home")
    desk.policies.publish(NEVER)
    with pytest.raises(Denied):
        pay(desk)

    admin.policies.publish(JUNIOR)

    assert str(pay(desk).needs) == "1 junior"
    admin.policies.publish(NEVER)
    with pytest.raises(Denied):
        pay(desk, 2)


def test_a_yes_counts_for_the_policy_of_its_moment(program: Program) -> None:
    desk, admin = program("shop"), program("home")
    admin.policies.publish(JUNIOR)
    staff(desk)
    ask = pay(desk)
    admin.policies.publish(SENIOR, by="ada")

    with pytest.raises(AskChanged, match="1 senior and 1 finance"):
        desk.approve(ask, by="jun")
    assert "1 finance" in str(desk.get(ask.id).needs)


def test_what_was_approved_is_held_against_the_policy_of_now(program: Program) -> None:
    desk, admin = program("shop"), program("home")
    admin.policies.publish(JUNIOR)
    staff(desk)
    ask = desk.approve(pay(desk), by="jun")
    admin.policies.publish(SENIOR, by="ada")

    with pytest.raises(NotApproved, match="wants more by now"):
        desk.begin(ask)


def strangers(desk: Desk) -> list[str]:
    """Return the asks that stand in the journal under another version than the one they name."""
    found, version = [], None
    for event in desk.events():
        said = event.payload or {}
        if event.kind == PUBLISHED:
            version = said["digest"]
        elif event.kind == "ask.opened" and said["content"]["ruling"]["version"] != version:
            found.append(event.stream)
    return found


def rulings(program: Program, count: int, publish: int) -> None:
    """Rule from several programs while the policy changes; each ruling goes by exactly one version."""
    admin = program("admin")
    texts = [FREE + ANY_PACE, JUNIOR + ANY_PACE]
    admin.policies.publish(texts[0])
    desks = [program(f"worker{number}") for number in range(3)]
    together, done = Barrier(len(desks) + 1), Event()
    asks: list[Any] = []

    def work(number: int) -> None:
        together.wait()
        asks.extend(pay(desks[number], 10 * each + number) for each in range(count))

    def change() -> None:
        together.wait()
        for number in range(1, publish + 1):
            admin.policies.publish(texts[number % 2])
            if done.is_set():
                return

    threads = [Thread(target=work, args=(number,)) for number in range(len(desks))]
    changing = Thread(target=change)
    for thread in (*threads, changing):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    changing.join()

    assert len(asks) == 3 * count
    versions = {one.digest: one.text for one in admin.policies.log()}
    for ask in asks:
        free = versions[ask.content.ruled.version] == texts[0]
        assert bool(ask.decision) is free
        assert str(ask.needs) == ("1 reviewer" if free else "1 junior")
    if admin.url.startswith("sqlite"):  # on PostgreSQL one may stand right behind a publication
        assert strangers(admin) == []
    last = admin.policies.show().text
    assert all(bool(pay(desk, 99_999).decision) is (last == texts[0]) for desk in desks)
    assert admin.verify()


def test_each_ruling_goes_by_exactly_one_version_while_others_are_published(
    program: Program,
) -> None:
    rulings(program, 25, 15)


@pytest.mark.soak
def test_each_ruling_goes_by_exactly_one_version_for_long(program: Program) -> None:
    rulings(program, 1_000, 10_000)


# --- what another policy would have said -------------------------------------------------------


def test_asks_of_late_are_ruled_anew_by_another_policy(program: Program) -> None:
    desk = program("shop", '[[rules]]\nname = "pay"\ntool = "pay"\neffect = "ask"\n')
    small, big = pay(desk, 5), pay(desk, 50)
    desk.open("other", {})
    stricter = desk.policies.proposed(
        '[[rules]]\nname = "pay"\ntool = "pay"\neffect = "ask"\n'
        '[[rules]]\nname = "big"\nwhen = "has(args.amount) && args.amount > 10"\neffect = "deny"\n'
    ).policy

    found = backtest(desk.store, desk.policy, stricter)

    assert found.looked_at == 3
    (one,) = found.otherwise
    assert (one.ask, one.before.effect, one.after.effect) == (big.id, "ask", "deny")
    assert backtest(desk.store, desk.policy, desk.policy).otherwise == ()
    assert backtest(desk.store, desk.policy, stricter, last=1).looked_at == 1
    assert small.open
