"""Every page in its states, as a real service draws it: for what all pages keep to, and to look at.

    python -m tests.web.gallery FOLDER     writes the pages as files

`pages()` is name to HTML; the names are what reports are called.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import sayso
from sayso import Ask, Desk, File, Option
from sayso.agent import call
from sayso.store.contract import Lease
from sayso.web.guard import dress
from sayso.web.look import assets
from sayso.web.look.render import Page
from tests import hostile
from tests.keyed import LAW, earning, granted, law, locked, proposed, said
from tests.keyed import call as keyed
from tests.served import Served
from tests.together import until
from tests.web.inbox.browser import Tab, tab

EVIL = f"{hostile.ALL} <img src=x onerror=alert(1)> </form><script>alert(1)</script> {'A' * 90}"
LONG = "All work and no play makes Jack a dull boy. " * 120
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
REFUND = {
    "type": "object",
    "properties": {
        "amount": {"type": "number", "description": "Up to 5,000.00 per call", "maximum": 5000},
        "currency": {"enum": ["EUR", "USD"]},
        "mail": {"type": "boolean"},
        "message": {"type": "string", "maxLength": 2000},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["amount", "currency"],
}
NO_DROPS = '[[rules]]\nname = "no drops"\ntools = ["drop_*"]\neffect = "deny"\n'
STEERING = (
    *("/audit", "/policies", "/policies/write", "/policies/versions", "/policies/versions/1"),
    *("/policies/versions/0/rollback", "/tools", "/trust", "/insights", "/people"),
    *("/people/person/anna", "/people/person/anna/remove", "/people/sessions", "/people/tokens"),
    "/people/webhooks",
)
STEPS = [{"title": "Export it", "tool": "export"}, "Rewrite names", "Ask each owner", "Switch"]


class Shop:
    """A desk with people, whose agents ask for something of everything, and anna who looks at it."""

    def __init__(self, server: Served) -> None:
        self.server, self.desk = server, server.desk
        self.anna, self.ada = tab(server, "anna"), tab(server, "ada")
        self._orders = iter(range(1, 10_000))

    def refund(self, **terms: Any) -> Ask:
        args = {"amount": 1240.5, "currency": "EUR", "mail": True, "message": "Hi Ada,\n\nsorry."}
        given = {"schema": REFUND, "risk": "high", "why": "She was charged twice.", **terms}
        return self.desk.open("refund", {**args, "tags": [f"{next(self._orders)}"]}, **given)

    def put(self, verb: str, *given: Any, **terms: Any) -> Ask:
        return self.desk.put(getattr(self.desk.forms, verb)(*given, **terms).content)

    def at(self, ask: Ask, more: str = "") -> Tab:
        """Go to an ask, beside which the list of the others is empty."""
        return self.anna.go(f"/inbox/{ask.id}{more}?agent=nobody")

    def done(self, **how: Any) -> Ask:
        ask = self.desk.approve(self.refund(risk="medium"), by="anna", note="Half is right.")
        return self.desk.finish(self.desk.begin(ask), **how)

    def doubted(self) -> tuple[Ask, Ask]:
        ask = self.desk.approve(self.refund(risk="medium"), by="anna")
        doubt = self.desk.docket.doubt(ask.id, "silence", attempt=self.desk.begin(ask).attempt)
        assert doubt is not None
        return ask, doubt

    # --- of every kind, and with text that wants to be more ---

    def kinds(self, say: Callable[[str], str], **terms: Any) -> Iterator[Ask]:
        yield self.refund(
            title=say("Refund 1,240.50 EUR"), affects=say("Ada"), conflicts=[say("Paid")], **terms
        )
        facts = {say("page"): say("24")}
        yield self.put("plan", [say("Look"), {"title": say("Leap"), "detail": say("far")}], **terms)
        yield self.put("draft", say("We *missed* it.\n\n- sorry\n"), title=say("Reply"), **terms)
        yield self.put("question", say("Which region?"), str, **terms)
        options = [Option(say("Air")[:150], 450, say("Direct")), Option("Train", 95)]
        yield self.put("choose", say("Which way?"), options, own=True, **terms)
        yield self.put("notice", say("In the press"), facts, **terms)
        yield self.put("feedback", facts, task=say("Sum it up"), **terms)

    def asks(self) -> Iterator[tuple[str, str]]:
        for name, say in (("ask", str), ("hostile", lambda _: EVIL)):
            for ask in self.kinds(say, why=say("It is due"), agent="scribe"):
                yield f"{name}-{ask.kind}", self.at(ask).answer.text
        yield "ask-doubt", self.at(self.doubted()[1]).answer.text
        critical = self.desk.open("drop", {"statement": "DROP TABLE x"}, risk="critical")
        yield "ask-critical", self.at(critical).answer.text
        pays = [{"to": "Ada", "amount": 40, "currency": "EUR"}, {"to": "Mallory", "amount": 9999}]
        files = [
            File("p.png", PNG),
            File("photo.png", b"<html>"),
            File("<img src=x>.csv", b"x", "text/csv"),
        ]
        terms: dict[str, Any] = {"files": files, "reversible": False}
        rows = self.desk.open("pay", {"pays": pays}, **terms)
        yield "ask-rows-and-files", self.at(rows).answer.text
        yield "long", self.at(self.refund(title=f"Refund {LONG}", why=LONG)).answer.text

    # --- how an ask may stand ---

    def standing(self) -> Iterator[tuple[str, str]]:
        desk, at = self.desk, self.at
        yield "done", at(self.done(result={EVIL[:60]: EVIL})).answer.text
        yield "failed", at(self.done(error=EVIL)).answer.text
        yield "unknown", at(self.doubted()[0]).answer.text
        yield "settling", at(desk.approve(self.refund(), by="anna", hold="1h")).answer.text
        yield "withdrawn", at(desk.withdraw(self.refund(), EVIL)).answer.text
        late = self.refund(within="1m")
        desk.sweep(now=desk.store.now() + timedelta(minutes=2))
        yield "expired", at(late).answer.text
        content = desk.forms.action("pay", {"n": 1})
        gone = desk.put(content, lease=Lease("till", timedelta(microseconds=1)))
        yield "gone", at(gone).answer.text
        erased = desk.reject(self.refund(why=EVIL), by="ada")
        desk.erase(erased, "asked for")
        yield "erased", at(erased).answer.text
        voted = self.refund(needs=["2 senior"], risk=None)
        desk.approve(voted, by="anna", note=EVIL)
        yield "voted", at(voted).answer.text
        yield "barred", at(self.refund(requester="anna")).answer.text

    # --- what somebody has just done ---

    def doing(self) -> Iterator[tuple[str, str]]:
        desk, anna = self.desk, self.anna
        preview = self.at(self.refund()).page.all("button", name="do", value="preview")[0]
        yield "edited", anna.press(preview, **{"/amount": "620", "/message": EVIL}).answer.text
        self.at(self.refund())
        yield "invalid", anna.verdict("approve", **{"/amount": "lots", "note": EVIL}).answer.text
        self.at(self.refund())
        yield "json", anna.verdict("approve", tab="json", json='{"amount": 12').answer.text
        self.at(self.put("plan", STEPS))
        for do in ("up:2", "drop:0", "add"):
            anna.press(anna.page.one("button", name="do", value=do))
        yield "plan-edited", anna.answer.text
        form = desk.forms.draft(lambda guidance: f"We missed *{guidance}*.", title="Reply")
        again = form.outcome(desk.respond(desk.put(form.content), "the target", by="ada"))
        assert again is not None
        assert not isinstance(again, str)
        yield "draft-again", self.at(desk.put(again.content)).answer.text
        changed = self.refund(needs=["2 senior"], risk=None)
        self.at(changed)
        desk.edit(changed, {"amount": 20}, by="ada")
        yield "superseded", anna.verdict("approve", note=EVIL).answer.text
        taken = self.refund()
        self.at(taken)
        desk.reject(taken, by="ada")
        yield "conflict", anna.verdict("approve", **{"/amount": "30", "note": EVIL}).answer.text
        self.at(self.refund(risk="low"))
        yield "toast", anna.verdict("approve").answer.text

    def together(self) -> Iterator[tuple[str, str]]:
        anna = self.anna
        picks = [("pick", f"{ask.id} {ask.digest}") for ask in (self.low(), self.low())]
        anna.sent, anna.action = [*picks, ("verdict", "approve")], "/inbox/bulk"
        yield "bulk-confirm", anna.send().answer.text
        yield "bulk-result", anna.press(anna.page.one("button", name="sure")).answer.text
        tool = sayso.tool(risk="medium")(send)
        model = sayso.ScriptedModel([[call("send", to=EVIL), call("send", to="ben")]])
        run = self.desk.run(sayso.Agent("turner", model, tools=[tool]), EVIL, wait=False)
        first, second = run.state.pending
        yield "beside-a-run", self.at(first).answer.text
        yield "turn", self.at(first, "/turn").answer.text
        button = anna.page.one("form", class_="decide").all("button")[-1]
        verdicts = {f"verdict:{first.id}": "approve", f"verdict:{second.id}": "reject"}
        yield "turn-result", anna.press(button, **verdicts).answer.text
        for name, path in (("run", ""), ("run-memory", "?show=memory")):
            yield name, anna.go(f"/runs/{run.id}{path}").answer.text

    def low(self) -> Ask:
        return self.refund(risk="low")

    # --- everything else ---

    def others(self) -> Iterator[tuple[str, str]]:
        ask = self.refund()
        for name, path in {
            "queue": "/inbox",
            "queue-empty": "/inbox?agent=nobody",
            "queue-narrowed": f"/inbox?view=team&agent=scribe&q={'x' * 60}",
            "queue-decided": "/inbox?view=decided",
            "wrong-address": "/inbox?kind=bogus",
            "missing": "/inbox/a-0000",
            "help": "/help",
            "leave": "/leave?to=https://bank.example@evil.example/",
            "leave-nowhere": "/leave?to=javascript:alert(1)",
            "record": f"/audit/asks/{ask.id}",
            "overview": "/overview",
            "runs": "/runs",
        }.items():
            yield name, self.anna.go(path).answer.text
        stranger = Tab(self.server.client())
        yield "sign-in", stranger.go("/sign-in").answer.text
        stranger.sent, stranger.action = [("name", EVIL), ("password", "x")], "/sign-in"
        yield "sign-in-wrong", stranger.send().answer.text
        self.at(ask).client.delete("/api/v1/session")
        yield "signed-out", self.anna.verdict("reject", note=EVIL).answer.text

    def steering(self) -> Iterator[tuple[str, str]]:
        """What somebody looks at who looks after the desk."""
        desk, root = self.desk, tab(self.server, "root")
        desk.policies.publish(LAW + NO_DROPS, note="refunds need a senior", by="root")
        desk.webhooks.add("http://127.0.0.1:9/hook", "*", allow_private=True)
        desk.tokens.make("helper", owner="anna")
        wants, alone = proposed(desk, "note", by="anna"), granted(desk, "wire", by="anna")
        shut, earns = locked(desk, "note", by="anna", agent="late"), earning(desk, by="anna")
        said(desk, earns.id, "flagged", by="anna", flag="a-0000")
        ran = desk.finish(desk.begin(keyed(desk, "wire")), "paid")
        root.client.post("/audit/verification")
        until(lambda: root.client.get("/api/v1/audit/verification").json()["state"] == "done")
        root.client.post("/audit/seals")
        trying = "/policies?tool=refund&args=%7B%22amount%22%3A40%7D&risk=critical"
        for name, path in {
            **{path[1:].replace("/", "-"): path for path in STEERING},
            "audit-narrowed": "/audit?verdict=reject&since=7d",
            "policies-tried": f"{trying}&reversible=no",
            "policies-wrong": f"{trying}&confidence=nan",
            "policies-fields": "/policies?tool=refund&draw=1",
            "tool-declared": "/tools/tool?name=note",
            "tool-undeclared": "/tools/tool?name=pay",
            "tools-declare": "/tools/declare?name=pay",
            "trust-proposed": f"/trust/{wants.id}",
            "trust-granted": f"/trust/{alone.id}",
            "trust-locked": f"/trust/{shut.id}",
            "trust-flagged": f"/trust/{earns.id}",
            "trust-revoke": f"/trust/{alone.id}/revoke",
            "ask-grant": f"/inbox/{wants.grant_ask}",
            "ran-alone": f"/inbox/{ran.id}",
        }.items():
            yield name, root.go(path).answer.text


def send(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


@cache
def pages() -> dict[str, str]:
    with (
        TemporaryDirectory() as folder,
        Desk(f"sqlite:///{folder}/desk.db", agent="shop", policy=law()) as desk,
    ):
        desk.law.coin = lambda: 0.999
        desk.people.add("root", roles=["admin"])
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ben", roles=["junior"])
        desk.people.add("ada", roles=["senior", "security"])
        with Served(desk) as server:
            shop = Shop(server)
            rooms = (
                shop.asks,
                shop.standing,
                shop.doing,
                shop.together,
                shop.others,
                shop.steering,
            )
            return {name: html for room in rooms for name, html in room()}


def make_app() -> ASGIApp:
    """Serve the pages, and the static files, with the headers of the real service."""
    app = FastAPI()
    app.include_router(assets.router)

    @app.get("/{name}")
    async def one(name: str, request: Request) -> Response:
        return Page(pages()[name])

    async def dressed(scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                dress(message, https=False)
            await send(message)

        await app(scope, receive, sent if scope["type"] == "http" else send)

    return dressed


if __name__ == "__main__":
    for name, html in pages().items():
        (Path(sys.argv[1]) / f"{name}.html").write_text(html, "utf-8")
