"""A model of a provider, by its name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sayso.agent.bridge import loop
from sayso.agent.bridge.names import Name, is_address
from sayso.agent.messages import Prompt, Reply
from sayso.errors import BadValue, Misuse
from sayso.model.text import one_line

if TYPE_CHECKING:
    from pydantic_ai.models import Model as Foreign

    from sayso.agent.bridge.line import Line


class Bridge:
    """A language model of a provider, reached through pydantic-ai.

    `Agent(model="openai:gpt-5")` makes one by itself; make one yourself to say more:

    - `base_url`: another address, such as your own server that speaks OpenAI's protocol.
    - `api_key`: else it is taken from the environment. A key in the environment is sent to an
      address from the environment, or the provider's own, and never to a `base_url` given here.
    - `timeout`: how many seconds a reply may take, all of it.
    - `settings`: whatever else pydantic-ai's `ModelSettings` has: `temperature`, `max_tokens`,
      `thinking`.

    Instead of a name it takes a model object of pydantic-ai, for the providers not named here.
    Nothing is loaded or looked for before the first prompt. May be used by many threads at once.
    """

    def __init__(
        self,
        model: str | Foreign,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 600.0,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        if find_spec("pydantic_ai") is None:
            raise Misuse(_missing("pydantic-ai is not installed"))
        self._model = Name.of(model) if isinstance(model, str) else _foreign(model)
        if not isinstance(self._model, Name) and (base_url is not None or api_key is not None):
            raise BadValue(
                "A model object of pydantic-ai has its own address and key: give base_url and "
                "api_key to its provider, or name the model instead."
            )
        if base_url is not None and not is_address(base_url):
            raise BadValue(
                f"{one_line(base_url, 80)!r} is no address. Begin it with http:// or https://, such as "
                "http://localhost:8000/v1."
            )
        if timeout <= 0:
            raise BadValue(f"A timeout of {timeout:g} s leaves no time for a reply.")
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._settings = dict(settings or {})
        self._line: Line | None = None

    def __repr__(self) -> str:
        model = self._model if isinstance(self._model, Name) else self._model.model_id
        return f"Bridge({str(model)!r})"

    def reply(self, prompt: Prompt) -> Reply:
        """Reply, blocking until all of it is there; `prompt.say` is called in this thread.

        Raises:
            ModelUnavailable: too many requests, an overloaded provider, no connection, a reply
                that broke off or took too long. `after` is when the provider wants to be asked
                again, if it said so.
            ModelFailed: a wrong key, an unknown model, a request it refuses, a reply that is cut
                off at the limit of tokens.
            Misuse: the provider's library is not installed.
        """
        return self._open().reply(prompt)

    def _open(self) -> Line:
        """Return the line of this process: a child that was forked off has to open its own.

        Two threads may open one each; the one that is not kept is closed when it has replied.
        """
        here = loop.current()
        line = self._line
        if line is None or line.loop is not here:
            try:
                from sayso.agent.bridge.line import Line

                line = Line(
                    self._model,
                    here,
                    base_url=self._base_url,
                    api_key=self._api_key,
                    timeout=self._timeout,
                    settings=self._settings,
                )
            except ImportError as error:
                raise Misuse(_missing(f"A library is missing: {error}")) from error
            self._line = line
        return line


def _foreign(model: Foreign) -> Foreign:
    # Whoever has such an object has loaded its module.
    module = sys.modules.get("pydantic_ai.models")
    known = module is not None and isinstance(model, module.Model)
    if not known:
        raise BadValue(
            "A bridge leads to a model by its name, such as openai:gpt-5, or to a model object of "
            f"pydantic-ai, not to {type(model).__name__}."
        )
    return model


def _missing(what: str) -> str:
    return f'{what}. Models of providers need the extra: pip install "sayso[models]"'
