"""When a provider does not reply: is it worth asking again, and what to tell people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
)

from sayso.errors import ModelFailed, ModelUnavailable, SaysoError
from sayso.model.text import one_line

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model

_LATER = (ModelRateLimitError, ModelUnavailableError, ModelServerError)
_LATER_STATUS = {408, 409, 425, 429, 529}
_WIDTH = 300
_SHORTEST_SECRET = 6
_KEY = re.compile(r"\b(?:sk|hf|gsk|xai|AIza)[-_\w*]{12,}")  # what looks like one, whoever's it is


class BrokenOff(Exception):
    """A stream ended, and the reply had not."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What people are told of a model: its name, where it is, where its key comes from."""

    name: str
    address: str
    keys: tuple[str, ...]
    secret: str | None

    @classmethod
    def of(cls, name: str, model: Model, keys: tuple[str, ...], secret: str | None) -> Wording:
        """Find out where the model is."""
        try:
            parts = urlsplit(model.base_url or "")
            address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        except (AttributeError, ValueError, RuntimeError):
            address = ""  # not every provider has one
        return cls(name, address if "://" in address.strip(":/") else "", keys, secret)

    # --- replies that are none ---

    def check(self, response: ModelResponse, *, streamed: bool = False) -> None:
        """Refuse what only looks like a whole reply.

        Raises:
            BrokenOff: the stream ended in the middle.
            ModelFailed: it was cut off, or kept back.
            ModelUnavailable: the provider says it went wrong.
        """
        details = response.provider_details or {}
        if streamed and (response.state != "complete" or not details.get("finish_reason")):
            raise BrokenOff
        if response.finish_reason == "length":
            raise ModelFailed(
                f"{self.name} reached its limit of output tokens, so its reply is cut off. Allow "
                f"more: Bridge('{self.name}', settings={{'max_tokens': ...}})."
            )
        if response.finish_reason == "content_filter":
            why = self._shown(str(details.get("refusal") or response.text or "it does not say why"))
            raise ModelFailed(f"{self.name} refuses to answer: {why}.")
        if response.finish_reason == "error" and not response.parts:
            raise ModelUnavailable(f"{self.name} ended its reply with an error; again, it may not.")

    # --- errors ---

    def failure(self, error: Exception) -> SaysoError:
        """Return the error in our words."""
        match error:
            case SaysoError():
                told = error
            case BrokenOff():
                told = ModelUnavailable(f"{self.name} broke off in the middle of its reply.")
            case ModelRequestTimeout():
                told = ModelUnavailable(f"{self.name} did not reply within {error.timeout:g} s.")
            case ModelConnectionError() | httpx2.TransportError() | OSError():
                why = self._shown(str(_innermost(error)))
                told = ModelUnavailable(f"{self.name} could not be reached{self._at}: {why}.")
            case ModelAPIError():
                told = self._refusal(error)
            case UnexpectedModelBehavior():
                told = ModelFailed(
                    f"{self.name} sent what is no reply: {self._shown(str(error))}. Check the "
                    f"address{self._at}."
                )
            case _:
                why = f"{type(error).__name__}: {self._shown(str(error))}"
                told = ModelFailed(f"{self.name} could not be asked: {why}.")
        return told

    @property
    def _at(self) -> str:
        return f" at {self.address}" if self.address else ""

    def cause(self, error: Exception) -> Exception | None:
        """Return what to show as the cause: nothing, if the key is in it."""
        leaks = isinstance(error, SaysoError) or self._concealed(str(error)) != str(error)
        return None if leaks else error

    def _refusal(self, error: ModelAPIError) -> ModelFailed:
        status = error.status_code if isinstance(error, ModelHTTPError) else None
        said = ": ".join(part for part in (str(status or ""), self._shown(_said(error))) if part)
        if _is_passing(error, status):
            return ModelUnavailable(
                f"{self.name} cannot reply now: {said}.", after=error.retry_after
            )
        return ModelFailed(f"{self.name} refused the request: {said}. {self._advice(error)}")

    def _advice(self, error: ModelAPIError) -> str:
        """Say what to do next."""
        match error:
            case ModelAuthenticationError():
                where = f" in {' or '.join(self.keys)}" if self.keys else ""
                return f"Check the key{where}, and what it may use."
            case ModelNotFoundError():
                suggested = getattr(error, "suggested_model_id", None)
                hint = f" Did you mean {suggested}?" if suggested else ""
                where = f" and the address, {self.address}" if self.address else ""
                return f"Check the name of the model{where}.{hint}"
            case ModelQuotaExceededError():
                return "The account has nothing left to spend: top it up, or raise its limit."
            case ModelContextWindowExceededError():
                return "The conversation is longer than this model reads: take one that reads more."
            case _:
                return "The same request will be refused again: change the tools or the settings."

    def _shown(self, text: str) -> str:
        words = " ".join(self._concealed(text).split())  # providers say things in several lines
        return one_line(words.rstrip("."), _WIDTH)

    def _concealed(self, text: str) -> str:
        if self.secret is not None and len(self.secret) >= _SHORTEST_SECRET:
            text = text.replace(self.secret, "***")
        return _KEY.sub("***", text)


def _is_passing(error: ModelAPIError, status: int | None) -> bool:
    """Say whether it is worth asking again. Providers also report errors inside a stream."""
    if isinstance(error, ModelQuotaExceededError):
        return False  # often a 429, but waiting does not help
    if isinstance(error, _LATER) or status in _LATER_STATUS or (status or 0) >= 500:
        return True
    return status is None and error.in_stream


def _innermost(error: BaseException) -> BaseException:
    """Return the cause of all the causes: libraries wrap a refused connection several times."""
    cause = error.__cause__ or error.__context__
    return error if cause is None or not str(cause) else _innermost(cause)


def _said(error: Exception) -> str:
    """Return the provider's own sentence, wherever it put it."""
    body: Any = getattr(error, "body", None)
    for _ in range(2):
        if isinstance(body, Mapping):
            body = body.get("error", body.get("message", body))
    if isinstance(body, Mapping):
        body = body.get("message", body)
    return str(body or error) or type(error).__name__
