"""A small real OpenID Connect provider on 127.0.0.1, strict where a real one is, and bendable.

It signs everybody in as `subject` at once, as a provider does with which somebody is signed in.
What a test wants to be wrong is set on it before the sign-in.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

CLIENT, SECRET = "sayso-desk", "s3cret of the client/+%"


@dataclass
class FakeCode:
    """What was asked for when a code was handed out."""

    redirect: str
    nonce: str
    challenge: str
    auth_time: int | None


@dataclass
class Idp:
    """The provider: its key, whom it signs in, and what a test bends."""

    url: str = ""
    subject: str = "248289761001"
    groups: list[str] | None = None
    keys: list[RSAKey] = field(default_factory=list)
    codes: dict[str, FakeCode] = field(default_factory=dict)
    bend: Callable[[dict[str, Any]], dict[str, Any]] = dict
    sign: Callable[[dict[str, Any]], str] | None = None
    issuer_said: str | None = None
    last: float | None = None  # when whoever sits there showed who they are; just now, unless set
    lax: bool = False  # takes a code twice, as no provider should
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rotate()

    def rotate(self) -> None:
        """Sign with a new key from now on; the old one is no longer published."""
        number = len(self.asked) + len(self.keys) + 1
        self.keys = [RSAKey.generate_key(2048, {"kid": f"key-{number}", "use": "sig"})]

    def signed(self, claims: dict[str, Any]) -> str:
        if self.sign is not None:
            return self.sign(claims)
        key = self.keys[0]
        return jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key)

    def by_secret(self, claims: dict[str, Any]) -> str:
        """Sign with the client's secret, which is no key of the provider."""
        return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET), algorithms=["HS256"])

    def unsigned(self, claims: dict[str, Any]) -> str:
        parts = ({"alg": "none", "typ": "JWT"}, claims)
        return ".".join([*(_b64(json.dumps(part).encode()) for part in parts), ""])

    def claims(self, code: FakeCode) -> dict[str, Any]:
        now = int(time.time())
        found: dict[str, Any] = {
            "iss": self.url,
            "sub": self.subject,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": code.nonce,
            "email": "anna@example.org",
        }
        if code.auth_time is not None:
            found["auth_time"] = code.auth_time
        if self.groups is not None:
            found["groups"] = self.groups
        return self.bend(found)

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer_said or self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Return where the browser is sent back to."""
        assert query["client_id"] == CLIENT
        assert query["response_type"] == "code"
        assert "openid" in query["scope"].split()
        assert query["code_challenge_method"] == "S256", "no PKCE"
        code = f"code-{len(self.codes) + 1}"
        self.codes[code] = FakeCode(
            query["redirect_uri"],
            query["nonce"],
            query["code_challenge"],
            self.showed(float(query["max_age"])) if "max_age" in query else None,
        )
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def showed(self, max_age: float) -> int:
        """Return when they showed who they are; if that is too long ago, they do it again."""
        now = time.time()
        last = now if self.last is None else self.last
        return int(last if now - last <= max_age else now)

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        basic = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        name, _, secret = basic.partition(":")
        if (unquote(name), unquote(secret)) != (CLIENT, SECRET) and (name, secret) != (
            CLIENT,
            SECRET,
        ):
            return 401, {"error": "invalid_client"}
        code = self.codes.get(form.get("code", ""))
        if not self.lax:
            self.codes.pop(form.get("code", ""), None)  # a code is good for one time
        if code is None or code.redirect != form.get("redirect_uri"):
            return 400, {"error": "invalid_grant"}
        made = _b64(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if made != code.challenge:
            return 400, {"error": "invalid_grant", "error_description": "PKCE"}
        said = {"access_token": "opaque", "token_type": "Bearer", "expires_in": 60}
        return 200, {**said, "id_token": self.signed(self.claims(code))}

    def jwks(self) -> dict[str, Any]:
        return KeySet(list(self.keys)).as_dict(private=False)  # type: ignore[return-value]


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@contextmanager
def running() -> Iterator[Idp]:
    """Run a provider for a block."""
    idp = Idp()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            idp.asked.append(parts.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", idp.authorize(query))
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif parts.path == "/jwks":
                self.reply(200, idp.jwks())
            elif parts.path == "/.well-known/openid-configuration":
                self.reply(200, idp.discovery())
            else:
                self.reply(404, {})

        def do_POST(self) -> None:
            idp.asked.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self.reply(*idp.token(form, self.headers.get("Authorization", "")))

        def reply(self, status: int, said: object) -> None:
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    idp.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield idp
    finally:
        server.shutdown()
        server.server_close()
