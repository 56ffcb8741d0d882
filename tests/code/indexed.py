"""Source files as events, straight from their text: for tests of what is made of an index, not of how one is made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from msgspec.structs import asdict

from weft.code.parse.summary import purpose_of
from weft.code.parse.symbols import read_source
from weft.core.types import Guard
from weft.log.draft import Draft
from weft.log.kinds import code
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext

Edge = tuple[str, str, str]  # from path or path::key, the relation, to path or path::key


def write_files(ctx: CallContext, files: Mapping[str, str], guard: Guard | None = None) -> None:
    """Each file and its symbols, as they are read."""
    guard = guard or Guard(project=ctx.settings.project)
    ctx.append([_indexed(path, text, guard) for path, text in files.items()])


def write_links(ctx: CallContext, edges: Iterable[Edge], guard: Guard | None = None) -> None:
    """What files refer to."""
    guard = guard or Guard(project=ctx.settings.project)
    by_file: dict[str, list[code.Joined]] = {}
    for src, rel, dst in edges:
        path, _, key = src.partition("::")
        to_path, mark, to_key = dst.partition("::")
        target = f"{file_id(guard.project, to_path)}{mark}{to_key}"
        by_file.setdefault(path, []).append(code.Joined(key, rel, target, 1))
    drafts = [
        Draft(
            kind="code.linked",
            payload=code.Linked(
                id=file_id(guard.project, path), path=path, joined=tuple(dict.fromkeys(joined)), **asdict(guard)
            ),
        )
        for path, joined in by_file.items()
    ]
    ctx.append(drafts)


def _indexed(path: str, text: str, guard: Guard) -> Draft:
    read = read_source(text, path)
    symbols = tuple(
        code.SymbolText(
            key=symbol.key,
            line=symbol.line,
            end_line=symbol.end_line,
            text=symbol.text,
            kind=symbol.kind,
            name=symbol.name,
            sort=symbol.sort,
            signature=symbol.signature,
            summary=purpose_of(symbol),
            parent="" if symbol.parent is None else read.symbols[symbol.parent].key,
        )
        for symbol in read.symbols
    )
    payload = code.Indexed(
        id=file_id(guard.project, path),
        path=path,
        language=read.language,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        text=read.module_text,
        end_line=text.count("\n") + 1,
        spans=read.module_spans,
        symbols=symbols,
        **asdict(guard),
    )
    return Draft(kind="code.indexed", payload=payload)
