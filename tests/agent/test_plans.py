"""A person reviews the plan before the first action, and what they say is what is followed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import sayso
from sayso import Agent, DecisionStep, Desk, PlanStep, Run, ScriptedModel
from sayso.agent import Reply, call
from sayso.errors import InvalidEdit
from sayso.testing import FakeClock
from tests.agents import (
    PLANNING,
    RAN,
    Messages,
    Watched,
    asked_model,
    following,
    plan_in,
    results,
    shown,
)
from tests.runs.people import answered, approved, ask_of, begun, carried_on, edited, rejected


def search(what: str) -> str:
    """Search for something."""
    RAN.append(f"search {what}")
    return f"found {what}"


def write(what: str) -> str:
    """Write something up."""
    RAN.append(f"write {what}")
    return f"wrote {what}"


def send(what: str) -> str:
    """Send something out."""
    RAN.append(f"send {what}")
    return f"sent {what}"


TOOLS = [search, write, send]
PLAN: list[dict[str, Any]] = [
    {"title": "News", "tool": "search"},
    {"title": "Summary", "tool": "write", "detail": "Three lines."},
    {"title": "Mail", "tool": "send"},
]


def planner(*plans: Any, every: int = 9, **more: Any) -> tuple[Agent, Watched]:
    model = Watched(following(*(plans or (PLAN,))))
    return Agent("growth", model, TOOLS, plan_every=every, **more), model


# --- before the first action ---------------------------------------------------------------------


def test_the_plan_is_reviewed_before_the_first_action(desk: Desk) -> None:
    agent, model = planner()

    run = begun(desk, agent, "Tell the customers")

    ask = ask_of(run)
    assert (ask.kind, ask.title) == ("plan", "Plan of growth: Tell the customers")
    assert ask.args == {"steps": PLAN}
    assert ask.allow == ("approve", "edit", "reject", "respond")
    assert (run.status, RAN, len(model.prompts)) == ("waiting", [], 1)


def test_only_a_plan_can_be_handed_in_where_one_is_wanted(local: Desk) -> None:
    agent, model = planner()

    begun(local, agent, "Tell the customers")

    (prompt,) = model.prompts
    assert prompt.must == "plan"
    assert [spec.name for spec in prompt.tools] == ["plan"]
    assert prompt.tools[0].schema["properties"]["steps"]["items"]["properties"]["tool"] == {
        "enum": ["search", "write", "send"]
    }


def test_an_approved_plan_is_followed(desk: Desk) -> None:
    agent, model = planner()
    run = begun(desk, agent, "Tell the customers")

    approved(desk, run)

    assert run.output == "found News | wrote Summary | sent Mail"
    assert RAN == ["search News", "write Summary", "send Mail"]
    told = [message.text for message in model.last if message.role == "user"]
    assert told[1] == (
        "sam approved this plan. Follow it:\n"
        "1. News (with search)\n2. Summary (with write)\n   Three lines.\n3. Mail (with send)"
    )


# --- what a person can do to it ------------------------------------------------------------------

MAIL, NEWS, SUMMARY = PLAN[2], PLAN[0], PLAN[1]


@pytest.mark.parametrize(
    ("steps", "ran"),
    [
        pytest.param([NEWS, SUMMARY], ["search News", "write Summary"], id="drop"),
        pytest.param(
            [SUMMARY, NEWS, MAIL], ["write Summary", "search News", "send Mail"], id="reorder"
        ),
        pytest.param(
            [NEWS, {"title": "Prices", "tool": "search"}, SUMMARY, MAIL],
            ["search News", "search Prices", "write Summary", "send Mail"],
            id="add",
        ),
        pytest.param(
            [{"title": "Weather", "tool": "search"}, MAIL],
            ["search Weather", "send Mail"],
            id="change",
        ),
        pytest.param(["Only think about it"], [], id="titles-alone"),
    ],
)
def test_the_modified_plan_is_what_is_followed(
    desk: Desk, steps: list[Any], ran: list[str]
) -> None:
    agent, model = planner()
    run = begun(desk, agent, "Tell the customers")

    edited(desk, run, steps)

    assert (run.status, RAN) == ("done", ran)
    assert "sam changed and approved this plan." in repr(model.last)
    (plan,) = [step for step in run.memory if isinstance(step, PlanStep)]
    titles = [step if isinstance(step, str) else step["title"] for step in steps]
    assert [step["title"] for step in plan.plan] == titles


def test_the_modified_plan_is_in_every_later_prompt_and_every_re_plan(desk: Desk) -> None:
    agent, model = planner(PLAN, [MAIL], every=2)
    run = begun(desk, agent, "Tell the customers")
    edited(desk, run, [{"title": "Weather", "tool": "search"}, SUMMARY, MAIL])
    assert RAN == ["search Weather", "write Summary"]

    # The second plan is made knowing the first as the person left it, and how far it came.
    replan = model.prompts[-1]
    assert replan.must == "plan"
    asked = replan.messages[-1].text
    assert "sam changed it: keep to what they changed" in asked
    assert "1. Weather (with search, done)\n2. Summary (with write, done)" in asked
    assert "3. Mail (with send)" in asked
    assert "News" not in repr(replan.messages)
    approved(desk, run)

    assert (run.status, RAN[-1]) == ("done", "send Mail")
    assert all("Weather" in repr(prompt.messages) for prompt in model.prompts[1:])
    assert all("News" not in repr(prompt.messages) for prompt in model.prompts[1:])
    assert [ask.kind for ask in run.asks] == ["plan", "plan"]


def test_every_re_plan_is_reviewed_before_it_is_followed(local: Desk) -> None:
    agent, model = planner(PLAN, [SUMMARY], [MAIL], every=1)
    run = begun(local, agent, "Tell the customers")
    done: list[list[str]] = []
    for _ in range(3):
        done.append(list(RAN))
        approved(local, run)

    assert done == [[], ["search News"], ["search News", "write Summary"]]
    assert RAN == ["search News", "write Summary", "send Mail"]
    assert [prompt.must for prompt in model.prompts[::2]] == ["plan"] * 4
    assert run.status == "waiting", "an answer is a step too: it plans once more"


def test_a_second_edit_goes_on_from_the_first(local: Desk) -> None:
    agent, model = planner(PLAN, PLAN, every=1)
    run = begun(local, agent, "Tell the customers")
    edited(local, run, [{"title": "Weather", "tool": "search"}])
    edited(local, run, [{"title": "Letter", "tool": "write"}])

    assert RAN == ["search Weather", "write Letter"]
    assert "1. Letter (with write, done)" in model.prompts[-1].last
    assert plan_in(model.last) == [("Letter", "write")]


def test_plan_again_but(desk: Desk) -> None:
    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        if tools != PLANNING:
            return following()(messages, tools)
        wants = "without sending" in messages[-1].text
        return [NEWS, SUMMARY] if wants else PLAN

    model = Watched(script)
    run = begun(desk, Agent("growth", model, TOOLS, plan_every=9), "Tell the customers")

    answered(desk, run, "plan again, but without sending anything")

    assert RAN == []
    assert ask_of(run).args == {"steps": [NEWS, SUMMARY]}
    again = model.prompts[1].messages
    assert "1. News (with search)" in again[-2].text, "the model reads the plan it made"
    assert "The person wants another plan: plan again, but without sending" in again[-1].text
    approved(desk, run)
    assert RAN == ["search News", "write Summary"]
    decided = [step.decision.verdict for step in run.memory if isinstance(step, DecisionStep)]
    assert decided == ["respond", "approve"]


# --- bad edits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([], "at least 1"),
        (["x"] * 201, "at most 200"),
        (["x"] * 10_000, "at most 200"),
        ([""], "must not be blank"),
        (["   "], "must not be blank"),
        ([{"title": "  "}], "must not be blank"),
        ([{"title": "News", "tool": "telephone"}], "steps[0].tool"),
        ([{"title": "News", "needs_approval": "perhaps"}], "steps[0].needs_approval"),
        ([{"tool": "search"}], "steps[0].title"),
        ([{"title": "News", "hurry": 1}], "steps[0].hurry"),
        ("News", "must be a list"),
        ([7], "steps[0]"),
        ([None], "steps[0]"),
        (None, "must be a list"),
    ],
)
def test_a_bad_edit_is_refused_with_a_clear_word_and_the_run_stays(
    desk: Desk, steps: Any, why: str
) -> None:
    agent, model = planner()
    run = begun(desk, agent, "Tell the customers")

    with pytest.raises(InvalidEdit) as refused:
        desk.edit(ask_of(run), steps)

    assert why in str(refused.value)
    assert (run.status, RAN, len(model.prompts)) == ("waiting", [], 1)
    assert ask_of(run).args == {"steps": PLAN}
    assert approved(desk, run).status == "done", "and it can still be approved"


# --- steps that need approval --------------------------------------------------------------------

CAREFUL = [NEWS, SUMMARY, {**MAIL, "needs_approval": True}]


def test_a_step_that_says_so_is_approved_when_it_comes_to_it(desk: Desk) -> None:
    agent, _ = planner(CAREFUL)
    run = begun(desk, agent, "Tell the customers")

    approved(desk, run)
    assert RAN == ["search News", "write Summary"]
    ask = ask_of(run)
    assert (ask.kind, ask.tool) == ("action", "send")
    assert "step 3 of the plan: Mail" in (ask.content.why or "")
    approved(desk, run)

    assert (run.status, RAN[-1]) == ("done", "send Mail")


def test_a_person_can_say_which_step_needs_approval(local: Desk) -> None:
    agent, _ = planner()
    run = begun(local, agent, "Tell the customers")

    edited(local, run, [{**NEWS, "needs_approval": True}, SUMMARY])

    assert (ask_of(run).tool, RAN) == ("search", [])
    approved(local, run)
    assert RAN == ["search News", "write Summary"]


def test_a_person_can_say_that_a_step_needs_none(local: Desk) -> None:
    agent, _ = planner(CAREFUL)
    run = begun(local, agent, "Tell the customers")

    local.edit(ask_of(run), PLAN)

    assert carried_on(local, run).status == "done"
    assert RAN == ["search News", "write Summary", "send Mail"]


def test_a_rejected_step_of_the_plan_is_not_done(local: Desk) -> None:
    agent, model = planner(CAREFUL)
    run = begun(local, agent, "Tell the customers")
    approved(local, run)

    rejected(local, run, "not to everybody", what="send")

    assert RAN == ["search News", "write Summary"]
    assert "not to everybody" in shown(model.last)[-1][2]


def deeds(*lines: Any, plan: list[Any]) -> Callable[[Messages, tuple[str, ...]], Any]:
    """A model that plans one thing and then does as it likes, line by line."""

    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        if tools == PLANNING:
            return plan
        read = results(messages)
        return lines[len(read)] if len(read) < len(lines) else " | ".join(read)

    return script


def one_mail(*lines: Any, plan: list[Any] | None = None) -> Agent:
    script = deeds(*lines, plan=plan or [{**MAIL, "needs_approval": True}])
    return Agent("growth", ScriptedModel(script), TOOLS, plan_every=99)


def test_a_yes_to_one_mail_is_no_yes_to_the_next(desk: Desk) -> None:
    run = begun(desk, one_mail(call("send", what="a"), call("send", what="b")), "Mail")
    approved(desk, run)
    approved(desk, run)
    assert RAN == ["send a"]

    assert ask_of(run).args == {"what": "b"}
    rejected(desk, run, "one is enough")

    assert (run.status, RAN) == ("done", ["send a"])


def test_a_yes_to_something_else_is_no_yes_to_the_step(local: Desk) -> None:
    plan = [{"title": "Check", "needs_approval": True}, {**MAIL, "needs_approval": True}]
    agent = one_mail(call("search", what="x"), call("send", what="a"), plan=plan)
    run = begun(local, agent, "Mail")
    approved(local, run)
    approved(local, run, "search")
    assert RAN == ["search x"]

    assert ask_of(run).tool == "send"
    local.reject(ask_of(run), "no")

    assert carried_on(local, run).status in ("done", "waiting")
    assert RAN == ["search x"]


def test_jumping_over_a_step_does_not_go_around_its_approval(local: Desk) -> None:
    plan = [{**NEWS, "needs_approval": True}, SUMMARY, MAIL]
    run = begun(local, one_mail(call("send", what="a"), plan=plan), "Mail")
    approved(local, run)

    ask = ask_of(run)
    assert (ask.tool, RAN) == ("send", [])
    assert "step 1 of the plan: News" in (ask.content.why or "")


def test_two_calls_of_one_turn_for_one_step_are_asked_for_both(local: Desk) -> None:
    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        if tools == PLANNING:
            return [{**MAIL, "needs_approval": True}]
        read = results(messages)
        return " | ".join(read) if read else [call("send", what="a"), call("send", what="b")]

    run = begun(local, Agent("growth", ScriptedModel(script), TOOLS, plan_every=99), "Mail")
    approved(local, run)

    assert sorted(ask.args["what"] for ask in run.state.pending) == ["a", "b"]
    assert RAN == []


def test_a_tool_that_returns_something_for_a_no_does_not_use_the_step_up(local: Desk) -> None:
    @sayso.tool(on_reject="left out")
    def post(what: str) -> str:
        RAN.append(f"post {what}")
        return f"posted {what}"

    plan = [{"title": "Post", "tool": "post", "needs_approval": True}]
    script = deeds(call("post", what="a"), call("post", what="b"), plan=plan)
    agent = Agent("growth", ScriptedModel(script), [post], plan_every=99)
    run = begun(local, agent, "Post")
    approved(local, run)
    rejected(local, run, "no")

    assert (ask_of(run).args, RAN) == ({"what": "b"}, [])
    assert run.state.progress == 0.0


def test_an_answer_waits_for_a_step_that_was_kept_for_a_person(desk: Desk) -> None:
    plan = [NEWS, {"title": "Check the figures", "needs_approval": True}]

    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        if tools == PLANNING:
            return plan
        if not results(messages):
            return call("search", what="News")
        wants = "not in euros" in messages[-1].text
        return "12 euros" if wants else "12 dollars"

    run = begun(desk, Agent("growth", ScriptedModel(script), TOOLS, plan_every=9), "How much?")
    approved(desk, run)

    ask = ask_of(run)
    assert ask.title == "Is this the answer of growth?"
    assert "12 dollars" in (ask.content.facts or "")
    assert "Check the figures" in (ask.content.why or "")
    desk.reject(ask, "it is not in euros")
    carried_on(desk, run)
    assert "12 euros" in (ask_of(run).content.facts or "")
    approved(desk, run)

    assert run.output == "12 euros"


def test_a_gated_tool_asks_whatever_the_plan_says(local: Desk) -> None:
    agent, _ = planner(PLAN, confirm=["send"])
    run = begun(local, agent, "Tell the customers")
    approved(local, run)

    assert (ask_of(run).tool, RAN) == ("send", ["search News", "write Summary"])


# --- progress ------------------------------------------------------------------------------------


def test_progress_follows_the_plan(desk: Desk) -> None:
    agent, _ = planner([{**step, "needs_approval": True} for step in PLAN])
    run = begun(desk, agent, "Tell the customers")
    seen: list[float | None] = [run.state.progress]
    for _ in range(4):
        approved(desk, run)
        seen.append(run.state.progress)

    assert seen == [None, 0.0, pytest.approx(1 / 3), pytest.approx(2 / 3), 1.0]
    assert run.status == "done"


def test_a_call_that_the_plan_does_not_speak_of_is_no_progress(local: Desk) -> None:
    agent = one_mail(call("search", what="x"), call("search", what="y"), call("send", what="a"))
    run = begun(local, agent, "Mail")
    approved(local, run)

    assert (ask_of(run).tool, run.state.progress) == ("send", 0.0)


def test_a_failed_call_is_no_progress(local: Desk) -> None:
    def fetch(what: str) -> str:
        raise ConnectionError("away")

    plan = [{"title": "Fetch", "tool": "fetch"}, {**MAIL, "needs_approval": True}]
    script = deeds(call("fetch", what="x"), call("send", what="a"), plan=plan)
    agent = Agent("growth", ScriptedModel(script), [fetch, send], plan_every=99)
    run = begun(local, agent, "Mail")
    approved(local, run)

    assert (ask_of(run).tool, run.state.progress) == ("send", 0.0)


def test_a_new_plan_starts_at_nothing(local: Desk) -> None:
    agent, _ = planner(PLAN, [MAIL], every=2)
    run = begun(local, agent, "Tell the customers")
    approved(local, run)
    assert run.state.progress == pytest.approx(2 / 3)
    edited(local, run, [{**MAIL, "needs_approval": True}])

    assert run.state.progress == 0.0


# --- plans that models make ----------------------------------------------------------------------


def handing_in(reply: Any) -> Agent:
    """A model that hands in this, whatever it is told."""

    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        return reply if tools == PLANNING else "done"

    return Agent("growth", ScriptedModel(script), TOOLS, plan_every=9)


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("1. Look\n2. Write\n10. Send", ["Look", "Write", "Send"]),
        ("My plan:\n\n- Look\n* Write\n- Send it", ["Look", "Write", "Send it"]),
        ("1. Look. Then look again.\n2. Send", ["Look. Then look again.", "Send"]),
    ],
)
def test_a_plan_that_came_as_text_is_read_line_by_line(
    local: Desk, text: str, titles: list[str]
) -> None:
    run = begun(local, handing_in(text), "x")

    assert [step["title"] for step in ask_of(run).args["steps"]] == titles


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ([], "There are no steps in it"),
        (["x"] * 500, "It has 500 steps"),
        (["x"] * 51, "nobody can review more than 50"),
        ("I would rather not plan.", "There are no steps in it"),
        (call("plan"), "There are no steps in it"),
        (call("plan", steps="Look"), "There are no steps in it"),
        (call("plan", steps=[{"title": ""}]), "Step 1 has no title"),
        (call("plan", steps=["Look", 7]), "Step 2 has no title"),
        (call("plan", steps=[{"title": "Look", "tool": "telescope"}]), "'telescope'"),
        (call("plan", steps=[{"title": "Look", "tool": ["send"]}]), "Step 1 names the tool"),
        (call("send", what="at once"), "There are no steps in it"),
    ],
)
def test_a_plan_that_cannot_be_shown_is_sent_back_three_times_and_then_parked(
    desk: Desk, reply: Any, why: str
) -> None:
    run = begun(desk, handing_in(reply), "x")

    assert (run.status, RAN, asked_model(run)) == ("parked", [], 3)
    assert why in (run.error or "")
    assert run.asks == []


def test_a_plan_that_is_sent_back_says_why_and_the_next_one_is_taken(local: Desk) -> None:
    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        if tools != PLANNING:
            return "done"
        return PLAN if "500 steps" in messages[-1].text else ["x"] * 500

    run = begun(local, Agent("growth", ScriptedModel(script), TOOLS, plan_every=9), "x")

    assert ask_of(run).args == {"steps": PLAN}


def test_calls_beside_a_plan_are_not_made_and_words_beside_it_are_shown(local: Desk) -> None:
    made = (call("send", what="now"), call("plan", steps=["Look"]))

    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        return Reply(text="It is Monday.", calls=made) if tools == PLANNING else "done"

    run = begun(local, Agent("growth", ScriptedModel(script), TOOLS, plan_every=9), "x")
    assert ask_of(run).content.why == "It is Monday."

    approved(local, run)
    assert (run.status, RAN) == ("done", [])


def test_an_agent_without_tools_can_plan(local: Desk) -> None:
    agent = Agent("thinker", ScriptedModel(following(["Think", "Think more"])), plan_every=3)
    run = begun(local, agent, "Why?")

    assert approved(local, run).output == "nothing was to be done"


def test_the_plan_tool_is_not_there_when_it_is_time_to_act(local: Desk) -> None:
    script = deeds(call("plan", steps=["Another one"]), plan=PLAN)
    run = begun(local, Agent("growth", ScriptedModel(script), TOOLS, plan_every=99), "x")

    approved(local, run)

    assert "UnknownTool" in run.output
    assert [ask.kind for ask in run.asks] == ["plan"]


def plan_steps(run: Run) -> list[PlanStep]:
    return [step for step in run.memory if isinstance(step, PlanStep)]


def test_all_plans_of_a_run_stay_in_its_memory(desk: Desk, clock: FakeClock) -> None:
    agent, _ = planner(PLAN, [MAIL], every=2)
    run = begun(desk, agent, "Tell the customers")
    clock.advance(1)
    edited(desk, run, [SUMMARY, NEWS, MAIL])
    clock.advance(1)
    approved(desk, run)

    assert [step.plan for step in plan_steps(run)] == [[SUMMARY, NEWS, MAIL], [MAIL]]
    assert [step.status for step in plan_steps(run)] == ["decided", "decided"]
