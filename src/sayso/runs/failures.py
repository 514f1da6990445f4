"""What is kept of an exception: a name and a message, whatever the exception is like."""

from __future__ import annotations

import traceback

from sayso.errors import StepFailed
from sayso.model.text import one_line


def kind_of(error: BaseException) -> str:
    """Return the name of its class."""
    return type(error).__name__


def message_of(error: BaseException) -> str:
    """Return what it says on one line; nothing if not even that works."""
    try:
        return one_line(str(error), 1000)
    except Exception:  # noqa: BLE001 - a broken __str__ must not hide the failure
        return ""


def text_of(error: BaseException) -> str:
    """Return both as one text."""
    message = message_of(error)
    return f"{kind_of(error)}: {message}" if message else kind_of(error)


def trace_of(error: BaseException) -> str:
    """Return the end of its traceback, as text that can be stored."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - see message_of
        text = kind_of(error)
    return text[-4000:].encode("utf-8", "backslashreplace").decode()


def failure_of(name: str, error: BaseException) -> StepFailed:
    """Return the failure of a step as it is raised now and at every replay."""
    return StepFailed(name, kind_of(error), message_of(error))


def behind(error: BaseException) -> list[BaseException]:
    """Return an exception and everything that led to it."""
    found: list[BaseException] = []
    queue: list[BaseException | None] = [error]
    while queue:
        one = queue.pop()
        if one is None or any(one is known for known in found):
            continue
        found.append(one)
        queue += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            queue += one.exceptions
    return found
