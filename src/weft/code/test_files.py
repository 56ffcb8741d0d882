"""Which files are tests, by where they lie and what they are called."""

from __future__ import annotations

import re
from typing import Final

# A folder called `test` alone may be a product's own (a test runner): then the file's name decides.
_TEST_FILE: Final = re.compile(
    r"(?:^|/)(?:tests|__tests__|specs?|e2e|src/test)/"
    r"|(?:^|/)(?:test_[^/]*|conftest)\.py$|_test\.(?:py|go)$|\.(?:test|spec)\.[cm]?[jt]sx?$|(?:Tests?|IT)\.(?:java|kt|cs)$"
    r"|_spec\.rb$|(?:^|/)(?:tests|test)\.(?:rs|py)$"
)


def is_test_file(path: str) -> bool:
    """Whether a file is one of tests, as its path is usually written."""
    return _TEST_FILE.search(path) is not None
