"""What the OpenAPI document allows, and more, thrown at a real server: no answer is a surprise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import GenerationConfig
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation, BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from sayso.access.sessions import open_session
from tests.served import Served

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# What would keep a client for long is not asked for.
BRIEF: Mapping[str, dict[str, Any]] = {
    "get_ask": {"wait": "0"},
    "follow_events": {"follow": "false"},
}


def _bearer(server: Served, name: str, **given: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token(name, **given)}"}


def _session(server: Served) -> dict[str, str]:
    _, secret = open_session(
        server.desk.store, "root", how="password", address="127.0.0.1", agent_string="test"
    )
    return {"Cookie": f"{server.settings.cookie}={secret}", "Sec-Fetch-Site": "same-origin"}


CREDENTIALS: Mapping[str, Callable[[Served], dict[str, str]]] = {
    "nobody": lambda _server: {},
    "agent": lambda server: _bearer(server, "bot", kind="agent", team="billing"),
    "reviewer": lambda server: _bearer(server, "ada", kind="person"),
    "admin": _session,
}


def settle(run: Any) -> None:
    run.question("How much?")


@pytest.fixture(scope="module")
def document(server: Served) -> BaseSchema:
    """The document as the server gives it out."""
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    # Credentials are ours to give; a text with a zero in it is one that people could send, too.
    schema.config.generation = GenerationConfig(with_security_parameters=False)
    return schema


@pytest.fixture(scope="module")
def there(server: Served) -> Mapping[str, list[str]]:
    """Something for paths to name: asks at each stage of their lives, and a run."""
    desk = server.desk
    asks = [desk.open("refund", {"order": n}, agent="bot", team="billing") for n in range(4)]
    for ask in asks[1:]:
        desk.approve(ask, by="anna")
    desk.begin(asks[2])
    desk.finish(desk.begin(asks[3]), result="paid")
    return {
        "/api/v1/asks/": [ask.id for ask in asks],
        "/api/v1/runs/": [desk.start(desk.workflow(settle), team="billing").id],
    }


@pytest.mark.parametrize(
    "examples", [pytest.param(2, id="some"), pytest.param(60, id="many", marks=pytest.mark.soak)]
)
def test_every_answer_is_one_that_the_document_describes(
    server: Served, document: BaseSchema, there: Mapping[str, list[str]], examples: int
) -> None:
    operations = list(_operations(document))
    tried = 0
    with requests.Session() as session:
        for operation in operations:
            # Made anew each time: an operation may end a session.
            callers = {who: headers(server) for who, headers in CREDENTIALS.items()}
            cases = _cases(operation, there)
            tried += _throw(server, operation, cases, callers, session, examples)

    assert tried > len(operations) * examples / 2, "hardly anything was sent"


def _operations(document: BaseSchema) -> Iterator[APIOperation]:
    for found in document.get_all_operations():
        assert isinstance(found, Ok), found
        yield found.ok()


def _cases(operation: APIOperation, there: Mapping[str, list[str]]) -> st.SearchStrategy[Case]:
    """Requests that fit the document, and such as do not; half of them name what there is."""
    fit: st.SearchStrategy[Case] = operation.as_strategy(GenerationMode.POSITIVE)
    named = [one for start, ids in there.items() if operation.path.startswith(start) for one in ids]
    if named:
        fit |= st.builds(_about, fit, st.sampled_from(named))
    if not (operation.body or operation.query or operation.path_parameters or operation.headers):
        return fit  # nothing that could be wrong
    unfit: st.SearchStrategy[Case] = operation.as_strategy(GenerationMode.NEGATIVE)
    return fit | unfit


def _about(case: Case, named: str) -> Case:
    case.path_parameters = {**(case.path_parameters or {}), "id": named}
    return case


def _throw(
    server: Served,
    operation: APIOperation,
    cases: st.SearchStrategy[Case],
    callers: Mapping[str, dict[str, str]],
    session: requests.Session,
    examples: int,
) -> int:
    """Let everybody send the same; returns how many there were."""
    brief = BRIEF.get(operation.definition.raw["operationId"], {})
    tried = 0

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def thrown(case: Case) -> None:
        nonlocal tried
        tried += 1
        for headers in callers.values():
            answer = case.call(server.url, session, headers=headers, params=brief, timeout=20)
            session.cookies.clear()
            case.validate_response(answer, checks=CHECKS)

    thrown()
    return tried
