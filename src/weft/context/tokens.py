"""Token counts of texts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from math import ceil
from typing import Any, Final

CHARACTERS_PER_TOKEN: Final = 4
ENCODING: Final = "o200k_base"
LOAD_SECONDS: Final = 2.0  # a tokenizer without its vocabulary tries to fetch it, which offline may never end


def count_tokens(text: str) -> int:
    """Counts tokens with a real tokenizer (tiktoken) if one is installed, else as a quarter of the characters."""
    counted = _tokenizer()
    return ceil(len(text) / CHARACTERS_PER_TOKEN) if counted is None else counted(text)


@lru_cache(maxsize=1)
def _tokenizer() -> Callable[[str], int] | None:
    """Settled once for a process, so that its counts can be compared."""
    try:
        import tiktoken
    except ImportError:
        return None
    ready: list[Any] = []

    def load() -> None:
        try:
            ready.append(tiktoken.get_encoding(ENCODING))
        except Exception:  # noqa: BLE001 - whatever it is, tokens are estimated then
            return

    loading = threading.Thread(target=load, daemon=True)
    loading.start()
    loading.join(LOAD_SECONDS)
    encoding = ready[0] if ready else None
    return None if encoding is None else lambda text: len(encoding.encode(text, disallowed_special=()))
