"""The providers we know by name: where they are, which variables hold their keys, which model to begin with.

Providers with a `base_url` speak OpenAI's chat completions and are reached by our own engine; litellm reaches the rest.
A provider that is not listed is litellm's, with its key in `<NAME>_API_KEY`, or the person's (`[providers.<name>]`).
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from agent_server.frozen import frozen


@frozen
class Provider:
    """What is known about one provider."""

    name: str
    """The part of a model's name before the first slash."""
    key_variables: tuple[str, ...] = ()
    """The first that is set holds the key."""
    base_url: str | None = None
    url_variables: tuple[str, ...] = ()
    """The first that is set replaces `base_url`."""
    model: str | None = None
    """The model that a new session gets when only this provider's key is found."""
    local: bool = False
    """Runs on the person's machine and costs nothing."""
    output_field: str = "max_tokens"


# In the order in which keys are looked for when no model is named (documented in the README).
PROVIDERS = (
    Provider("anthropic", ("ANTHROPIC_API_KEY",), model="anthropic/claude-sonnet-5-5"),
    Provider(
        "openai",
        ("OPENAI_API_KEY",),
        "https://api.openai.com/v1",
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        model="openai/gpt-5.5",
        output_field="max_completion_tokens",
    ),
    Provider("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), model="gemini/gemini-pro-latest"),
    Provider(
        "openrouter",
        ("OPENROUTER_API_KEY",),
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_BASE_URL", "OPENROUTER_API_BASE"),
        model="openrouter/auto",
    ),
    Provider(
        "deepseek",
        ("DEEPSEEK_API_KEY",),
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_BASE_URL", "DEEPSEEK_API_BASE"),
        model="deepseek/deepseek-chat",
    ),
    Provider(
        "mistral",
        ("MISTRAL_API_KEY",),
        "https://api.mistral.ai/v1",
        ("MISTRAL_BASE_URL", "MISTRAL_API_BASE"),
        model="mistral/mistral-large-latest",
    ),
    Provider(
        "xai",
        ("XAI_API_KEY",),
        "https://api.x.ai/v1",
        ("XAI_BASE_URL", "XAI_API_BASE"),
        model="xai/grok-4.7",
    ),
    Provider(
        "groq",
        ("GROQ_API_KEY",),
        "https://api.groq.com/openai/v1",
        ("GROQ_BASE_URL", "GROQ_API_BASE"),
        model="groq/openai/gpt-oss-120b",
    ),
    Provider(
        "ollama",
        ("OLLAMA_API_KEY",),
        "http://127.0.0.1:11434/v1",
        ("OLLAMA_BASE_URL", "OLLAMA_API_BASE", "OLLAMA_HOST"),
        local=True,
    ),
    Provider(
        "lm_studio",
        ("LM_STUDIO_API_KEY",),
        "http://127.0.0.1:1234/v1",
        ("LM_STUDIO_BASE_URL", "LM_STUDIO_API_BASE"),
        local=True,
    ),
)

BY_NAME: Mapping[str, Provider] = {provider.name: provider for provider in PROVIDERS}


def provider(name: str) -> Provider:
    """The provider of that name; one we do not know is litellm's."""
    variable = name.upper().replace("-", "_")
    return BY_NAME.get(name) or Provider(name, (f"{variable}_API_KEY",))


def set_address(known: Provider, environ: Mapping[str, str]) -> str | None:
    """The address that a variable sets in place of the provider's own. Ollama names a mere host."""
    given = next((environ[name] for name in known.url_variables if environ.get(name)), None)
    if given is None or not known.local:
        return given
    url = given if "://" in given else f"http://{given}"
    # What a server listens on is not where a client finds it.
    url = url.replace("//0.0.0.0", "//127.0.0.1").rstrip("/")
    return url if urlsplit(url).path else f"{url}/v1"


def set_variable(known: Provider, environ: Mapping[str, str]) -> str | None:
    """The variable that holds this provider's key, if one is set."""
    return next((name for name in known.key_variables if environ.get(name)), None)
