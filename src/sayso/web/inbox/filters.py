"""Which part of the queue somebody looks at. All of it is in the address, so that links keep it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args
from urllib.parse import urlencode

from sayso.web.look.views import Chip, Narrowing

View = Literal["mine", "team", "high", "decided"]
VIEWS: tuple[View, ...] = get_args(View)
_LABELS: Mapping[View, str] = {
    "mine": "Mine",
    "team": "Team",
    "high": "High risk",
    "decided": "Decided",
}
_NARROW = ("agent", "tool", "kind", "run", "q")
_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """One view, and what narrows it down."""

    view: View = "mine"
    agent: str | None = None
    tool: str | None = None
    kind: str | None = None
    run: str | None = None
    q: str | None = None
    after: str | None = None

    @classmethod
    def of(cls, params: Mapping[str, str]) -> Filters:
        """Read the filters of an address. A view that does not exist is the first one."""
        view: View = next((view for view in VIEWS if view == params.get("view")), "mine")
        given = {name: params.get(name, "").strip()[:_LONGEST] or None for name in _NARROW}
        return cls(view=view, after=params.get("after") or None, **given)

    @property
    def query(self) -> str:
        """What an address ends in to keep these filters: `?view=high&q=tea`, or nothing."""
        said: list[tuple[str, str]] = [("view", self.view)] if self.view != "mine" else []
        said += self._narrowed()
        said += [("after", self.after)] if self.after else []
        return f"?{urlencode(said)}" if said else ""

    def href(self, path: str = "/inbox") -> str:
        """Return the address of a page with these filters."""
        return f"{path}{self.query}"

    def saying(self, path: str, **more: str) -> str:
        """Return the address of a page that is told something more."""
        return saying(self.href(path), **more)

    def chips(self) -> tuple[Chip, ...]:
        """Return the views, each keeping what narrows this one down."""
        return tuple(
            Chip(
                label=label,
                href=replace(self, view=view, after=None).href(),
                current=view == self.view,
            )
            for view, label in _LABELS.items()
        )

    def narrowed(self) -> tuple[Narrowing, ...]:
        """Return what narrows it down, and how to let go of each."""
        return tuple(
            Narrowing(
                name=name,
                value=value,
                without=replace(self, after=None, **{name: None}).href(),  # type: ignore[arg-type]
            )
            for name, value in self._narrowed()
        )

    def _narrowed(self) -> Iterator[tuple[str, str]]:
        for name in _NARROW:
            value = getattr(self, name)
            if value is not None:
                yield name, value


def saying(address: str, **more: str) -> str:
    """Return an address of ours that is told something more."""
    return f"{address}{'&' if '?' in address else '?'}{urlencode(more)}"
