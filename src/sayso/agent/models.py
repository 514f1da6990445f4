"""Which model an agent talks to: one by its name, or any object that replies."""

from __future__ import annotations

from sayso.agent.bridge import Bridge
from sayso.agent.messages import Model
from sayso.errors import BadValue


def model_of(model: str | Model) -> Model:
    """Return the model: a name leads to a provider, an object with `reply` is one itself.

    A name is checked for its form at once; keys and connections are looked for with the first
    prompt.

    Raises:
        BadValue: a name of another form, an unknown provider, or something that cannot reply.
        Misuse: a name, and the extra `models` is not installed.
    """
    if isinstance(model, str):
        return Bridge(model)
    if isinstance(model, type) or not callable(getattr(model, "reply", None)):
        raise BadValue(_advice(model))
    return model


def _advice(model: object) -> str:
    """Say what a model is, and what this may have been meant to be."""
    says = "A model is a name such as 'openai:gpt-5', or an object with the method reply(prompt)"
    if isinstance(model, type):
        return (
            f"{says}. This is the class {model.__name__} itself: make one, {model.__name__}(...)."
        )
    if type(model).__module__.partition(".")[0] == "pydantic_ai":
        return f"{says}. A model object of pydantic-ai goes over the bridge: Bridge(model)."
    return f"{says}, not {type(model).__name__}."
