"""A model is named as people would name it, and a wrong name says what was meant."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sayso.agent.bridge import Bridge
from sayso.agent.bridge.names import PROVIDERS
from sayso.agent.messages import Prompt, Reply
from sayso.agent.models import model_of
from sayso.errors import BadValue


class Parrot:
    def reply(self, prompt: Prompt) -> Reply:
        return Reply(text=prompt.last)


def child(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_name_of_a_known_provider_leads_over_the_bridge(provider: str) -> None:
    model = model_of(f"{provider}:some-model")

    assert isinstance(model, Bridge)
    assert repr(model) == f"Bridge('{provider}:some-model')"


def test_colons_and_slashes_belong_to_the_name() -> None:
    assert repr(model_of("ollama:llama3.2:3b")) == "Bridge('ollama:llama3.2:3b')"
    assert repr(model_of("huggingface:a/b:fast")) == "Bridge('huggingface:a/b:fast')"


def test_an_object_that_replies_is_itself_the_model() -> None:
    parrot = Parrot()

    assert model_of(parrot) is parrot


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("opnai:gpt-5", "Did you mean openai:gpt-5?"),
        ("OpenAI:gpt-5", "Did you mean openai:gpt-5?"),
        ("gemini:pro", "Did you mean google:pro?"),
        ("claude:opus", "Did you mean anthropic:opus?"),
        ("hf:a/b", "Did you mean huggingface:a/b?"),
        ("gpt-5", "such as openai:gpt-5"),
        ("claude-opus-5", "such as anthropic:claude-opus-5"),
        ("gemini-3-pro", "such as google:gemini-3-pro"),
        ("xyzzy:model", "base_url="),
        ("xyzzy:model", "openai, anthropic, google, huggingface, ollama"),
        ("openai:", "names no model"),
        ("openai: gpt-5", "without blanks"),
        ("", "names no provider"),
    ],
)
def test_a_wrong_name_is_refused_at_once_and_says_what_was_meant(wrong: str, hint: str) -> None:
    with pytest.raises(BadValue) as caught:
        model_of(wrong)

    assert hint in str(caught.value)


def test_a_hostile_name_stays_on_its_line() -> None:
    with pytest.raises(BadValue) as caught:
        model_of("evil\n\x1b[2J:" + "x" * 5000)

    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("wrong", [None, 7, Parrot, object(), lambda prompt: Reply()])
def test_what_cannot_reply_is_no_model(wrong: Any) -> None:
    with pytest.raises(BadValue, match="reply"):
        model_of(wrong)


def test_a_foreign_model_object_is_told_the_way_over_the_bridge() -> None:
    from pydantic_ai.models.test import TestModel

    foreign: Any = TestModel()
    with pytest.raises(BadValue, match=r"Bridge\(model\)"):
        model_of(foreign)


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "http://", "ftp://host/v1", "", "http://[::1"]
)
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(BadValue, match="no address"):
        Bridge("openai:model", base_url=url)


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_bridge_needs_time(timeout: float) -> None:
    with pytest.raises(BadValue, match="no time"):
        Bridge("openai:gpt-5", timeout=timeout)


@pytest.mark.parametrize("wrong", [None, 7, Parrot()])
def test_a_bridge_leads_to_names_and_foreign_models_only(wrong: Any) -> None:
    with pytest.raises(BadValue, match="by its name"):
        Bridge(wrong)


def test_a_foreign_model_object_brings_its_own_address_and_key() -> None:
    from pydantic_ai.models.test import TestModel

    with pytest.raises(BadValue, match="its own"):
        Bridge(TestModel(), api_key="key")


def test_naming_a_model_loads_no_library_and_asks_for_no_key() -> None:
    loaded = child(
        "import sys, sayso, sayso.agent\n"
        "from sayso.agent.models import model_of\n"
        "model_of('openai:gpt-5'), model_of('anthropic:claude-opus-5')\n"
        "heavy = ('pydantic_ai', 'openai', 'anthropic', 'google', 'huggingface_hub', 'httpx2')\n"
        "print([name for name in heavy if name in sys.modules])"
    )

    assert loaded.strip() == "[]"


def test_without_the_extra_people_are_told_how_to_install_it() -> None:
    said = child(
        "import sys\n"
        "sys.modules['pydantic_ai'] = None\n"  # as if it were not there
        "import sayso\n"
        "from sayso.agent.models import model_of\n"
        "try: model_of('openai:gpt-5')\n"
        "except sayso.errors.Misuse as error: print(error)"
    )

    assert 'pip install "sayso[models]"' in said


def test_without_a_provider_s_library_people_are_told_how_to_install_it() -> None:
    said = child(
        "import sys\n"
        "sys.modules['anthropic'] = None\n"
        "import sayso\n"
        "from sayso.agent.bridge import Bridge\n"
        "from sayso.agent.messages import Message, Prompt\n"
        "model = Bridge('anthropic:claude-opus-5', api_key='key')\n"
        "try: model.reply(Prompt(messages=(Message(role='user', text='Hello'),)))\n"
        "except sayso.errors.Misuse as error: print(error)"
    )

    assert 'pip install "sayso[models]"' in said
