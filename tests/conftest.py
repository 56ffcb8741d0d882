"""Fixtures that every suite may use; profiles of hypothesis: quick by default, long with WEFT_HYPOTHESIS=thorough."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("weft.testing", "tests.kept_text")
pytest_plugins = ("tests.places", "tests.servers.neo4j_fixtures")

# Every test makes stores, and most of its time would be the disk's syncs: where there is room, files are in memory.
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 2 << 30
if (
    os.access(MEMORY, os.W_OK | os.X_OK)
    and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    and shutil.disk_usage(MEMORY).free > MEMORY_BYTES
):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Machines write real files and fold real logs: an example is slow, and how slow says nothing about the code.
_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "quick", max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=_SLOW, print_blob=True
)
settings.register_profile(
    "thorough", max_examples=1_000, stateful_step_count=60, deadline=None, suppress_health_check=_SLOW, print_blob=True
)
settings.load_profile(os.environ.get("WEFT_HYPOTHESIS", "quick"))

# Single tests there take long. They begin first, so that no worker is left alone with one in the end.
LONG = "tests/crash/"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))  # stable: otherwise in random order
