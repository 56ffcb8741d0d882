"""Asserts in the shared modules explain themselves as those in tests do."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(f"{__package__}.workload", f"{__package__}.killing")
