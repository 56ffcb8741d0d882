"""Schema versions and markers of a store's files, read without a write connection: that would upgrade them."""

from __future__ import annotations

import json
from pathlib import Path

import apsw

from weft.backends.sqlite.files.connection import translated
from weft.backends.sqlite.files.directory import ACCOUNTS, MARKED, MARKER
from weft.backends.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION
from weft.backends.sqlite.upgrade import UPGRADABLE
from weft.core.errors import NotAStore
from weft.core.types import FileSchema


def file_schemas(directory: Path, *, audit: bool) -> tuple[FileSchema, ...]:
    """One per account, sorted by name; none without a store. Raises NotAStore for a file of another program."""
    if not (directory / MARKER).is_file():
        return ()
    return tuple(_schema(file, audit=audit) for file in sorted((directory / ACCOUNTS).glob("*.db")))


def marker_problems(*directories: Path) -> dict[str, str]:
    """Problems of the marker files, by path. A missing marker is no problem."""
    found = {str(each / MARKER): _marker_problem(each) for each in directories}
    return {path: problem for path, problem in found.items() if problem is not None}


def _marker_problem(directory: Path) -> str | None:
    try:
        written = json.loads((directory / MARKER).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        return f"it cannot be read ({problem}); it should contain {json.dumps(MARKED)}"
    return None if written == MARKED else f"it should contain {json.dumps(MARKED)}"


def _schema(file: Path, *, audit: bool) -> FileSchema:
    with translated(file):
        connection = apsw.Connection(
            f"{file.absolute().as_uri()}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        try:
            found, application_id = connection.pragma("user_version"), connection.pragma("application_id")
        finally:
            connection.close()
    if found and application_id != APPLICATION_ID:
        raise NotAStore(f"{file} is a database of another program", hint="move it away from the store")
    return FileSchema(
        account=file.stem,
        audit=audit,
        path=str(file),
        found=found,
        wanted=SCHEMA_VERSION,
        upgradable=found in UPGRADABLE,
    )
