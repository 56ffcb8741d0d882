"""Memories over one directory, of which every byte can be searched; keys made at run time."""

from __future__ import annotations

import base64
from pathlib import Path

from msgspec.structs import replace

import weft
from weft.append.decrypting_store import decrypting
from weft.testing.clock import ManualClock

KEYS = {name: f"{name}:{base64.b64encode(bytes([at]) * 32).decode()}" for at, name in enumerate(("old", "new", "odd"))}


class Harbour:
    """A project's directory, a store (in files or in memory) beside it, and a clock that stands still."""

    def __init__(self, scratch: Path, clock: ManualClock, *, in_files: bool) -> None:
        self.scratch, self.clock, self.in_files = scratch, clock, in_files
        self.root = scratch / "ferry"
        self.root.mkdir()
        self._opened: list[weft.Memory] = []

    def open(self, **settings: str) -> weft.Memory:
        """A memory over the one store. The right to sensitive rows and the key `old`, unless told otherwise."""
        settings = {"embedder": "none", "sensitive": "1", "sensitive_key": KEYS["old"]} | settings
        environment = {"HOME": str(self.scratch)} | {f"WEFT_{name.upper()}": value for name, value in settings.items()}
        url = f"sqlite://{self.scratch / 'store'}" if self.in_files else "memory://"
        made = weft.open(url, directory=self.root, environment=environment, clock=self.clock)
        if not self.in_files and self._opened:  # a store in memory is of one process: others look at the same
            shared = decrypting(self._opened[0].ctx.store, made.ctx.privacy)
            made = weft.Memory(replace(made.ctx, store=shared))
        self._opened.append(made)
        return made

    def close(self) -> None:
        for memory in self._opened if self.in_files else self._opened[:1]:
            memory.close()

    def holds(self, *words: str) -> list[tuple[str, str]]:
        """The files, of the store and of everything beside it, that hold one of these words, in capitals or not."""
        self.close()
        found = []
        for file in sorted(self.scratch.rglob("*")):
            if file.is_file() and not file.is_relative_to(self.root):
                raw = file.read_bytes().lower()
                found += [(file.name, word) for word in words if word.lower().encode() in raw]
        return found
