"""A task that some files kill the process of."""

from __future__ import annotations

import os
import pickle
import time

from msgspec import Struct


class Dying(Struct, frozen=True, kw_only=True):
    """Answers with the names of its items; dies of "bad", and sleeps over "slow"."""

    items: tuple[str, ...]

    def run(self) -> bytes:
        if "bad" in self.items:
            os._exit(1)
        if "slow" in self.items:
            time.sleep(60)
        return pickle.dumps([(each, os.getpid()) for each in self.items])
