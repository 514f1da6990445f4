"""The OpenAPI document is worth reading: every route says what it does and all it can answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.errors import SaysoError
from sayso.web.app import make_app
from sayso.web.problems import STATUS, status_of
from sayso.web.settings import Settings
from tests.docs.pages import ROOT

Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    url = f"sqlite:///{tmp_path_factory.mktemp('openapi')}/desk.db"
    with Desk(url) as desk:
        return make_app(desk).openapi()


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_every_route_has_a_plain_name_and_says_what_it_does(document: dict[str, Any]) -> None:
    found = list(operations(document))
    names = [operation["operationId"] for _, _, operation in found]

    assert len(found) > 20
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    for _, path, operation in found:
        assert operation["summary"], path
        assert len(operation["description"]) > 20, path


def test_every_route_documents_its_problems(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        answers = operation["responses"]
        if path == "/health":
            continue
        assert {"400", "429", "500", "503"} <= answers.keys(), path
        if operation.get("security"):
            assert {"401", "403"} <= answers.keys(), path
        if method == "POST":
            assert {"408", "413", "415", "422"} <= answers.keys(), path
        for status, answer in answers.items():
            if int(status) >= 400:
                content = answer["content"]["application/problem+json"]
                assert content["schema"] == {"$ref": "#/components/schemas/Problem"}
                assert content["example"]["status"] == int(status)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    named = set(re.findall(r"'\$ref': '#/components/schemas/(\w+)'", str(document)))

    assert named - document["components"]["schemas"].keys() == set()
    assert "HTTPValidationError" not in named


def test_every_body_has_an_example_or_says_what_its_fields_are(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name in ("AskPost", "DecisionPost", "RunPost"):
        assert schemas[name]["examples"], name
    for name in ("BeginPost", "FinishPost", "DoubtPost", "NotePost", "AssignPost", "LeasePost"):
        assert all(field.get("description") for field in schemas[name]["properties"].values())


def test_everything_but_a_few_needs_a_credential(document: dict[str, Any]) -> None:
    public = {path for _, path, operation in operations(document) if not operation.get("security")}

    assert public == {"/api/v1/about", "/api/v1/session", "/health", "/ready"}


def test_the_cookie_is_the_one_that_is_set(tmp_path: Path) -> None:
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        document = make_app(desk, Settings(cookie="sayso_8080")).openapi()

    assert document["components"]["securitySchemes"]["session"]["name"] == "sayso_8080"


def test_whatever_changes_an_ask_takes_a_key_as_the_document_says(document: dict[str, Any]) -> None:
    takes = {
        path: any(one["name"] == "Idempotency-Key" for one in path_item["post"]["parameters"])
        for path, path_item in document["paths"].items()
        if "parameters" in path_item.get("post", {})
    }

    assert all(takes[path] for path in takes if path.startswith("/api/v1/asks"))
    assert not any(takes[path] for path in takes if path.startswith("/api/v1/runs"))
    said = " ".join(document["info"]["description"].split())
    assert "Send `Idempotency-Key` with whatever changes an ask" in said
    assert "a run take no key" in said


def test_the_page_lists_every_route(document: dict[str, Any]) -> None:
    # Pages are for people: they are no part of the API, and test_credentials.py has all of them.
    page = (ROOT / "docs/reference/http.md").read_text().partition("\n## Pages\n")[0]
    listed = set(re.findall(r"^\| `(GET|POST|DELETE) (/\S+)` \|", page, re.MULTILINE))

    served = {(method, path) for method, path, _ in operations(document)}
    assert served - listed == set(), "add them to the table of docs/reference/http.md"
    assert listed - served == set(), "nobody serves these"


def test_the_page_lists_every_code_that_only_http_knows() -> None:
    page = (ROOT / "docs/reference/http.md").read_text()
    web = Path(ROOT / "src/sayso/web")
    text = "\n".join(file.read_text() for file in sorted(web.glob("*.py")))
    codes = set(re.findall(r'Problem\(\s*\d+,\s*"([a-z-]+)"', text))
    codes |= set(re.findall(r'_document\(\s*\d+, "([a-z-]+)"', text))

    assert len(codes) >= 8
    assert {code for code in codes if f"| `{code}` |" not in page} == set()


def test_every_error_of_ours_has_a_status() -> None:
    def classes(kind: type[SaysoError]) -> Iterator[type[SaysoError]]:
        yield kind
        for narrower in kind.__subclasses__():
            yield from classes(narrower)

    listed = [kind for kind, _ in STATUS]
    for number, kind in enumerate(listed):
        wider = [other for other in listed[:number] if issubclass(kind, other)]
        assert not wider, f"{kind.__name__} is hidden by {wider}"
    for kind in classes(SaysoError):
        error = kind.__new__(kind)
        assert status_of(error) in (401, 403, 404, 409, 422, 429, 500, 503)
