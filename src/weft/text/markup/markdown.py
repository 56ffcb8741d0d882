"""Markdown: headings and blocks by a CommonMark parser, with tables and front matter."""

from __future__ import annotations

import html
import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from weft.text.markup import plain_text
from weft.text.markup.outline import Block, Kind, ParsedDocument, title_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_FRONT_MATTER_LINES = 200
MAX_HEADING_CHARACTERS = 1_000  # of a heading, within which its markup is parsed
MAX_HEADING_LINES = 5  # longer underlined text is not a title
MAX_LINES = 60_000  # half a megabyte of prose has ten thousand; each may cost the parser fifty microseconds
MAX_NESTING = 40  # levels of quotes and lists; deeper ones are not parsed
MAX_TITLE_BLOCKS = 20  # HTML blocks before the first heading that are searched for a title
MAX_TITLE_BLOCK_CHARACTERS = 5_000

MAX_DATE_CHARACTERS = 40
MAX_DESCRIPTION_CHARACTERS = 240  # longer ones are shortened in summaries
MAX_KEYWORDS = 32
MAX_KEYWORD_CHARACTERS = 64
PLACED_KEYS = frozenset(  # of front matter: in the graph, or how a page is laid out
    {"title", "description", "date", "tags", "keywords", "categories", "layout", "slug", "weight", "draft", "permalink"}
)

_KINDS: dict[str, Kind] = {
    "heading_open": "paragraph",  # too long for a title
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
    "html_block": "directive",
    "hr": "rule",
}
_MARKUP = re.compile(r"[\\`*_\[\]<>&!~\n]")
_YAML_KEY = re.compile(r"[\"']?([\w-]+)[\"']?\s*:(?:\s+(.*))?$")
_TOML_KEY = re.compile(r"([\w-]+)\s*=\s*(.*)$")
_LIST_KEY = re.compile(r"(?:tags|keywords|categories)\s*[:=]\s*(.*)$", re.IGNORECASE)
_LIST_ITEM = re.compile(r"\s*-\s+(.+)$")
_QUOTED = re.compile(r"\"([^\"\\]+)\"|'([^']+)'")
_TOML_DATE = re.compile(r"\d{4}-\d\d-\d\d[\dT:.+Z-]*")
_HTML_HEADING = re.compile(r"<h([1-6])(?:\s[^<>]{0,500})?>(.{1,1000}?)</h\1\s*>", re.DOTALL | re.IGNORECASE)
_HTML_TAG = re.compile(r"<[^<>]{0,500}>")
_NOT_PLAIN = ("|", ">", "[", "{", "&", "*", "!", "%", "@")


def parse(lines: Sequence[str]) -> ParsedDocument:
    """Blocks at the top level of the document; the content of quotes and lists, headings too, is part of them.

    A file of more than MAX_LINES lines is read as plain text, with a note.
    """
    if len(lines) > MAX_LINES:
        note = f"has {len(lines):,} lines, more than {MAX_LINES:,}: read as plain text, without its Markdown"
        return replace(plain_text.parse(lines), notes=(note,))
    taken, keys = front_matter(lines)
    # What has a place in the graph is no passage; other keys can only be found in one.
    blocks = [Block("meta" if _is_placed(keys) else "front", 0, taken)] if taken else []
    environment: MutableMapping[str, Any] = {}
    tokens = _block_parser().parse("\n".join([*[""] * taken, *lines[taken:]]), environment)
    for at, token in enumerate(tokens):
        if token.level or token.nesting < 0 or token.map is None or token.type not in _KINDS:
            continue
        start, end = token.map
        if token.type == "heading_open" and end - start <= MAX_HEADING_LINES:
            title = _title(tokens[at + 1].content[:MAX_HEADING_CHARACTERS], environment)
            blocks.append(Block("heading", start, end, title, int(token.tag[1:])))
        else:
            blocks.append(Block(_KINDS[token.type], start, end))
    title = keys.get("title", "") or _html_title(lines, blocks)
    keywords = keywords_of(lines[1 : taken - 1]) if taken else ()
    return ParsedDocument(
        blocks=blocks,
        title=title,
        description=keys.get("description", ""),
        keywords=keywords,
        date=keys.get("date", "")[:MAX_DATE_CHARACTERS],
    )


def _is_placed(keys: dict[str, str]) -> bool:
    """Whether nothing of the front matter is lost without its lines: a folded or long description would be."""
    whole = all(keys[name] for name in ("title", "description", "date") if name in keys)
    return whole and not keys.keys() - PLACED_KEYS and len(keys.get("description", "")) <= MAX_DESCRIPTION_CHARACTERS


def keywords_of(lines: Sequence[str]) -> tuple[str, ...]:
    """The topics that front matter names: in brackets, with commas, or one on each line."""
    found: dict[str, None] = {}
    for at, line in enumerate(lines):
        key = _LIST_KEY.match(line)
        if key is None:
            continue
        written = key[1]
        if written.startswith("["):
            written = " ".join([written, *lines[at + 1 :]])[1:].partition("]")[0]
        elif not written.strip():
            items = (_LIST_ITEM.match(each) for each in lines[at + 1 :])
            written = ",".join(item[1] for item in takewhile(bool, items) if item)
        words = (each.strip().strip("\"'").strip() for each in written.split(","))
        found |= dict.fromkeys(each[:MAX_KEYWORD_CHARACTERS] for each in words if each)
    return tuple(found)[:MAX_KEYWORDS]


def front_matter(lines: Sequence[str]) -> tuple[int, dict[str, str]]:
    """The number of lines of YAML between `---` fences or TOML between `+++` at the top, and its plain keys.

    (0, {}) if there is none.
    """
    fence = lines[0].lstrip("\ufeff").rstrip() if lines else ""
    if fence not in ("---", "+++"):
        return 0, {}
    keys: dict[str, str] = {}
    in_table = False  # keys of TOML tables are not the document's
    for at, line in enumerate(lines[1:MAX_FRONT_MATTER_LINES], start=1):
        words = line.rstrip()
        if words == fence or (fence == "---" and words == "..."):
            return (at + 1, keys) if keys else (0, {})
        key = (_YAML_KEY if fence == "---" else _TOML_KEY).match(words)
        in_table = in_table or words.startswith("[")
        if key:
            plain = _plain_yaml(key[2] or "") if fence == "---" else _plain_toml(key[2])
            keys.setdefault(key[1].lower(), "" if in_table and fence == "+++" else plain)
        elif fence == "---" and words and words[0] not in " \t#-]}":
            return 0, {}  # not YAML: the first fence is a thematic break
    return 0, {}


def _plain_yaml(words: str) -> str:
    words = words.strip()
    if len(words) > 1 and words[0] == words[-1] and words[0] in "\"'":
        return title_of(words[1:-1])
    return "" if words.startswith(_NOT_PLAIN) else title_of(words.split(" #", 1)[0])


def _plain_toml(words: str) -> str:
    quoted = _QUOTED.match(words)
    dated = _TOML_DATE.match(words)
    return title_of(quoted[1] or quoted[2]) if quoted else dated[0] if dated else ""


def _html_title(lines: Sequence[str], blocks: Sequence[Block]) -> str:
    """The HTML heading at the top of a page (`<h1 align="center">`), unless a Markdown heading outranks it."""
    top = min((block.level for block in blocks if block.kind == "heading"), default=6)
    looked_at = 0
    for block in blocks:
        if block.kind == "heading" or looked_at == MAX_TITLE_BLOCKS:
            break
        if block.kind != "directive":
            continue
        looked_at += 1
        for level, inner in _HTML_HEADING.findall(
            "\n".join(lines[block.start : block.end])[:MAX_TITLE_BLOCK_CHARACTERS]
        ):
            words = title_of(html.unescape(_HTML_TAG.sub(" ", inner)))
            if words and int(level) <= top:
                return words
    return ""


@cache
def _block_parser() -> MarkdownIt:
    """A parser for blocks only: inline markup costs as much as all blocks, and only titles need it."""
    from markdown_it import MarkdownIt
    from markdown_it.parser_block import ParserBlock
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    unread = Token("", "", 0)

    class TopLevel(StateBlock):
        """Keeps the tokens of the top level and of titles; all others share one token that is never read."""

        def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
            title = ttype == "inline" and self.level == 1 and self.tokens[-1].type == "heading_open"
            if self.level == 0 or title or (self.level == 1 and nesting < 0):
                return super().push(ttype, tag, nesting)
            self.level += nesting
            return unread

    class Blocks(ParserBlock):
        def parse(self, src: str, md: MarkdownIt, env: Any, outTokens: list[Token]) -> list[Token] | None:  # noqa: N803
            state = TopLevel(src, md, env, outTokens)
            self.tokenize(state, state.line, state.lineMax)
            return state.tokens

        def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:  # noqa: N803
            """Skips blocks nested beyond the bound; the original would skip to the end of the document."""
            if state.level < MAX_NESTING:
                return super().tokenize(state, startLine, endLine)
            line = startLine
            while line < endLine and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent):
                line += 1
            state.line = line
            return None

    parser = MarkdownIt("commonmark")
    parser.block = Blocks()
    parser.configure("commonmark").enable("table").disable(["inline", "text_join"])
    parser.options["maxNesting"] = MAX_NESTING + 2  # lists add two at once
    return parser


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _title(content: str, environment: MutableMapping[str, Any]) -> str:
    """The displayed text of a heading."""
    if not _MARKUP.search(content):
        return title_of(content)
    children = _inline_parser().parseInline(content, environment)[0].children or ()
    return title_of("".join(" " if child.type.endswith("break") else _words(child) for child in children)) or title_of(
        content
    )


def _words(child: Any) -> str:
    return "" if child.type == "html_inline" else str(child.content)
