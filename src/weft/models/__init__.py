"""Embedders: the built-in one, and those behind HTTP. Chosen by a setting's value, which `embedder_from` reads.

The environment is never read here: url and key come in as arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from weft.errors import Misconfigured
from weft.ports import Embedder

__all__ = ["LOCAL_EMBEDDERS", "SERVED_EMBEDDERS", "embedder_from"]

OLLAMA_URL = "http://127.0.0.1:11434"
OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_TIMEOUT_S = 5.0


def _builtin() -> Embedder:
    from weft.models.builtin import BuiltinEmbedder

    return BuiltinEmbedder()


def _none() -> None:
    return None


def _ollama(model: str, url: str, key: str, timeout_s: float) -> Embedder:
    from weft.models.http import OllamaEmbedder
    from weft.models.json_post import Endpoint

    return OllamaEmbedder(model, Endpoint(url or OLLAMA_URL, key, timeout_s))


def _openai(model: str, url: str, key: str, timeout_s: float) -> Embedder:
    from weft.models.http import HttpEmbedder
    from weft.models.json_post import Endpoint

    return HttpEmbedder(model, Endpoint(url or OPENAI_URL, key, timeout_s))


# Named alone: "builtin".
LOCAL_EMBEDDERS: Mapping[str, Callable[[], Embedder | None]] = MappingProxyType({"builtin": _builtin, "none": _none})

# Named with their model: "ollama:nomic-embed-text".
SERVED_EMBEDDERS: Mapping[str, Callable[[str, str, str, float], Embedder]] = MappingProxyType(
    {"ollama": _ollama, "openai": _openai}
)


def embedder_from(name: str, *, url: str = "", key: str = "", timeout_s: float = DEFAULT_TIMEOUT_S) -> Embedder | None:
    """The embedder a setting names, None for "none". Loads and sends nothing yet.

    Raises Misconfigured for a name in neither table, or an unusable url, key or timeout.
    """
    if name in LOCAL_EMBEDDERS:
        return LOCAL_EMBEDDERS[name]()
    kind, _, model = name.partition(":")
    if kind not in SERVED_EMBEDDERS or not model:
        known = [*LOCAL_EMBEDDERS, *(f"{kind}:<model>" for kind in SERVED_EMBEDDERS)]
        raise Misconfigured(f"there is no embedder {name!r}", hint=f"one of {', '.join(known)}")
    return SERVED_EMBEDDERS[kind](model, url, key, timeout_s)
