"""What the files of a store are, told without opening them to write: that would bring them up to date."""

from __future__ import annotations

import json
from pathlib import Path

import apsw

from weft.backends.sqlite.connection import translated
from weft.backends.sqlite.directory import ACCOUNTS, MARKED, MARKER
from weft.backends.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION
from weft.backends.sqlite.upgrade import UPGRADABLE
from weft.errors import NotAStore
from weft.types import FileSchema


def file_schemas(directory: Path, *, audit: bool) -> tuple[FileSchema, ...]:
    """One of each account, in order of name; none where no store is. Raises NotAStore for a file of another program."""
    if not (directory / MARKER).is_file():
        return ()
    return tuple(_schema(file, audit=audit) for file in sorted((directory / ACCOUNTS).glob("*.db")))


def marker_problems(*directories: Path) -> dict[str, str]:
    """By path, what is wrong with the file that says that a directory is a store. None is missing where none is."""
    found = {str(each / MARKER): _marker_problem(each) for each in directories}
    return {path: problem for path, problem in found.items() if problem is not None}


def _marker_problem(directory: Path) -> str | None:
    try:
        written = json.loads((directory / MARKER).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        return f"it cannot be read ({problem}); it should hold {json.dumps(MARKED)}"
    return None if written == MARKED else f"it should hold {json.dumps(MARKED)}"


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
