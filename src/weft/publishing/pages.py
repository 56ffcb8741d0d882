"""Pages of a site as HTML. Words from memories are text to show: no markup of theirs becomes ours."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from markdown_it.token import Token

MAX_SLUG: Final = 60
STYLE_FILE: Final = "style.css"
# Also sent as a header by `weft serve`; in the page for whatever else serves it.
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
    """One report or document as it will be shown. `about` are short lines under the title: when, of what, where from.

    `name` tells pages apart; `plain` is for words that are no Markdown, such as source code; `nodes` say what it shows.
    """

    name: str
    title: str
    text: str
    about: tuple[str, ...] = ()
    plain: bool = False
    nodes: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Its file's name: readable, and of this page alone."""
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
    """The first page: what there is, in groups. Groups without pages are left out."""
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
    """Markdown as HTML; HTML inside it is shown as the text that it is, and links lead only to the web or mail."""
    from markdown_it import MarkdownIt  # 20 ms to load

    reader = MarkdownIt("js-default", {"html": False, "linkify": False})
    tokens = reader.parse(page.text)
    for token in tokens:
        if token.children:
            token.children = _only_harmless(token.children)
    return str(reader.renderer.render(tokens, reader.options, {}))


def _only_harmless(tokens: list[Token]) -> list[Token]:
    """Without pictures, which would be fetched from elsewhere, and without links to paths that a site does not have.

    Their words stay.
    """
    from markdown_it.token import Token

    kept: list[Token] = []
    dropped: list[bool] = []  # of the links that are open here
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
