"""The names of conversations: the same for who captures one, imports it, or reads its file."""

from __future__ import annotations

import re
from typing import Final

MAX_SESSION_CHARACTERS: Final = 200


def session_name(client: str, session: str) -> str:
    """The name of a client's conversation."""
    kept = re.sub(r"[^A-Za-z0-9._:@+-]+", "-", session).strip("-")[:MAX_SESSION_CHARACTERS]
    return f"{client}-{kept or 'unnamed'}"
