"""Time and chance for code that runs again at every replay: the same each time.

A block of code is run anew whenever its run goes on. If the clock went otherwise then, or
dice fell otherwise, the code would ask for other calls than people approved. So what the code of
a model imports as `time`, `datetime` and `random` is made steady on its way into the
variables of the interpreter. Nothing outside of them is touched.
"""

from __future__ import annotations

import datetime as dt
import random
import time
from types import ModuleType
from typing import Any

_TICK = (
    0.001  # seconds from one look at the clock to the next: code that polls it must come to an end
)
_COUNTERS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")


class Clock:
    """Begins a block at the moment when it ran first, and goes on only as the code looks or sleeps."""

    def __init__(self, seed: str) -> None:
        self._at = 0.0
        self.dice = random.Random(seed)  # noqa: S311 - to be the same each time is what it is for
        self.time: dict[str, Any] = {
            **dict.fromkeys(_COUNTERS, self.look),
            **dict.fromkeys((f"{name}_ns" for name in _COUNTERS), lambda: int(self.look() * 1e9)),
            "sleep": self._sleep,
            "localtime": lambda secs=None: time.localtime(self._secs(secs)),
            "gmtime": lambda secs=None: time.gmtime(self._secs(secs)),
            "ctime": lambda secs=None: time.ctime(self._secs(secs)),
            "asctime": lambda t=None: time.asctime(t or time.localtime(self._secs(None))),
            "strftime": lambda form, t=None: time.strftime(
                form, t or time.localtime(self._secs(None))
            ),
        }
        self.datetime = {"datetime": _steady_datetime(self), "date": _steady_date(self)}

    def begin(self, now: dt.datetime) -> None:
        """Begin a block at this moment; never before the end of the last one."""
        self._at = max(self._at, now.timestamp())

    def look(self) -> float:
        """Return the time in seconds."""
        self._at += _TICK
        return self._at

    def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)
        self._at += seconds

    def _secs(self, given: float | None) -> float:
        return self.look() if given is None else given

    def steady(self, value: Any) -> Any:  # noqa: ANN401 - whatever code imports
        """Return what an import brings in a form that is the same at every replay."""
        if isinstance(value, ModuleType):
            return self._module(value)
        if getattr(value, "__self__", None) is random._inst:  # noqa: SLF001 - `from random import choice`
            return getattr(self.dice, value.__name__)
        for module, instead in ((dt, self.datetime), (time, self.time)):
            for name, steady in instead.items():
                if value is getattr(module, name):
                    return steady
        return value

    def _module(self, module: ModuleType) -> ModuleType:
        """Change the copy of a module that the interpreter has made for the code."""
        instead = {"time": self.time, "datetime": self.datetime}.get(module.__name__)
        if module.__name__ == "random":
            instead = {
                name: getattr(self.dice, name)
                for name, value in vars(random).items()
                if getattr(value, "__self__", None) is random._inst  # noqa: SLF001
            }
        for name, value in (instead or {}).items():
            setattr(module, name, value)
        return module


class Variables(dict[str, Any]):
    """The variables of an interpreter; what is put among them is made steady."""

    def __init__(self, clock: Clock, values: dict[str, Any]) -> None:
        super().__init__(values)
        self._clock = clock

    def __setitem__(self, name: str, value: Any) -> None:  # noqa: ANN401
        """Keep a variable."""
        changes = isinstance(value, ModuleType) or callable(value)
        super().__setitem__(name, self._clock.steady(value) if changes else value)

    def copy(self) -> Variables:
        """Return the variables of a function that is called: its own, and just as steady."""
        return Variables(self._clock, dict(self))


def _steady_datetime(clock: Clock) -> Any:  # noqa: ANN401 - a class like datetime
    real = dt.datetime

    class Steady(_like(real)):  # type: ignore[misc]
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:
            return real.fromtimestamp(clock.look(), tz)

        @classmethod
        def today(cls) -> dt.datetime:
            return real.fromtimestamp(clock.look())

        @classmethod
        def utcnow(cls) -> dt.datetime:
            return real.fromtimestamp(clock.look(), dt.UTC).replace(tzinfo=None)

    return Steady


def _steady_date(clock: Clock) -> Any:  # noqa: ANN401 - a class like date
    real = dt.date

    class Steady(_like(real)):  # type: ignore[misc]
        @classmethod
        def today(cls) -> dt.date:
            return real.fromtimestamp(clock.look())

    return Steady


def _like(real: type) -> type:
    """Return a class that makes values of the real one, and takes them for its own."""

    class Like(type(real)):  # type: ignore[misc]
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, real)

    def new(_: type, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return real(*args, **kwargs)

    return Like(real.__name__, (real,), {"__new__": new, "__module__": real.__module__})
