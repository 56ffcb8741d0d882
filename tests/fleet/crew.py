"""Agents that share one store, for tests: each with a name and a session of its own."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import weft
from tests.writing.test_batch_writes import memory_over
from weft.core.ports import Store
from weft.core.types import Actor, Writer
from weft.log.draft import Draft
from weft.log.kinds import code
from weft.testing.clock import ManualClock

PROJECT = "harbour"


class Crew:
    """A store, a clock, and agents by name."""

    def __init__(self, store: Store, clock: ManualClock, home: Path) -> None:
        self.clock = clock
        self.operator = memory_over(store, clock, home)

    def agent(self, name: str, session: str = "", role: str = "agent", **settings: Any) -> weft.Memory:
        """A memory as this agent, in a session of its own."""
        ctx = self.operator.ctx
        writer = Writer(account=ctx.writer.account, session=session or f"{name}-1", actor=Actor(agent=name, role=role))
        configured = replace(ctx.settings, agent=name, session=writer.session, role=role, **settings)
        viewer = replace(ctx.viewer, agent=name)
        return weft.Memory(replace(ctx, writer=writer, settings=configured, viewer=viewer))

    def index(self, path: str, text: str, *symbols: str, by: str = "indexer") -> str:
        """Reads a version of a source file, with these functions, into the graph. Returns the file's id."""
        file = f"{PROJECT}/{path}"
        payload = code.Indexed(
            id=file,
            path=path,
            language="python",
            sha256=hashlib.sha256(repr((path, text, symbols)).encode()).hexdigest(),
            text=text,
            end_line=10,
            symbols=tuple(
                code.SymbolText(key=key, line=1, end_line=2, text=f"def {key}(): {text}", name=key) for key in symbols
            ),
            project=PROJECT,
        )
        self.agent(by).ctx.append([Draft(kind="code.indexed", payload=payload)])
        self.clock.step(1_000_000)
        return file

    def task(self, title: str = "Fix the login", **more: Any) -> str:
        return str(self.operator.call("work_create", kind="coding", title=title, **more).id)
