"""A file of a workspace on disk: its hash and, if it is source code, its parsed content. Needs no store.

A file that cannot be parsed (too large, minified, not UTF-8) is still a file, with the reason.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from weft.append.privacy import PrivacyFilter
from weft.code.index.records import Indexing, SourceVersion, index_new, ready
from weft.code.parse.parse import MAX_SOURCE_BYTES
from weft.code.parse.symbols import SourceFile, read_source
from weft.context.baked import MARKER as BAKED
from weft.core.clock import SystemClock
from weft.core.errors import Invalid
from weft.core.types import Guard
from weft.documents.keep.parser_faults import faults_told
from weft.files.languages import language_of

LOOKED_AT: Final = 4_096  # bytes; a multiple of four
MOSTLY: Final = 0.7  # share of ASCII characters in source code
_MARKS: Final = (  # longest first: one is a prefix of another
    (codecs.BOM_UTF32_LE, "UTF-32", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "UTF-32", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "UTF-16", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "UTF-16", "utf-16-be"),
)

MAX_HASHED_BYTES: Final = 67_108_864  # a larger file is told from another by its size alone
READ_BYTES: Final = 1 << 20
MINIFIED_BYTES: Final = 5_000  # a shorter file is read, however long its lines are
MINIFIED_MEAN: Final = 300  # characters of a line
SETTLED_US: Final = 2_000_000  # a file written so lately may be written again without its mark changing
WEFTS_OWN: Final = "written by weft: its content is already in memory"
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class FileSnapshot(Struct, frozen=True, kw_only=True):
    """A file as found. `mark` is empty if it may change without a visible change of its metadata."""

    path: str
    size: int
    sha256: str
    mark: str = ""
    blob: str = ""


class FactsRead(Struct, frozen=True, kw_only=True):
    """The facts of a file, packed; a digest of its interface; and the number of syntax errors."""

    raw: bytes
    interface: str
    broken: int


class CodeRead(Struct, frozen=True, kw_only=True):
    """A file with its content, or the `problem` that prevented reading it.

    `gone` is the reason why the file does not exist. `redacted` counts removed secrets. For a new file the events may
    be prepared at once (`indexing`); then `source` is empty.
    """

    path: str
    state: FileSnapshot | None = None
    source: SourceFile | None = None
    facts: FactsRead | None = None
    indexing: Indexing | None = None
    problem: str = ""
    gone: str = ""
    redacted: Mapping[str, int] = field(default_factory=dict)


def mark_of(root: str, path: str) -> str:
    """The mark of a file, which changes when it is written; empty if it has none or is not a regular file."""
    try:
        return _mark(os.lstat(os.path.join(root, path)))  # noqa: PTH118 - a name need not be UTF-8
    except (OSError, ValueError):
        return ""


def _mark(found: os.stat_result) -> str:
    lately = SystemClock().now_us() - found.st_ctime_ns // 1_000 < SETTLED_US
    if lately or not stat.S_ISREG(found.st_mode):
        return ""
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"


def read_code(root: str, path: str, *, redacts: bool, known: str = "") -> CodeRead:
    """Reads a file. One whose hash is `known` is not parsed. Never raises for its content or its disappearance."""
    found = _bytes(root, path)
    if isinstance(found, str):
        return CodeRead(path=path, gone=found)
    state, raw = found
    if language_of(path) is None or (known and state.sha256 == known):
        return CodeRead(path=path, state=state)
    return read_bytes(path, state, raw, redacts=redacts)


def hashed_only(root: str, path: str, *, problem: str) -> CodeRead:
    """A file of which only the hash is read, and the reason."""
    found = _bytes(root, path)
    return (
        CodeRead(path=path, gone=found)
        if isinstance(found, str)
        else CodeRead(path=path, state=found[0], problem=problem)
    )


def read_bytes(path: str, state: FileSnapshot, raw: bytes | None, *, redacts: bool) -> CodeRead:
    """Parses the bytes of a source file; None is a file that is too large. Never raises for their content."""
    if raw is None or len(raw) > MAX_SOURCE_BYTES:
        return CodeRead(path=path, state=state, problem=f"larger than {MAX_SOURCE_BYTES:,} bytes")
    if raw.startswith(BAKED.encode()):
        return CodeRead(path=path, state=state, problem=WEFTS_OWN)
    privacy = PrivacyFilter(redacts=redacts, keys=None)
    try:
        with faults_told(privacy):
            source = read_source(privacy.redact(_text(raw)), path)
            return CodeRead(
                path=path, state=state, source=source, facts=_facts(source), redacted=dict(privacy.redacted)
            )
    except Invalid as problem:
        return CodeRead(path=path, state=state, problem=problem.message)


def _facts(source: SourceFile) -> FactsRead:
    return FactsRead(
        raw=msgspec.msgpack.encode(source.facts), interface=source.facts.interface(), broken=len(source.broken)
    )


def read_new(root: str, path: str, guard: Guard, *, redacts: bool) -> CodeRead:
    """The same for a file that is new to the graph: returns its prepared events instead of its content."""
    read = read_code(root, path, redacts=redacts)
    if read.state is None:
        return read
    state = read.state
    source = SourceVersion(path=path, sha256=state.sha256, read=read.source, size=state.size, blob=state.blob)
    try:
        made = ready(index_new(guard, source))
    except Invalid as problem:
        plain = replace(source, read=None)
        return CodeRead(path=path, state=state, indexing=ready(index_new(guard, plain)), problem=problem.message)
    return replace(read, source=None, indexing=made)


def _text(raw: bytes) -> str:
    if b"\x00" in raw:
        wide = wide_form(raw)
        raise Invalid(f"is {wide} text: save it as UTF-8" if wide else "contains NUL characters: not a text file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise Invalid("is not UTF-8 text") from problem
    if len(text) > MINIFIED_BYTES and len(text) > MINIFIED_MEAN * (text.count("\n") + 1):
        raise Invalid("is minified or generated: its lines are too long")
    return text


def _bytes(root: str, path: str) -> tuple[FileSnapshot, bytes | None] | str:
    """A file's state, and its bytes if it is source code within the size limit; or the reason why there is none."""
    try:
        handle = os.open(os.path.join(root, path), _FLAGS)  # noqa: PTH118
    except ValueError:
        return "its name holds a NUL character"
    except FileNotFoundError:
        return "is gone"
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"
    try:
        return _hashed(handle, path)
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"
    finally:
        os.close(handle)


def _hashed(handle: int, path: str) -> tuple[FileSnapshot, bytes | None] | str:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        return "is not a file"
    mark, size = _mark(found), found.st_size
    if size > MAX_HASHED_BYTES:
        return FileSnapshot(path=path, size=size, sha256="", mark=mark), None
    sha256, blob = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    keeps = size <= MAX_SOURCE_BYTES and language_of(path) is not None
    pieces, length = [], 0
    while length <= MAX_HASHED_BYTES and (piece := os.read(handle, READ_BYTES)):  # it may grow while it is read
        sha256.update(piece)
        blob.update(piece)
        length += len(piece)
        if keeps:
            pieces.append(piece)
    state = FileSnapshot(
        path=path,
        size=length,
        sha256=sha256.hexdigest(),
        mark=mark if length == size else "",
        blob=blob.hexdigest() if length == size else "",
    )
    return state, b"".join(pieces) if keeps else None


def wide_form(raw: bytes) -> str:
    """`UTF-16` or `UTF-32` for such text, by its byte order mark or by its content; else empty."""
    start = raw[:LOOKED_AT]
    for mark, name, codec in _MARKS:
        if start.startswith(mark) and _is_text(start[len(mark) :], codec):
            return name
    return next((name for _, name, codec in _MARKS if _is_code(start, codec)), "")


def _decoded(start: bytes, codec: str) -> str | None:
    unit = 4 if "32" in codec else 2
    try:
        return codecs.getincrementaldecoder(codec)().decode(start[: len(start) // unit * unit])
    except UnicodeDecodeError:
        return None


def _is_text(start: bytes, codec: str) -> bool:
    text = _decoded(start, codec)
    return text is not None and "\0" not in text


def _is_code(start: bytes, codec: str) -> bool:
    """Without a mark: the bytes decode completely, and most characters are ASCII."""
    text = _decoded(start, codec)
    if not text or "\0" in text:
        return False
    plain = sum(each.isascii() and (each.isprintable() or each.isspace()) for each in text)
    return plain >= MOSTLY * len(text)
