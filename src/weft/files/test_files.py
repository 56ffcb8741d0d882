"""Test files, by path and name."""

from __future__ import annotations

import re
from typing import Final

# A directory called just `test` may be part of a product (a test runner): the file's name decides.
_TEST_FILE: Final = re.compile(
    r"(?:^|/)(?:tests|__tests__|specs?|e2e|src/test)/"
    r"|(?:^|/)(?:test_[^/]*|conftest)\.py$|_test\.(?:py|go)$|\.(?:test|spec)\.[cm]?[jt]sx?$|(?:Tests?|IT)\.(?:java|kt|cs)$"
    r"|_spec\.rb$|(?:^|/)(?:tests|test)\.(?:rs|py)$"
)


def is_test_file(path: str) -> bool:
    """Whether a path follows the usual conventions for test files."""
    return _TEST_FILE.search(path) is not None
