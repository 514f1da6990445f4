"""Making pydantic-ai's model for a name: which of its classes, which address, which key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sayso.agent.bridge.names import PROVIDERS, Name, is_address
from sayso.errors import ModelFailed
from sayso.model.text import one_line

if TYPE_CHECKING:
    from pydantic_ai.models import Model


@dataclass(frozen=True, slots=True)
class Access:
    """Where requests go, and the key that goes with them."""

    url: str | None
    key: str | None

    @classmethod
    def of(cls, name: Name, base_url: str | None, api_key: str | None) -> Access:
        """Find out from what was given and from the environment.

        Raises:
            ModelFailed: the provider wants a key, and there is none; or its address is none.
        """
        provider = PROVIDERS[name.provider]
        if base_url is not None:
            # The key in the environment is for somebody else.
            return cls(base_url, api_key)
        found = cls(provider.url, api_key or provider.key)
        if found.url is not None and not is_address(found.url):
            raise ModelFailed(
                f"{name} cannot be reached: {provider.address} is {one_line(found.url, 80)!r}, which is "
                "no address. Begin it with http:// or https://."
            )
        if found.key is None and found.url is None:
            raise ModelFailed(
                f"{name} wants a key, and there is none: set {' or '.join(provider.keys)}, or give "
                f"Bridge('{name}', api_key=...)."
            )
        return found


def built(name: Name, access: Access) -> Model:
    """Make the model. Libraries of other providers are not loaded.

    Raises:
        ImportError: the provider's library is not installed.
    """
    return _BUILDERS[name.provider](name.model, access)


def _openai(model: str, access: Access) -> Model:
    if access.url is not None and not _is_openai(access.url):
        return _compatible(model, access.url, access.key)
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=access.url, api_key=access.key)
    return OpenAIResponsesModel(model, provider=provider)


def _is_openai(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def _compatible(model: str, url: str, key: str | None) -> Model:
    """Others speak chat completions; only OpenAI itself is sure to speak its newer protocol."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider("compatible", base_url=url, api_key=key)
    return OpenAIChatModel(model, provider=provider)


def _anthropic(model: str, access: Access) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=access.url, api_key=access.key or _NO_KEY)
    return AnthropicModel(model, provider=provider)


def _google(model: str, access: Access) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(base_url=access.url, api_key=access.key or _NO_KEY)
    return GoogleModel(model, provider=provider)


def _huggingface(model: str, access: Access) -> Model:
    from pydantic_ai.models.huggingface import HuggingFaceModel
    from pydantic_ai.providers.huggingface import HuggingFaceProvider

    key = access.key or _NO_KEY
    provider = (
        HuggingFaceProvider(base_url=access.url, api_key=key)
        if access.url
        else HuggingFaceProvider(api_key=key)
    )
    return HuggingFaceModel(model, provider=provider)


def _ollama(model: str, access: Access) -> Model:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    # Its provider would look for a key in the environment by itself.
    provider = OllamaProvider(base_url=access.url, api_key=access.key or _NO_KEY)
    return OllamaModel(model, provider=provider)


_NO_KEY = "no-key"  # for a server that wants none; the libraries insist on a text

_BUILDERS = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "huggingface": _huggingface,
    "ollama": _ollama,
}
