"""Sign-in through an identity provider: OpenID Connect, authorization code with PKCE.

What ties the answer of the provider to the browser that asked is one random secret in a cookie.
State, nonce and PKCE verifier are made from it; the desk keeps its digest, which is used up by
the first answer, on whichever server it arrives. Who somebody is, is what the provider calls
them (issuer and subject), never an e-mail address, which people give away and take over.

A provider may know somebody from this morning and send them back at once. So it is told how
fresh a sign-in has to be, and a session counts from when it says that they showed who they are.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import secrets
import shlex
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from fastapi import APIRouter, Request, Response
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from starlette.responses import RedirectResponse

from sayso.access.identities import person_of_identity
from sayso.asks.people import put
from sayso.desk import Desk
from sayso.model.actor import Origin, Person
from sayso.model.text import one_line
from sayso.store.contract import Store
from sayso.web.look.render import message
from sayso.web.look.views import Message
from sayso.web.provider import Provider, private
from sayso.web.service import Service
from sayso.web.sign_in import opened, with_session

_log = logging.getLogger("sayso.web")
BACK = "/sign-in/oidc/back"
WITHIN = timedelta(minutes=10)  # to sign in at the provider
_TIMEOUT = 10.0
_KEPT = 3600.0  # seconds for which what the provider says of itself is believed
_LEEWAY = 60
# Signed with a key that only the provider has: not with our secret, and never unsigned.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "Ed25519")


class Refused(Exception):
    """Nobody is signed in. `reason` is for the log; people are told to try again."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Start:
    """Where to send a browser, and the secret it keeps meanwhile."""

    url: str
    secret: str


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom the provider signed in; `since` is when they showed it who they are."""

    issuer: str
    name: str
    groups: tuple[str, ...]
    since: datetime


class SignIns:
    """Sign-ins at one provider. What it says of itself is fetched when it is needed.

    `fresh` is how long a sign-in counts for what is critical.
    """

    def __init__(self, provider: Provider, redirect: str, store: Store, fresh: timedelta) -> None:
        self.provider = provider
        self._fresh = fresh
        self._redirect = redirect
        self._store = store
        self._lock = threading.Lock()
        self._metadata: dict[str, Any] = {}
        self._keys: KeySet | None = None
        self._until = 0.0

    def start(self) -> Start:
        """Begin a sign-in.

        Raises:
            Refused: the provider cannot be reached, or is not who it should be.
        """
        about = self._about()
        secret = secrets.token_urlsafe(32)
        self._store.put_state(_digest(secret), self._store.now() + WITHIN)
        with self._client(about) as client:
            url, _ = client.create_authorization_url(
                about["authorization_endpoint"],
                state=_derived(secret, "state"),
                nonce=_derived(secret, "nonce"),
                code_verifier=_derived(secret, "verifier"),
                max_age=int(self._fresh.total_seconds()),
            )
        return Start(str(url), secret)

    def finish(self, secret: str | None, answer: Mapping[str, str]) -> Subject:
        """Return whom the provider signed in.

        Args:
            secret: What the browser kept.
            answer: What the provider sent the browser back with.

        Raises:
            Refused: it is the answer to another question, came twice or late, or is not true.
        """
        if not secret or not hmac.compare_digest(
            _derived(secret, "state").encode(), answer.get("state", "").encode()
        ):
            raise Refused("the state is not the one this browser was sent away with")
        if not self._store.take_state(_digest(secret)):
            raise Refused("the state was used before, or is too old")
        if answer.get("iss", self.provider.issuer) != self.provider.issuer:
            raise Refused("the answer came from another issuer")
        if "error" in answer:
            raise Refused(f"the provider says: {one_line(answer['error'], 100)}")
        return self._subject(self._claims(self._id_token(answer.get("code", ""), secret), secret))

    # --- what the provider is asked ---

    def _id_token(self, code: str, secret: str) -> str:
        about = self._about()
        try:
            with self._client(about) as client:
                token = client.fetch_token(
                    about["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=_derived(secret, "verifier"),
                )
        except (OAuthError, httpx2.HTTPError, ValueError) as error:
            raise Refused(f"the code was not accepted: {one_line(str(error), 200)}") from error
        found = token.get("id_token")
        if not isinstance(found, str):
            raise Refused("the provider sent no id_token")
        return found

    def _client(self, about: Mapping[str, Any]) -> Any:  # noqa: ANN401 - authlib is not typed
        takes = about.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        method = "client_secret_basic" if "client_secret_basic" in takes else "client_secret_post"
        return OAuth2Client(
            client_id=self.provider.client_id,
            client_secret=self.provider.client_secret,
            token_endpoint_auth_method=method if self.provider.client_secret else "none",
            scope="openid",
            redirect_uri=self._redirect,
            code_challenge_method="S256",
            timeout=_TIMEOUT,
            follow_redirects=False,
        )

    def _about(self) -> dict[str, Any]:
        """Return what the provider says of itself, if it is who it should be."""
        with self._lock:
            if time.monotonic() < self._until:
                return self._metadata
            about = _fetched(f"{self.provider.issuer.rstrip('/')}/.well-known/openid-configuration")
            if about.get("issuer") != self.provider.issuer:
                raise Refused(f"it calls itself {one_line(str(about.get('issuer')), 200)}")
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not private(str(about.get(name))):
                    raise Refused(f"its {name} is no https address")
            self._metadata, self._keys = about, None
            self._until = time.monotonic() + _KEPT
            return about

    def _key_set(self, *, again: bool = False) -> KeySet:
        about = self._about()
        with self._lock:
            if self._keys is None or again:
                try:
                    self._keys = KeySet.import_key_set(_fetched(about["jwks_uri"]))  # type: ignore[arg-type]
                except (JoseError, ValueError, KeyError, TypeError) as error:
                    raise Refused("the keys of the provider cannot be read") from error
            return self._keys

    # --- whether it is true ---

    def _claims(self, id_token: str, secret: str) -> dict[str, Any]:
        try:
            claims = self._decoded(id_token)
            jwt.JWTClaimsRegistry(
                now=int(self._store.now().timestamp()),
                leeway=_LEEWAY,
                iss={"essential": True, "value": self.provider.issuer},
                aud={"essential": True, "value": self.provider.client_id},
                nonce={"essential": True, "value": _derived(secret, "nonce")},
                sub={"essential": True},
                exp={"essential": True},
                iat={"essential": True},
            ).validate(claims)
        except (JoseError, ValueError) as error:
            raise Refused(f"the id_token does not hold: {one_line(str(error), 200)}") from error
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if (several or "azp" in claims) and claims.get("azp") != self.provider.client_id:
            raise Refused("the id_token was issued to somebody else")
        return claims

    def _decoded(self, id_token: str) -> dict[str, Any]:
        try:
            return jwt.decode(id_token, self._key_set(), _ALGORITHMS).claims
        except (InvalidKeyIdError, BadSignatureError):  # its keys may be new since we looked
            return jwt.decode(id_token, self._key_set(again=True), _ALGORITHMS).claims

    def _subject(self, claims: Mapping[str, Any]) -> Subject:
        groups = claims.get(self.provider.groups)
        known = groups if isinstance(groups, list) else []
        named = tuple(group for group in known if isinstance(group, str))
        return Subject(self.provider.issuer, claims["sub"], named, self._since(claims))

    def _since(self, claims: Mapping[str, Any]) -> datetime:
        """Return when they showed who they are.

        Where that is not said, or was longer ago than we asked for, it is just too long ago for
        what is critical.
        """
        now = self._store.now()
        stale = now - self._fresh - timedelta(seconds=1)
        if "auth_time" not in claims:
            _log.warning("The identity provider does not say when people signed in (auth_time).")
            return stale
        said = claims["auth_time"]
        if isinstance(said, bool) or not isinstance(said, int | float):
            raise Refused("its auth_time is no time")
        if not said <= now.timestamp() + _LEEWAY:  # which "no number" is not either
            raise Refused("its auth_time is in the future")
        return datetime.fromtimestamp(said, UTC) if said > stale.timestamp() else stale


def _fetched(url: str) -> dict[str, Any]:
    try:
        answer = httpx2.get(url, timeout=_TIMEOUT, follow_redirects=False)
        answer.raise_for_status()
        found = answer.json()
    except (httpx2.HTTPError, ValueError) as error:
        raise Refused(f"{one_line(url, 200)} does not answer as it should: {error}") from error
    if not isinstance(found, dict):
        raise Refused(f"{one_line(url, 200)} does not answer with an object")
    return found


def _digest(secret: str) -> bytes:
    return hashlib.sha256(f"oidc:{secret}".encode()).digest()


def _derived(secret: str, what: str) -> str:
    made = hmac.digest(secret.encode(), f"sayso oidc {what}".encode(), "sha256")
    return base64.urlsafe_b64encode(made).rstrip(b"=").decode()


# --- pages -------------------------------------------------------------------------------------


def routes(service: Service, provider: Provider) -> APIRouter:
    """Return the two addresses of a sign-in: there, and back."""
    home = (service.settings.public_url or "").rstrip("/")
    fresh = timedelta(seconds=service.settings.fresh_seconds)
    sign_ins = SignIns(provider, f"{home}{BACK}", service.store, fresh)
    kept = f"{service.settings.cookie}_oidc"
    router = APIRouter(include_in_schema=False)

    @router.get("/sign-in/oidc")
    async def away(request: Request) -> Response:
        service.count_stranger(request)
        try:
            start = await service.work(sign_ins.start)
        except Refused as refused:
            return _sorry(refused)
        gone = RedirectResponse(start.url, 303, headers={"Referrer-Policy": "no-referrer"})
        # Lax: the provider sends the browser back from another site.
        _keep(gone, kept, start.secret)
        return gone

    @router.get(BACK)
    async def back(request: Request) -> Response:
        service.count_stranger(request)
        secret, answer = request.cookies.get(kept), dict(request.query_params)
        try:
            subject = await service.work(lambda: sign_ins.finish(secret, answer))
        except Refused as refused:
            return _sorry(refused)
        name = await service.work(lambda: _person(service, subject))
        if name is None:
            return _stranger(subject)
        await service.work(lambda: _give_roles(service.desk, name, subject, provider))
        session = await opened(request, name, "oidc", since=subject.since)
        here = with_session(RedirectResponse("/", 303), service, session)
        here.delete_cookie(kept, path="/", secure=kept.startswith("__Host-"), httponly=True)
        return here

    return router


def _keep(answer: Response, cookie: str, secret: str) -> None:
    answer.set_cookie(
        cookie,
        secret,
        max_age=int(WITHIN.total_seconds()),
        path="/",
        secure=cookie.startswith("__Host-"),
        httponly=True,
        samesite="lax",
    )


def _person(service: Service, subject: Subject) -> str | None:
    return person_of_identity(service.store, subject.issuer, subject.name)


def _give_roles(desk: Desk, name: str, subject: Subject, provider: Provider) -> None:
    """Let the provider's groups say which of their roles a person holds; the others stay."""
    if not provider.roles:
        return
    roster = desk.store.register()
    held = roster.people.get(name, frozenset())
    governed = frozenset[str]().union(*provider.roles.values())
    given = [provider.roles.get(group, frozenset()) for group in subject.groups]
    now = (held - governed - {name}).union(*given)
    person = Person(name, now, roster.teams.get(name, frozenset()))
    put(desk.store, person, by=None, origin=Origin("web", f"{name}, oidc"))


def _sorry(refused: Refused) -> Response:
    _log.warning("A sign-in through the identity provider failed: %s", refused.reason)
    said = Message(
        title="Not signed in",
        alert="The identity provider did not sign you in, or its answer could not be verified. "
        "The log of the service says why.",
        links=(("Try again", "/sign-in"),),
    )
    return message(said, 403)


def _stranger(subject: Subject) -> Response:
    """Tell somebody who is nobody here how an administrator can change that."""
    linked = shlex.join(["--oidc", subject.issuer, subject.name])
    said = Message(
        title="Not known here",
        said=(
            "The identity provider knows you, and this desk does not know who you are.",
            "An administrator can say so, with your name on this desk instead of NAME:",
        ),
        command=f"sayso people link NAME {linked}",
    )
    return message(said, 403)
