"""A memory to write to in a structured way."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import MakeStore
from weft.core.types import Actor, Viewer, Writer
from weft.models.embedding import Embedding
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import load_settings
from weft.testing.clock import ManualClock


@pytest.fixture
def harbour(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> weft.Memory:
    """A memory over each backend."""
    settings = load_settings(tmp_path, {"HOME": str(tmp_path), "WEFT_PROJECT": "harbour"})
    ctx = CallContext(
        store=make_store(),
        clock=clock,
        settings=settings,
        viewer=Viewer(account=settings.account, scopes=frozenset({"public", "shared", "admin"})),
        writer=Writer(account=settings.account, session="main", actor=Actor(agent="writer", role="operator")),
        embedding=Embedding(None, clock),
    )
    return weft.Memory(ctx)
