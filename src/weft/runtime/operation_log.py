"""The log of operations: one JSON line per call with counts and durations, never with text of memories.

Lines go to the logger `weft.operations` and to the target of the setting `log`, never to standard output.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from weft.core.errors import Misconfigured

LOGGER: Final = "weft.operations"
STDERR: Final = "stderr"


class OperationLog:
    """A log with the target `stderr`, a file that several processes may append to, or none."""

    def __init__(self, target: str = "") -> None:
        self._logger = logging.getLogger(LOGGER)
        self._handler = _handler(target) if target else None

    @property
    def wanted(self) -> bool:
        """Whether lines go anywhere."""
        return self._handler is not None or self._logger.isEnabledFor(logging.INFO)

    def write(self, line: dict[str, Any]) -> None:
        """Writes one line. Never raises."""
        written = msgspec.json.encode(line).decode()
        record = self._logger.makeRecord(LOGGER, logging.INFO, "", 0, written, (), None)
        if self._logger.isEnabledFor(logging.INFO):
            self._logger.handle(record)
        if self._handler is not None:
            self._handler.handle(record)

    def close(self) -> None:
        """Releases the file."""
        if self._handler is not None:
            self._handler.close()


def _handler(target: str) -> logging.Handler:
    if target == STDERR:
        return _ToStderr()
    path = Path(target).expanduser().absolute()
    if path.is_dir() or not path.parent.is_dir():
        raise Misconfigured(f"log {target!r} is not a file in an existing directory", hint="name a file, or stderr")
    return _ToFile(path, encoding="utf-8", delay=True)


class _Quiet(logging.Handler):
    """Reports only the first failure to write: a full disk must not flood the terminal."""

    _said = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        if not self._said:
            self._said = True
            sys.stderr.write(f"weft: the log of operations cannot be written: {sys.exc_info()[1]}\n")


class _ToStderr(_Quiet):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{record.getMessage()}\n")  # looked up every time: it may be redirected
            sys.stderr.flush()
        except (OSError, ValueError):
            self.handleError(record)


class _ToFile(_Quiet, logging.FileHandler):
    """Appends each line in one write, so that lines of several processes do not mix."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:  # the base class does not handle a failing open
            self.handleError(record)
