"""Viewers for the contracts: one for each right that can be missing."""

from __future__ import annotations

from typing import Final

from weft.core.types import SCOPES, Viewer

ACCOUNT: Final = "acme"
EVERY_SCOPE: Final = frozenset(SCOPES)

OPERATOR: Final = Viewer(account=ACCOUNT, scopes=EVERY_SCOPE, sensitive=True)
STAFF: Final = Viewer(account=ACCOUNT, scopes=EVERY_SCOPE)
SHARED: Final = Viewer(account=ACCOUNT, scopes=frozenset({"public", "shared"}))
PUBLIC: Final = Viewer(account=ACCOUNT, scopes=frozenset({"public"}))
ANN: Final = Viewer(account=ACCOUNT, scopes=EVERY_SCOPE, agent="ann", audience="public", sensitive=True)
BOB: Final = Viewer(account=ACCOUNT, scopes=EVERY_SCOPE, agent="bob", audience="public", sensitive=True)
ANN_INSIDE: Final = Viewer(account=ACCOUNT, scopes=EVERY_SCOPE, agent="ann", sensitive=True)
VISITOR: Final = Viewer(account=ACCOUNT, scopes=frozenset({"public"}), audience="public")
STRANGER: Final = Viewer(account="other", scopes=EVERY_SCOPE, sensitive=True)
