"""Checks of settings and tools when a server starts."""

from __future__ import annotations

from weft.runtime.settings.load import Settings, check_store
from weft.surfaces.agent_files import check_agent_files
from weft.surfaces.toolsets import offer_of, served_lines


def check_start(settings: Settings, *, network: bool) -> tuple[str, ...]:
    """Lines to print on standard error when a server starts.

    Raises Misconfigured for an invalid store or model, and with one line for each unknown toolset, allowed or excluded
    tool, or tool in an agent's file.
    """
    _check_parts(settings)
    offered = offer_of(settings, network=network)
    return (*served_lines(offered), *check_agent_files(settings, offered))


def _check_parts(settings: Settings) -> None:
    """Checks the names of store and models without opening or loading them."""
    from weft.core.clock import SystemClock
    from weft.models import LOCAL_EMBEDDERS, embedder_from, reranker_from
    from weft.models.chat import chat_from

    check_store(settings.store)
    if settings.embedder not in LOCAL_EMBEDDERS:
        embedder_from(settings.embedder, url=settings.embedder_url, key=settings.embedder_key)
    reranker_from(settings.reranker, clock=SystemClock(), url=settings.reranker_url, key=settings.reranker_key)
    chat_from(settings.model, url=settings.model_url, key=settings.model_key)
