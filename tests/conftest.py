"""Profiles of hypothesis: quick by default, long with WEFT_HYPOTHESIS=thorough."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("weft.testing")

# Machines write real files and fold real logs: an example is slow, and how slow says nothing about the code.
_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "quick", max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=_SLOW, print_blob=True
)
settings.register_profile(
    "thorough", max_examples=1_000, stateful_step_count=60, deadline=None, suppress_health_check=_SLOW, print_blob=True
)
settings.load_profile(os.environ.get("WEFT_HYPOTHESIS", "quick"))
