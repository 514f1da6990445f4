"""How models are named, and where the keys and addresses of their providers are looked for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import urlsplit

from sayso.errors import BadValue
from sayso.model.text import one_line


@dataclass(frozen=True, slots=True)
class Provider:
    """The environment variables that hold a provider's key (the first one set) and address."""

    keys: tuple[str, ...]
    address: str | None = None
    default: str | None = None

    @property
    def key(self) -> str | None:
        """The key in the environment."""
        return next((value for name in self.keys if (value := os.environ.get(name))), None)

    @property
    def url(self) -> str | None:
        """The address in the environment, or the usual one if the provider has none of its own."""
        return (os.environ.get(self.address) if self.address else None) or self.default


PROVIDERS = {
    "openai": Provider(("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL"),
    "google": Provider(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "GOOGLE_GEMINI_BASE_URL"),
    "huggingface": Provider(("HF_TOKEN",)),
    "ollama": Provider(("OLLAMA_API_KEY",), "OLLAMA_BASE_URL", "http://localhost:11434/v1"),
}

# What people write instead, or begin a name with that lacks its provider.
_ALSO = {
    "chatgpt": "openai",
    "claude": "anthropic",
    "gemini": "google",
    "google-gla": "google",
    "gpt": "openai",
    "hf": "huggingface",
    "llama": "ollama",
    "openai-chat": "openai",
    "openai-compatible": "openai",
    "openai-responses": "openai",
}


@dataclass(frozen=True, slots=True)
class Name:
    """A model's name, taken apart."""

    provider: str
    model: str

    @classmethod
    def of(cls, text: str) -> Name:
        """Take `provider:model` apart; what comes after the first colon is the provider's business.

        Raises:
            BadValue: it has another form, or nobody here knows the provider.
        """
        provider, colon, model = text.partition(":")
        if not colon:
            raise BadValue(
                f"{_shown(text)} names no provider. Write provider:model, such as "
                f"{_likely(text) or 'openai'}:{one_line(text, 80) or 'gpt-5'}. {_known()}"
            )
        if provider not in PROVIDERS:
            meant = _likely(provider)
            hint = f" Did you mean {meant}:{one_line(model, 80)}?" if meant else ""
            raise BadValue(
                f"{_shown(text)} names a provider that is not known here.{hint} {_known()} Any other "
                "service that speaks OpenAI's protocol: Bridge('openai:model', base_url=...)."
            )
        if not model or model != model.strip():
            raise BadValue(
                f"{_shown(text)} names no model. Write {provider}:model, without blanks around it."
            )
        return cls(provider, model)

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


def is_address(url: str) -> bool:
    """Say whether requests could go there."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _likely(word: str) -> str | None:
    """The provider that somebody probably meant."""
    word = word.strip().lower()
    if word in PROVIDERS:
        return word
    begun = next(
        (_ALSO[also] for also in sorted(_ALSO, reverse=True) if word.startswith(also)), None
    )
    close = get_close_matches(word, [*PROVIDERS, *_ALSO], 1)
    return begun or (_ALSO.get(close[0], close[0]) if close else None)


def _shown(text: str) -> str:
    return repr(one_line(text, 80))


def _known() -> str:
    return f"Known: {', '.join(PROVIDERS)}."
