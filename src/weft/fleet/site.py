"""Static sites: HTML pages of reports and documents, and replacing a site's directory atomically.

Texts of memories are escaped: their markup is never interpreted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from weft.core.errors import Conflict, StoreError
from weft.files.file_lock import sync_path

if TYPE_CHECKING:
    from markdown_it.token import Token

MAX_SLUG: Final = 60
STYLE_FILE: Final = "style.css"
# `weft serve` also sends it as a header; the page has it for other servers.
POLICY: Final = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
STYLE: Final = """\
:root { color-scheme: light dark; --ink: #1c1c1a; --paper: #fdfdfb; --faint: #6b6b66; --line: #d9d9d2; --link: #0b57a4 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e3; --paper: #161615; --faint: #9d9d96; --line: #3a3a37; --link: #8ab8ee }
}
body { max-width: 44rem; margin: 3rem auto; padding: 0 1.2rem; background: var(--paper); color: var(--ink);
  font: 1.06rem/1.6 system-ui, sans-serif }
h1, h2, h3 { line-height: 1.25; text-wrap: balance }
a { color: var(--link) }
.about, footer { color: var(--faint); font-size: .9rem }
ul.list { list-style: none; padding: 0 }
ul.list li { padding: .55rem 0; border-bottom: 1px solid var(--line) }
ul.list .about { display: block }
pre { overflow-x: auto; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: .4rem }
code { font: .92em/1.5 ui-monospace, monospace }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left }
blockquote { margin: 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--faint) }
footer { margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--line) }
"""


class Page(Struct, frozen=True, kw_only=True):
    """A report or document to be shown. `about` are short lines under the title.

    `name` identifies the page; `plain` is for text that is not Markdown; `nodes` are the nodes it contains.
    """

    name: str
    title: str
    text: str
    about: tuple[str, ...] = ()
    plain: bool = False
    nodes: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Its file name: readable and unique."""
        folded = unicodedata.normalize("NFKD", self.title).encode("ascii", "ignore").decode().lower()
        slug = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:MAX_SLUG].strip("-") or "page"
        return f"{slug}-{hashlib.sha256(self.name.encode()).hexdigest()[:8]}.html"


def page_html(page: Page, site: str) -> str:
    """The page of a report or document."""
    told = f"<p class=about>{' · '.join(escape(line) for line in page.about)}</p>\n" if page.about else ""
    body = f"<pre><code>{escape(page.text)}</code></pre>\n" if page.plain else _markdown(page)
    heading = "" if not page.plain and _begins_with_heading(page.text) else f"<h1>{escape(page.title)}</h1>\n"
    back = f'<p class=about><a href="index.html">{escape(site)}</a></p>\n'
    return _document(page.title, f"{back}<main>\n{heading}{told}{body}</main>\n")


def index_html(site: str, groups: Sequence[tuple[str, Sequence[Page]]], made: str) -> str:
    """The first page, with pages in groups; empty groups are omitted."""
    parts = [f"<h1>{escape(site)}</h1>\n"]
    for heading, pages in groups:
        if pages:
            lines = "".join(_line(page) for page in pages)
            parts.append(f"<h2>{escape(heading)}</h2>\n<ul class=list>\n{lines}</ul>\n")
    footer = f"<footer>Published by weft on {escape(made)}.</footer>\n"
    return _document(site, f"<main>\n{''.join(parts)}</main>\n{footer}")


def _line(page: Page) -> str:
    told = f"<span class=about>{' · '.join(escape(line) for line in page.about)}</span>" if page.about else ""
    return f'<li><a href="{page.file}">{escape(page.title)}</a>{told}</li>\n'


def _document(title: str, body: str) -> str:
    return (
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n"
        f'<link rel="stylesheet" href="{STYLE_FILE}">\n</head>\n<body>\n{body}</body>\n</html>\n'
    )


def _markdown(page: Page) -> str:
    """Markdown as HTML. HTML in it is escaped, and links lead only to the web or mail."""
    from markdown_it import MarkdownIt  # 20 ms to load

    reader = MarkdownIt("js-default", {"html": False, "linkify": False})
    tokens = reader.parse(page.text)
    for token in tokens:
        if token.children:
            token.children = _only_harmless(token.children)
    return str(reader.renderer.render(tokens, reader.options, {}))


def _only_harmless(tokens: list[Token]) -> list[Token]:
    """Tokens without pictures, which would be fetched from elsewhere, and without relative links. Texts stay."""
    from markdown_it.token import Token

    kept: list[Token] = []
    dropped: list[bool] = []  # of open links
    for token in tokens:
        if token.type == "image":
            kept.append(Token("text", "", 0, content=f"[picture: {token.content}]"))
        elif token.type == "link_open":
            dropped.append(not _leads_out(str(token.attrGet("href") or "")))
            kept += [] if dropped[-1] else [token]
        elif token.type == "link_close":
            kept += [] if dropped.pop() else [token]
        else:
            kept.append(token)
    return kept


def _leads_out(url: str) -> bool:
    return url.strip().lower().startswith(("https://", "http://", "mailto:"))


def _begins_with_heading(text: str) -> bool:
    return text.lstrip("\ufeff \n").startswith("# ")


MARKER: Final = "weft-site.json"  # marks a directory that weft wrote and may replace


def write_site(place: Path, files: Mapping[str, str]) -> None:
    """Makes the directory contain exactly these files. Readers see the old site or the new one or, between two renames,
    none; the next run completes an interrupted one.

    Raises Conflict if the directory contains other files, StoreError if it cannot be written.
    """
    _recover(place)
    check_place(place)
    fresh = place.with_name(f".{place.name}.new-{secrets.token_hex(4)}")
    stale = place.with_name(f".{place.name}.old-{secrets.token_hex(4)}")
    try:
        fresh.mkdir(parents=True)
        for name, text in files.items():
            _write(fresh / name, text)
        _write(fresh / MARKER, json.dumps({"format": "weft-site", "files": sorted(files)}) + "\n")
        if place.exists():
            place.rename(stale)
        fresh.rename(place)
        sync_path(place.parent)
    except OSError as problem:
        if stale.exists() and not place.exists():
            stale.rename(place)
        raise StoreError(
            f"{place} cannot be written: {problem.strerror}", hint="check its permissions and free space"
        ) from problem
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(stale, ignore_errors=True)


def _recover(place: Path) -> None:
    """Restores the old site if a run died between the two renames, and removes leftovers."""
    left = sorted(place.parent.glob(f".{place.name}.old-*")) if place.parent.is_dir() else []
    if left and not place.exists():
        left.pop().rename(place)
    for stale in (*left, *(place.parent.glob(f".{place.name}.new-*") if place.parent.is_dir() else ())):
        shutil.rmtree(stale, ignore_errors=True)


def check_place(place: Path) -> None:
    """Raises Conflict unless the path is free, empty, or a site of weft without other files."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise Conflict(f"{place} is not a directory", hint="choose another name for the site")
    there = {entry.name for entry in place.iterdir()} if place.is_dir() else set()
    if foreign := sorted(there - _written(place)):
        raise Conflict(
            f"{place} contains files that weft did not write, such as {foreign[0]}; weft replaces only its own files",
            hint="choose another name for the site, or move those files away",
        )


def _written(place: Path) -> set[str]:
    """The names of the files that weft wrote there, from its marker file."""
    try:
        noted = json.loads((place / MARKER).read_text(encoding="utf-8"))
        return {MARKER, *map(str, noted["files"])} if noted["format"] == "weft-site" else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _write(file: Path, text: str) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
