"""Every route by every credential: who gets in, and that nothing happens for whoever does not.

The table is the contract. A route that is not in it fails the test, as does a row whose route is
gone. Who calls is found on both databases in `tests/access`; what a route asks of them is the same on
each, and tried on PostgreSQL in the soak.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from typing import Any

import httpx2
import pytest
from fastapi.routing import iter_route_contexts

from sayso import Desk, File
from sayso.access.caller import ADMIN_SCOPES
from sayso.access.passwords import set_password
from sayso.access.sessions import Session, open_session
from sayso.web.look.assets import asset
from sayso.web.provider import Provider
from tests.channels.receivers import receiving
from tests.places import TABLES, Place
from tests.served import QUICK, Served
from tests.trusted import written
from tests.web.one_place import shared_place
from tests.web.provider import CLIENT, SECRET, running

__all__ = ["shared_place"]

# nobody   no credential at all
# owner    the agent that asked
# rival    another agent of the same team
# away     a reviewer of another team
# here     a reviewer of the team
# admin    an administrator's token with every scope, of somebody in the team
# old      a reviewer's token that has expired
# ended    a reviewer's token that was revoked
# left     the token of a reviewer who was taken off the desk
# narrow   an administrator's token without the scope that this route needs
# cookie   a reviewer's session, from our own page
# forged   the same session, sent by another site's page
TABLE = """
route                                          nobody  owner  rival   away   here  admin    old  ended   left narrow cookie forged
GET    /health                                    200    200    200    200    200    200    200    200    200    200    200    200
GET    /ready                                     200    200    200    200    200    200    200    200    200    200    200    200
GET    /openapi.json                              200    200    200    200    200    200    200    200    200    200    200    200
HEAD   /openapi.json                              200    200    200    200    200    200    200    200    200    200    200    200
HEAD   /health                                    200    200    200    200    200    200    200    200    200    200    200    200
HEAD   /ready                                     200    200    200    200    200    200    200    200    200    200    200    200
HEAD   /api/v1/about                              200    200    200    200    200    200    200    200    200    200    200    200
GET    /api/v1/about                              200    200    200    200    200    200    200    200    200    200    200    200
POST   /api/v1/asks                               401    201    201    403    201    201    401    401    401    403    201    403
GET    /api/v1/asks                               401    200    200    200    200    200    401    401    401    403    200    200
GET    /api/v1/asks/{ask}                         401    200    404    404    200    200    401    401    401    403    200    200
GET    /api/v1/asks/{ask}/events                  401    200    404    404    200    200    401    401    401    403    200    200
GET    /api/v1/asks/{ask}/versions                401    200    404    404    200    200    401    401    401    403    200    200
GET    /api/v1/asks/{ask}/files/{number}          401    200    404    404    200    200    401    401    401    403    200    200
POST   /api/v1/asks/{ask}/decision                401    403    403    404    200    200    401    401    401    403    200    403
POST   /api/v1/asks/{settling}/take-back          401    403    403    404    200    403    401    401    401    403    200    403
POST   /api/v1/asks/{ask}/claim                   401    403    403    404    200    200    401    401    401    403    200    403
POST   /api/v1/asks/{ask}/assign                  401    403    403    404    200    200    401    401    401    403    200    403
POST   /api/v1/asks/{approved}/begin              401    200    404    404    200    200    401    401    401    403    200    403
POST   /api/v1/asks/{begun}/finish                401    200    404    404    409    409    401    401    401    403    409    403
POST   /api/v1/asks/{begun}/doubt                 401    200    404    404    409    409    401    401    401    403    409    403
POST   /api/v1/asks/{ask}/withdraw                401    200    404    404    200    200    401    401    401    403    200    403
POST   /api/v1/asks/{carried}/incident            401    403    403    404    200    200    401    401    401    403    200    403
GET    /api/v1/trust                              401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/trust/{key}                        401    403    403    404    200    200    401    401    401    403    200    200
POST   /api/v1/trust/{key}/revoke                 401    403    403    404    200    200    401    401    401    403    200    403
POST   /api/v1/trust/{locked}/reopen              401    403    403    404    200    403    401    401    401    403    200    403
POST   /api/v1/leases/{holder}                    401    200    200    200    200    200    401    401    401    403    200    403
GET    /api/v1/events                             401    200    200    200    200    200    401    401    401    403    200    200
GET    /api/v1/runs                               401    403    403    200    200    200    401    401    401    403    200    200
POST   /api/v1/runs                               401    403    403    403    201    201    401    401    401    403    201    403
GET    /api/v1/runs/{run}                         401    403    403    404    200    200    401    401    401    403    200    200
POST   /api/v1/runs/{run}/cancel                  401    403    403    404    200    200    401    401    401    403    200    403
POST   /api/v1/runs/{failed}/retry                401    403    403    404    200    200    401    401    401    403    200    403
GET    /api/v1/runs/{run}/memory                  401    403    403    404    200    200    401    401    401    403    200    200
GET    /api/v1/runs/{run}/events                  401    403    403    404    200    200    401    401    401    403    200    200
GET    /api/v1/audit/verify                       401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/audit/events                       401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/audit/export                       401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/audit/decisions                    401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/audit/verification                 401    403    403    200    200    200    401    401    401    403    200    200
POST   /api/v1/audit/verification                 401    403    403    202    202    202    401    401    401    403    202    403
POST   /api/v1/audit/seals                        401    403    403    403    403    201    401    401    401    403    403    403
GET    /api/v1/metrics                            401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/calibration                        401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/staffing                           401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/outlook                            401    403    403    200    200    200    401    401    401    403    200    200
GET    /metrics                                   401    403    403    403    403    200    401    401    401    403    403    403
GET    /api/v1/policy                             401    403    403    200    200    200    401    401    401    403    200    200
POST   /api/v1/policy/simulate                    401    403    403    200    200    200    401    401    401    403    200    403
GET    /api/v1/policy/versions                    401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/policy/versions/{number}           401    403    403    422    422    422    401    401    401    403    422    422
POST   /api/v1/policy/versions                    401    403    403    403    403    403    401    401    401    403    403    403
POST   /api/v1/policy/versions/{number}/rollback  401    403    403    403    403    403    401    401    401    403    403    403
GET    /api/v1/tools                              401    403    403    200    200    200    401    401    401    403    200    200
GET    /api/v1/tools/{tool}                       401    403    403    404    200    200    401    401    401    403    200    200
GET    /api/v1/people                             401    403    403    403    403    200    401    401    401    403    403    403
GET    /api/v1/people/{person}                    401    403    403    404    404    200    401    401    401    404    404    404
POST   /api/v1/people                             401    403    403    403    403    403    401    401    401    403    403    403
DELETE /api/v1/people/{person}                    401    403    403    403    403    403    401    401    401    403    403    403
GET    /api/v1/tokens                             401    403    403    200    200    200    401    401    401    200    200    200
POST   /api/v1/tokens                             401    403    403    403    403    201    401    401    401    403    403    403
DELETE /api/v1/tokens/{token}                     401    403    403    403    403    204    401    401    401    403    204    403
GET    /api/v1/sessions                           401    403    403    200    200    200    401    401    401    200    200    200
DELETE /api/v1/sessions/{session}                 401    403    403    403    403    204    401    401    401    403    204    403
GET    /api/v1/webhooks                           401    403    403    403    403    200    401    401    401    403    403    403
POST   /api/v1/webhooks                           401    403    403    403    403    201    401    401    401    403    403    403
DELETE /api/v1/webhooks/{webhook}                 401    403    403    403    403    204    401    401    401    403    403    403
GET    /api/v1/deliveries                         401    403    403    403    403    200    401    401    401    403    403    403
POST   /api/v1/deliveries/{delivery}/redeliver    401    403    403    403    403    200    401    401    401    403    403    403
GET    /api/v1/session                            401    200    200    200    200    200    401    401    401    200    200    200
POST   /api/v1/session                            200    200    200    200    200    200    200    200    200    200    200    403
DELETE /api/v1/session                            401    403    403    403    403    403    401    401    401    403    204    403
GET    /                                          303    303    303    303    303    303    303    303    303    303    303    303
GET    /overview                                  401    403    403    200    200    200    401    401    401    403    200    200
GET    /audit                                     401    403    403    200    200    200    401    401    401    403    200    200
GET    /audit/asks/{ask}                          401    403    403    404    200    200    401    401    401    403    200    200
POST   /audit/verification                        401    403    403    303    303    303    401    401    401    403    303    403
POST   /audit/seals                               401    403    403    403    403    303    401    401    401    403    403    403
GET    /policies                                  401    403    403    200    200    200    401    401    401    403    200    200
POST   /policies                                  401    403    403    303    303    303    401    401    401    403    303    403
GET    /policies/versions                         401    403    403    200    200    200    401    401    401    403    200    200
GET    /policies/versions/{number}                401    403    403    422    422    422    401    401    401    403    422    422
GET    /policies/versions/{number}/rollback       401    403    403    403    403    422    401    401    401    403    403    403
POST   /policies/versions/{number}/rollback       401    403    403    403    403    422    401    401    401    403    403    403
GET    /policies/write                            401    403    403    403    403    200    401    401    401    403    403    403
POST   /policies/write                            401    403    403    403    403    200    401    401    401    403    403    403
GET    /tools                                     401    403    403    200    200    200    401    401    401    403    200    200
GET    /tools/tool                                401    403    403    404    200    200    401    401    401    403    200    200
GET    /tools/declare                             401    403    403    404    200    200    401    401    401    403    200    200
POST   /tools/declare                             401    403    403    403    403    200    401    401    401    403    403    403
GET    /tools/forget                              401    403    403    403    403    404    401    401    401    403    403    403
POST   /tools/forget                              401    403    403    403    403    404    401    401    401    403    403    403
GET    /runs                                      401    403    403    200    200    200    401    401    401    403    200    200
GET    /runs/{run}                                401    403    403    404    200    200    401    401    401    403    200    200
POST   /runs/{run}/cancel                         401    403    403    404    303    303    401    401    401    403    303    403
POST   /runs/{failed}/retry                       401    403    403    404    303    303    401    401    401    403    303    403
GET    /insights                                  401    403    403    200    200    200    401    401    401    403    200    200
GET    /trust                                     401    403    403    200    200    200    401    401    401    403    200    200
GET    /trust/{key}                               401    403    403    404    200    200    401    401    401    403    200    200
GET    /trust/{key}/revoke                        401    403    403    404    200    200    401    401    401    403    200    200
POST   /trust/{key}/revoke                        401    403    403    404    303    303    401    401    401    403    303    403
GET    /trust/{locked}/reopen                     401    403    403    404    200    200    401    401    401    403    200    200
POST   /trust/{locked}/reopen                     401    403    403    404    303    403    401    401    401    403    303    403
GET    /people                                    401    403    403    200    200    200    401    401    401    403    200    200
POST   /people                                    401    403    403    403    403    403    401    401    401    403    403    403
GET    /people/person/{person}                    401    403    403    404    404    200    401    401    401    403    404    404
GET    /people/person/{person}/remove             401    403    403    403    403    200    401    401    401    403    403    403
POST   /people/person/{person}/remove             401    403    403    403    403    403    401    401    401    403    403    403
GET    /people/sessions                           401    403    403    200    200    200    401    401    401    403    200    200
GET    /people/sessions/{session}/end             401    403    403    404    200    200    401    401    401    403    200    200
POST   /people/sessions/{session}/end             401    403    403    404    403    303    401    401    401    403    303    403
GET    /people/sign-out                           401    403    403    200    200    200    401    401    401    403    200    200
POST   /people/sign-out                           401    403    403    403    403    303    401    401    401    403    303    403
GET    /people/tokens                             401    403    403    200    200    200    401    401    401    403    200    200
POST   /people/tokens                             401    403    403    403    403    200    401    401    401    403    403    403
GET    /people/tokens/{token}/revoke              401    403    403    404    200    200    401    401    401    403    200    200
POST   /people/tokens/{token}/revoke              401    403    403    404    403    303    401    401    401    403    303    403
GET    /people/webhooks                           401    403    403    403    403    200    401    401    401    403    403    403
POST   /people/webhooks                           401    403    403    403    403    200    401    401    401    403    403    403
POST   /people/webhooks/{silent}/test             401    403    403    403    403    200    401    401    401    403    403    403
GET    /people/webhooks/{webhook}/remove          401    403    403    403    403    200    401    401    401    403    403    403
POST   /people/webhooks/{webhook}/remove          401    403    403    403    403    303    401    401    401    403    403    403
POST   /people/deliveries/{delivery}/redeliver    401    403    403    403    403    303    401    401    401    403    403    403
GET    /inbox                                     401    403    403    200    200    200    401    401    401    403    200    200
GET    /inbox/queue                               401    403    403    200    200    200    401    401    401    403    200    200
GET    /inbox/find                                401    403    403    200    200    200    401    401    401    403    200    200
GET    /inbox/bulk                                401    403    403    303    303    303    401    401    401    403    303    303
GET    /inbox/take-back                           401    403    403    303    303    303    401    401    401    403    303    303
GET    /inbox/{ask}                               401    403    403    404    200    200    401    401    401    403    200    200
GET    /inbox/{ask}/state                         401    403    403    404    200    200    401    401    401    403    200    200
GET    /inbox/{ask}/run                           401    403    403    404    204    204    401    401    401    403    204    204
GET    /inbox/{ask}/turn                          401    403    403    404    303    303    401    401    401    403    303    303
GET    /inbox/{filed}/files/{number}              401    403    403    404    200    200    401    401    401    403    200    200
POST   /inbox/{ask}/decision                      401    403    403    404    303    303    401    401    401    403    303    403
POST   /inbox/{ask}/edit                          401    403    403    404    200    200    401    401    401    403    200    403
POST   /inbox/{settling}/take-back                401    403    403    404    303    403    401    401    401    403    303    403
POST   /inbox/{ask}/claim                         401    403    403    404    303    303    401    401    401    403    303    403
POST   /inbox/{carried}/incident                  401    403    403    404    303    303    401    401    401    403    303    403
POST   /inbox/{ask}/assign                        401    403    403    404    303    303    401    401    401    403    303    403
POST   /inbox/{ask}/turn                          401    403    403    404    303    303    401    401    401    403    303    403
POST   /inbox/bulk                                401    403    403    422    422    422    401    401    401    403    422    403
POST   /inbox/take-back                           401    403    403    422    422    422    401    401    401    403    422    403
POST   /settings                                  401    403    403    303    303    303    401    401    401    403    303    403
GET    /leave                                     401    403    403    200    200    200    401    401    401    403    200    200
GET    /help                                      401    403    403    200    200    200    401    401    401    403    200    200
GET    /sign-in                                   200    200    200    200    200    200    200    200    200    200    200    200
POST   /sign-in                                   303    303    303    303    303    303    303    303    303    303    303    403
GET    /sign-in/oidc                              303    303    303    303    303    303    303    303    303    303    303    303
GET    /sign-in/oidc/back                         403    403    403    403    403    403    403    403    403    403    403    403
POST   /sign-out                                  303    303    303    303    303    303    303    303    303    303    303    403
GET    /static/{stylesheet}                       200    200    200    200    200    200    200    200    200    200    200    200
"""
PASSWORD = "correct horse battery"
HOOK = "https://93.184.216.34/hook"
ASKED = {"tool": "refund", "args": {"order": 0}, "team": "billing"}
# What is sent where a body or a query is needed: right in every way.
SENT: Mapping[str, Mapping[str, Any]] = {
    "POST /api/v1/asks": {"json": ASKED},
    "POST /api/v1/asks/{ask}/decision": {"json": {"verdict": "approve", "seen": ""}},
    "POST /api/v1/asks/{ask}/assign": {"json": {"to": "anna"}},
    "POST /api/v1/asks/{begun}/finish": {"json": {"attempt": 1, "holder": "till-1", "result": 1}},
    "POST /api/v1/asks/{carried}/incident": {"json": {"harm": "Paid twice."}},
    "POST /api/v1/asks/{begun}/doubt": {"json": {"attempt": 1, "reason": "It went silent."}},
    "POST /api/v1/runs": {"json": {"workflow": "settle", "team": "billing"}},
    "GET /api/v1/events": {"params": {"follow": "false"}},
    "POST /api/v1/policy/simulate": {"json": {"tool": "refund"}},
    "POST /api/v1/policy/versions": {"json": {"text": ""}},
    "POST /api/v1/policy/versions/{number}/rollback": {"json": {}},
    "POST /api/v1/people": {"json": {"name": "dora"}},
    "POST /api/v1/tokens": {"json": {"kind": "agent", "name": "clerk"}},
    "POST /api/v1/webhooks": {"json": {"url": HOOK}},
    "POST /api/v1/session": {"json": {"name": "anna", "password": PASSWORD}},
    "POST /people": {"data": {"name": "dora"}},
    "POST /people/tokens": {"data": {"kind": "agent", "name": "clerk"}},
    "POST /people/webhooks": {"data": {"url": HOOK}},
    "POST /inbox/{ask}/assign": {"data": {"to": "anna"}},
    "POST /inbox/{carried}/incident": {"data": {"harm": "Paid twice."}},
    "POST /policies": {"data": {"tool": "refund"}},
    "POST /policies/write": {"data": {"text": ""}},
    "GET /tools/tool": {"params": {"name": "refund"}},
    "GET /tools/declare": {"params": {"name": "refund"}},
    "POST /tools/declare": {
        "data": {"name": "refund", "declaration": "[tools.refund]\nargs = {}\n"}
    },
    "GET /tools/forget": {"params": {"name": "refund", "source": "till"}},
    "POST /tools/forget": {"data": {"name": "refund", "source": "till"}},
    "POST /inbox/{ask}/decision": {"data": {"verdict": "approve", "seen": ""}},
    "POST /sign-in": {"data": {"name": "anna", "password": PASSWORD}},
}
INDEXES = ("cases", "texts", "tallies", "labels", "trail", "readers")
DECISIONS = ("decision", "take-back", "claim", "assign", "incident", "{key}/revoke", "reopen")


@dataclass(frozen=True)
class Row:
    """A route, and what each credential is answered there."""

    method: str
    path: str
    expected: Mapping[str, int]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def about(self) -> str | None:
        """What its path names."""
        named = re.search(r"{(\w+)}", self.path)
        return None if named is None else named[1]


def _rows(table: str) -> list[Row]:
    head, *lines = table.strip().splitlines()
    _, *names = head.split()
    split = [line.split() for line in lines]
    return [
        Row(method, path, dict(zip(names, map(int, cells), strict=True)))
        for method, path, *cells in split
    ]


ROWS = _rows(TABLE)


# --- what the requests are about ---------------------------------------------------------------


class Office:
    """A server with people and agents, and something for every route to be about."""

    def __init__(self, server: Served, place: Place) -> None:
        self.server = server
        self.desk = server.desk
        self.place = place
        self.client = server.client()
        self._numbers = count(1)
        self._settle = self.desk.workflow(settle)
        self._fail = self.desk.workflow(fail)
        self._delivery = self._delivered()
        self._tokens = {
            "owner": server.token("bot", kind="agent", team="billing"),
            "rival": server.token("rival", kind="agent", team="billing"),
            "away": server.token("ben", kind="person"),
            "here": server.token("anna", kind="person"),
            "admin": server.token("root", kind="person", scopes=ADMIN_SCOPES),
            "old": server.token("anna", kind="person", expires=timedelta(microseconds=1)),
            "ended": self._ended(),
            "left": self._left(),
            "narrow": server.token("root", kind="person", scopes=["audit:read"]),
            "narrow, for the audit": server.token("root", kind="person", scopes=["asks:read"]),
        }

    def _delivered(self) -> str:
        with receiving() as receiver:
            hook = self.desk.webhooks.add(receiver.url, "ask.opened", allow_private=True)
            self.ask()
            while not self.desk.deliver():
                pass
        return self.desk.webhooks.deliveries(webhook=hook.id)[0].id

    def _ended(self) -> str:
        made, text = self.desk.tokens.make("anna", "person")
        self.desk.tokens.revoke(made.id)
        return text

    def _left(self) -> str:
        self.desk.people.add("carl", roles=["senior"], teams=["billing"])
        text = self.server.token("carl", kind="person")
        self.desk.people.remove("carl")
        return text

    def headers(self, who: str, row: Row) -> dict[str, str]:
        """What a client with this credential sends along."""
        if who == "nobody":
            return {}
        if who in ("cookie", "forged"):
            site = "same-origin" if who == "cookie" else "cross-site"
            secret = self._signed_in()[1]
            return {"Cookie": f"{self.server.settings.cookie}={secret}", "Sec-Fetch-Site": site}
        if who == "narrow" and ("/audit" in row.path or "/trust" in row.path):
            who = "narrow, for the audit"
        return {"Authorization": f"Bearer {self._tokens[who]}"}

    def _signed_in(self) -> tuple[Session, str]:
        return open_session(
            self.desk.store, "anna", how="password", address="127.0.0.1", agent_string="test"
        )

    def send(self, row: Row, about: str | None, headers: dict[str, str]) -> httpx2.Response:
        """Send what is right in every way but perhaps for the credential."""
        path = row.path if about is None else row.path.replace(f"{{{row.about}}}", about)
        path = path.replace("{number}", "1")
        said = dict(SENT.get(str(row), {}))
        for form in ("json", "data"):
            if "seen" in said.get(form, {}):
                said[form] = {**said[form], "seen": self.desk.get(about or "").digest}
        if said.get("json") == ASKED:
            said["json"] = {**ASKED, "args": {"order": next(self._numbers)}}
        answer = self.client.request(row.method, path, headers=headers, **said)
        self.client.cookies.clear()
        return answer

    def rows(self) -> dict[str, int]:
        """How much there is of everything but the indexes, which whoever looks reads on."""
        kept = [table for table in TABLES if table not in INDEXES]
        counted = ", ".join(f"(select count(*) from {table})" for table in kept)
        return dict(zip(kept, self.place.sql(f"select {counted}")[0], strict=True))

    # --- one of each thing that a path can name

    def make(self, what: str) -> str:
        made: str = getattr(self, what)()
        return made

    def number(self) -> str:
        return "1"

    def tool(self) -> str:
        """One that was called, be it declared or not."""
        self.ask()
        return "refund"

    def ask(self) -> str:
        order = {"order": next(self._numbers)}
        note = [File("note.txt", b"charged twice")]
        return self.desk.open("refund", order, agent="bot", team="billing", files=note).id

    def filed(self) -> str:
        order = {"order": next(self._numbers)}
        files = [File("a.txt", b"a")]
        return self.desk.open("refund", order, agent="bot", team="billing", files=files).id

    def approved(self) -> str:
        return self.desk.approve(self.desk.get(self.ask()), by="anna").id

    def settling(self) -> str:
        return self.desk.approve(self.desk.get(self.ask()), by="anna", hold="1h").id

    def begun(self) -> str:
        ask = self.approved()
        headers = {"Authorization": f"Bearer {self._tokens['owner']}"}
        body = {"holder": "till-1"}
        answer = self.client.post(f"/api/v1/asks/{ask}/begin", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return ask

    def carried(self) -> str:
        ask = self.begun()
        headers = {"Authorization": f"Bearer {self._tokens['owner']}"}
        body = {"attempt": 1, "holder": "till-1", "result": 1}
        answer = self.client.post(f"/api/v1/asks/{ask}/finish", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return ask

    def key(self) -> str:
        """One that runs alone."""
        return written(self.desk, "granted", team="billing").id

    def locked(self) -> str:
        return written(self.desk, "locked", team="billing").id

    def holder(self) -> str:
        return "till-1"

    def run(self) -> str:
        return self.desk.start(self._settle, team="billing").id

    def failed(self) -> str:
        run = self.desk.start(self._fail, team="billing")
        self.desk.work(until="idle")
        return run.id

    def person(self) -> str:
        return self.desk.people.add(f"guest{next(self._numbers)}").name

    def token(self) -> str:
        return self.desk.tokens.make("anna", "person")[0].id

    def session(self) -> str:
        return self._signed_in()[0].id

    def stylesheet(self) -> str:
        return asset("app.css").removeprefix("/static/")

    def webhook(self) -> str:
        return self.desk.webhooks.add(HOOK, "ask.opened").id

    def silent(self) -> str:
        """A webhook at whose address nobody listens."""
        return self.desk.webhooks.add("http://127.0.0.1:9/hook", "*", allow_private=True).id

    def delivery(self) -> str:
        return self._delivery


def settle(run: Any) -> None:
    run.question("How much?")


def fail(run: Any) -> None:
    raise RuntimeError("out of paper")


@pytest.fixture(scope="module")
def server(shared_place: Place) -> Iterator[Served]:
    """As others share it, and with a provider to sign in with, which adds routes."""
    with running() as idp, Desk(shared_place.url, agent="shop") as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ben", teams=["support"])
        desk.people.add("root", roles=["admin"], teams=["billing", "support"])
        provider = Provider(idp.url, CLIENT, SECRET)
        with Served(desk, replace(QUICK, oidc=provider, public_url="http://127.0.0.1")) as server:
            yield server


@pytest.fixture(scope="module")
def office(server: Served, shared_place: Place) -> Office:
    set_password(server.desk.store, "anna", PASSWORD, origin=server.desk.origin)
    return Office(server, shared_place)


# --- the promises ------------------------------------------------------------------------------


def test_the_table_has_every_route_and_no_other(server: Served) -> None:
    there = {
        (method, _pattern(route.path or ""))
        for route in iter_route_contexts(server.app.routes)
        for method in route.methods or ("ANY",)
    }
    listed = {(row.method, _pattern(row.path)) for row in ROWS}

    assert listed - there == set(), "gone"
    assert there - listed == set(), "missing from the table"
    assert len(listed) == len(ROWS), "twice"


def _pattern(path: str) -> str:
    return re.sub(r"{\w+}", "{}", path)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_credential_reaches_as_far_as_the_table_says(office: Office, row: Row) -> None:
    found: dict[str, int] = {}
    about = None
    for who in row.expected:
        if about is None and row.about is not None:
            about = office.make(row.about)
        headers = office.headers(who, row)
        before = office.rows()
        answer = office.send(row, about, headers)
        found[who] = answer.status_code
        if answer.status_code in (401, 403, 404):
            assert office.rows() == before, f"{who} was refused, and yet something was written"
        else:
            about = None  # it may be spent

    assert found == row.expected


def test_no_agent_reaches_a_decision() -> None:
    reached = {
        str(row): status
        for row in ROWS
        for who in ("owner", "rival")
        if row.path.endswith(DECISIONS) and (status := row.expected[who]) != 403
    }

    assert reached == {}


@pytest.mark.parametrize("row", [row for row in ROWS if row.path.endswith(DECISIONS)], ids=str)
def test_an_agent_hears_why_before_anything_is_looked_up(office: Office, row: Row) -> None:
    """So that it learns nothing about asks that are not its own, nor by what it sends."""
    path = re.sub(r"{\w+}", "a-0000", row.path)
    for body in (b"", b"{", b"{}", b'{"verdict": "approve", "seen": "x"}'):
        headers = office.headers("owner", row) | {"Content-Type": "application/json"}
        answer = office.client.post(path, content=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "agents-cannot-decide")
