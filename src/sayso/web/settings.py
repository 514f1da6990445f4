"""What a service is told when it starts: its address, its mode, and how much it takes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sayso.web.provider import Provider
from sayso.web.stops import Tour

Mode = Literal["local", "team"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a service behaves. Limits are per process.

    Args:
        public_url: The address people and agents use, such as `https://desk.example.com`.
        mode: `team` with accounts, or `local` for whoever sits at this machine.
        cookie: The name of the cookie that keeps a session.
        oidc: The identity provider people may sign in with.
        body_bytes: The largest body of a request.
        body_seconds: How long the body of a request may take to arrive.
        rate: Requests a second that one credential may send in the long run.
        burst: Requests that one credential may send at once.
        strangers_rate: Requests a second from one address without a credential that counts.
        strangers_burst: How many of those at once.
        wait_seconds: The longest `?wait=`.
        waits: Requests that may wait at once.
        waits_each: How many of them with one credential.
        turns_each: Large requests, and such with a schema, of one credential that may stand in line.
        streams: Clients that may follow the events at once.
        streams_each: How many of them with one credential.
        stream_ring: Recent events that are kept in memory for those who follow.
        stream_seconds: How long a client that follows may not read before it is dropped.
        keep_alive: Seconds of silence after which a stream says that it is alive.
        threads: Threads that speak to the database.
        fresh_seconds: How fresh a sign-in must be for a decision on something critical.
        open_metrics: Whether programs on this machine read `/metrics` without a token.
        another_link: The command that prints another link to a service in local mode.
        tour: What a demo shows its visitors.
    """

    public_url: str | None = None
    mode: Mode = "team"
    cookie: str = "sayso_session"
    another_link: str = "sayso serve --url"
    oidc: Provider | None = None
    body_bytes: int = 2 * 1024 * 1024
    body_seconds: float = 20.0
    rate: float = 100.0
    burst: int = 400
    strangers_rate: float = 5.0
    strangers_burst: int = 60
    wait_seconds: float = 60.0
    waits: int = 1000
    waits_each: int = 200
    turns_each: int = 32
    streams: int = 1000
    streams_each: int = 50
    stream_ring: int = 5000
    stream_seconds: float = 20.0
    keep_alive: float = 15.0
    threads: int = 16
    fresh_seconds: float = 15 * 60.0
    open_metrics: bool = False
    tour: Tour | None = None
