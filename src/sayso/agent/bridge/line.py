"""An open line to a provider: one model of pydantic-ai and its connections."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import UnexpectedModelBehavior, UserError

from sayso.agent.bridge.asking import Asked
from sayso.agent.bridge.building import Access, built
from sayso.agent.bridge.failures import BrokenOff, Wording
from sayso.agent.bridge.loop import Loop, Put
from sayso.agent.bridge.names import PROVIDERS, Name
from sayso.agent.bridge.replying import Telling, reply_of
from sayso.agent.messages import Prompt, Reply

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings


class Line:
    """A model of pydantic-ai on a loop. When nobody has the line any more, it is closed."""

    def __init__(
        self,
        model: Name | Model,
        loop: Loop,
        *,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        settings: Mapping[str, Any],
    ) -> None:
        self.loop = loop
        if isinstance(model, Name):
            access = Access.of(model, base_url, api_key)
            self._model = built(model, access)
            self._wording = Wording.of(
                str(model), self._model, PROVIDERS[model.provider].keys, access.key
            )
        else:
            self._model = model
            self._wording = Wording.of(model.model_id, model, (), None)
        self._settings = _settings(self._model, timeout, settings)
        # Entering it makes the library's connections ours to close.
        loop.run(lambda put: self._model.__aenter__())
        weakref.finalize(self, _close, self._model, loop)

    def reply(self, prompt: Prompt) -> Reply:
        """Ask, and wait for the whole reply."""
        asked = Asked.of(prompt, self._model.system, self._settings)
        streamed = prompt.say is not None
        response = self.loop.run(lambda put: self._ask(asked, put, streamed=streamed), prompt.say)
        return reply_of(response)

    async def _ask(self, asked: Asked, put: Put, *, streamed: bool) -> ModelResponse:
        try:
            response = await self._sent(asked, put, streamed=streamed)
            self._wording.check(response, streamed=streamed)
        except Exception as error:  # noqa: BLE001 - whatever it is, people are told in our words
            raise self._wording.failure(error) from self._wording.cause(error)
        return response

    async def _sent(self, asked: Asked, put: Put, *, streamed: bool) -> ModelResponse:
        ask = self._piecewise if streamed else self._whole
        try:
            return await ask(asked, put)
        except UserError:  # before anything was sent
            if asked.unforced is None:
                raise
            return await ask(asked.unforced, put)

    async def _whole(self, asked: Asked, put: Put) -> ModelResponse:
        return await model_request(
            self._model,
            asked.messages,
            model_settings=asked.settings,
            model_request_parameters=asked.parameters,
        )

    async def _piecewise(self, asked: Asked, put: Put) -> ModelResponse:
        telling = Telling(put)
        begun = False
        try:
            async with model_request_stream(
                self._model,
                asked.messages,
                model_settings=asked.settings,
                model_request_parameters=asked.parameters,
            ) as stream:
                begun = True
                async for event in stream:
                    telling.take(event)
                return stream.get()
        except UnexpectedModelBehavior as error:
            if begun:
                raise
            raise BrokenOff from error  # before anything was said


def _settings(model: Model, timeout: float, given: Mapping[str, Any]) -> ModelSettings:
    settings: dict[str, Any] = {"request_timeout": timeout}
    if "max_retries" not in model.unsupported_settings:
        settings["max_retries"] = 0  # the agent tries again, and nobody else
    if model.system == "openai":
        # Nothing is kept over there: a run may wait for weeks, and what a person changed must hold.
        settings["openai_store"] = False
    settings |= given
    return cast("ModelSettings", settings)


def _close(model: Model, loop: Loop) -> None:
    loop.later(lambda: model.__aexit__(None, None, None))
