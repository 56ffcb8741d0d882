"""When a conversation begins to be kept: with its first message, or with its second."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from weft.config import Conversations

PolicyAsked = Annotated[
    Conversations | None,
    Meta(description="lazy: keep a conversation from its second message on; forensic: every message, at once"),
]
