"""Embedders and rerankers: built in, or behind HTTP. Chosen by settings.

The environment is never read here: url and key are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from weft.core.clock import Clock
from weft.core.errors import Misconfigured
from weft.core.ports import AnswerJudge, Embedder, Reranker

__all__ = [
    "LOCAL_EMBEDDERS",
    "LOCAL_RERANKERS",
    "SERVED_EMBEDDERS",
    "SERVED_RERANKERS",
    "embedder_from",
    "embedder_of",
    "judge_from",
    "reranker_from",
    "server_of",
]

OLLAMA_URL = "http://127.0.0.1:11434"
OPENAI_URL = "https://api.openai.com/v1"
SERVED_URLS: Mapping[str, str] = MappingProxyType({"ollama": OLLAMA_URL, "openai": OPENAI_URL})
DEFAULT_TIMEOUT_S = 5.0
RERANK_DEADLINE_S = 3.0  # per query, all attempts included


def _builtin() -> Embedder:
    from weft.models.builtin import BuiltinEmbedder

    return BuiltinEmbedder()


def judge_from(name: str) -> AnswerJudge | None:
    """The answer judge of a setting. Loads nothing yet."""
    if name == "none":
        return None
    from weft.models.answer_judge import BuiltinJudge

    return BuiltinJudge()


def _none() -> None:
    return None


def _ollama(model: str, url: str, key: str) -> Embedder:
    from weft.models.http import OllamaEmbedder
    from weft.models.json_post import Endpoint

    return OllamaEmbedder(model, Endpoint(url or OLLAMA_URL, key, DEFAULT_TIMEOUT_S))


def _openai(model: str, url: str, key: str) -> Embedder:
    from weft.models.http import HttpEmbedder
    from weft.models.json_post import Endpoint

    return HttpEmbedder(model, Endpoint(url or OPENAI_URL, key, DEFAULT_TIMEOUT_S))


# Named without a model: "builtin".
LOCAL_EMBEDDERS: Mapping[str, Callable[[], Embedder | None]] = MappingProxyType({"builtin": _builtin, "none": _none})

# Named with their model: "ollama:nomic-embed-text".
SERVED_EMBEDDERS: Mapping[str, Callable[[str, str, str], Embedder]] = MappingProxyType(
    {"ollama": _ollama, "openai": _openai}
)


def embedder_from(name: str, *, url: str = "", key: str = "") -> Embedder | None:
    """The embedder of a setting, None for "none". Loads and sends nothing yet.

    Raises Misconfigured for a name in neither table, or an unusable url or key.
    """
    if name in LOCAL_EMBEDDERS:
        return LOCAL_EMBEDDERS[name]()
    kind, _, model = name.partition(":")
    if kind not in SERVED_EMBEDDERS or not model:
        known = [*LOCAL_EMBEDDERS, *(f"{kind}:<model>" for kind in SERVED_EMBEDDERS)]
        raise Misconfigured(f"there is no embedder {name!r}", hint=f"one of {', '.join(known)}")
    return SERVED_EMBEDDERS[kind](model, url, key)


def embedder_of(model: str) -> str:
    """The setting that names a space's embedder, derived from the space's name; empty if unknown."""
    from weft.models.builtin import MODEL_NAME

    if model == MODEL_NAME:
        return "builtin"
    kind, _, name = model.partition(":")
    return model if kind in SERVED_EMBEDDERS and name else ""


def server_of(name: str, url: str = "") -> str:
    """The server that an embedder sends texts to; empty if it sends none."""
    return url or SERVED_URLS.get(name.partition(":")[0], "") if name not in LOCAL_EMBEDDERS else ""


def _lexical() -> Reranker:
    from weft.models.overlap import LexicalReranker

    return LexicalReranker()


def _cross_encoder(model: str, url: str, key: str, timeout_s: float) -> Reranker:
    from weft.models.json_post import Endpoint
    from weft.models.rerankers import CrossEncoderReranker

    return CrossEncoderReranker(model, Endpoint(url, key, timeout_s))


def _late_interaction(model: str, url: str, key: str, timeout_s: float) -> Reranker:
    from weft.models.json_post import Endpoint
    from weft.models.rerankers import LateInteractionReranker

    return LateInteractionReranker(model, Endpoint(url, key, timeout_s))


def _chat(model: str, url: str, key: str, timeout_s: float) -> Reranker:
    from weft.models.chat import OpenAiChat
    from weft.models.rerankers import ChatReranker

    return ChatReranker(OpenAiChat(model, url or OPENAI_URL, key), deadline_s=timeout_s)


# Named without a model: "lexical".
LOCAL_RERANKERS: Mapping[str, Callable[[], Reranker | None]] = MappingProxyType({"lexical": _lexical, "none": _none})

# Named with their model: "http:bge-reranker-v2-m3".
SERVED_RERANKERS: Mapping[str, Callable[[str, str, str, float], Reranker]] = MappingProxyType(
    {"http": _cross_encoder, "late": _late_interaction, "openai": _chat}
)


def reranker_from(
    name: str, *, clock: Clock, url: str = "", key: str = "", deadline_s: float = RERANK_DEADLINE_S
) -> Reranker | None:
    """The reranker of a setting, None for "none". Loads and sends nothing yet.

    One behind HTTP is abandoned after `deadline_s`, and not called for a while after a failure. Raises Misconfigured
    for a name in neither table, or an unusable url or key.
    """
    if name in LOCAL_RERANKERS:
        return LOCAL_RERANKERS[name]()
    kind, _, model = name.partition(":")
    if kind not in SERVED_RERANKERS or not model:
        known = [*LOCAL_RERANKERS, *(f"{kind}:<model>" for kind in SERVED_RERANKERS)]
        raise Misconfigured(f"there is no reranker {name!r}", hint=f"one of {', '.join(known)}")
    if not url and kind != "openai":
        raise Misconfigured(f"the reranker {name!r} has no address", hint="set reranker_url to its server's")
    from weft.models.reranker_in_use import RestingReranker

    return RestingReranker(SERVED_RERANKERS[kind](model, url, key, deadline_s), clock, deadline_s=deadline_s)
