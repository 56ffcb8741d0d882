"""Names of texts: lookup by key, and by the halves of a misspelt word."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import orjson

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import PinnedTime, Sql
from weft.backends.sqlite.query import every
from weft.core.queries import NameMatch
from weft.core.types import Viewer
from weft.text.names import is_misspelling, spelling_words

BACKWARDS = "<"  # in no word: words of names are letters and digits
MOST_PER_KEY = 32  # nodes per name: the newest
MOST_SLIPS = 2  # maximum difference in length of a misspelt word


def write_names(db: apsw.Connection, prefix: str, texts: Sequence[tuple[int, tuple[tuple[str, float], ...]]]) -> None:
    """Adds the names of texts. Inside a write transaction."""
    keys = [(key, text, weight) for text, aliases in texts for key, weight in aliases]
    if not keys:
        return
    db.executemany(f"INSERT OR IGNORE INTO {prefix}alias VALUES (?,?,?)", keys)
    words = {(word, text) for key, text, _ in keys for word in spelling_words(key)}
    both = [(form, text) for word, text in sorted(words) for form in (word, BACKWARDS + word[::-1])]
    db.executemany(f"INSERT OR IGNORE INTO {prefix}name_word VALUES (?,?)", both)


def _visible(viewer: Viewer, moment: PinnedTime, projects: tuple[str | None, ...] | None) -> Sql:
    return guards.findable(viewer, projects) & guards.known(moment) & guards.holds(moment)


def by_name(
    db: apsw.Connection,
    viewer: Viewer,
    moment: PinnedTime,
    keys: Sequence[str],
    projects: tuple[str | None, ...] | None,
) -> tuple[NameMatch, ...]:
    """Visible nodes with these names."""
    visible = _visible(viewer, moment, projects)
    query = f"""SELECT {rows.LEAD_COLUMNS}, a.key, a.weight FROM json_each(?) j JOIN alias a ON a.key = j.value
        JOIN node_version v ON v.text = a.text JOIN node n ON n.key = v.node JOIN text t ON t.id = v.text
        WHERE {visible.text} ORDER BY a.key, v.row DESC"""
    found: list[NameMatch] = []
    last, count = "", 0
    for row in db.execute(query, (orjson.dumps(list(dict.fromkeys(keys))).decode(), *visible.params)):
        *_, key, weight = row
        last, count = key, count + 1 if key == last else 1
        if count <= MOST_PER_KEY:
            found.append(NameMatch(key=key, weight=weight, node=rows.lead_of(row)))
    return tuple(found)


def spellings(
    db: apsw.Connection, viewer: Viewer, moment: PinnedTime, word: str, projects: tuple[str | None, ...] | None
) -> tuple[str, ...]:
    """Words in names of visible nodes that `word` may be a misspelling of.

    Every word with one of the halves is checked: a bound would let hidden names displace visible ones.
    """
    half = (len(word) - 1) // 2
    near: set[str] = set()
    for mark, start in (("", word[:half]), (BACKWARDS, word[::-1][:half])):
        query = "SELECT DISTINCT word FROM name_word WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ?"
        sizes = (len(mark) + len(word) - MOST_SLIPS, len(mark) + len(word) + MOST_SLIPS)
        for (form,) in every(db, query, (mark + start, mark + start + "\U0010ffff", *sizes)):
            meant = form[:0:-1] if form.startswith(BACKWARDS) else form
            if is_misspelling(word, meant):
                near.add(meant)
    visible = _visible(viewer, moment, projects)
    seen = f"""SELECT 1 FROM name_word w JOIN node_version v ON v.text = w.text JOIN node n ON n.key = v.node
        WHERE w.word = ? AND {visible.text} LIMIT 1"""
    return tuple(sorted(each for each in near if every(db, seen, (each, *visible.params))))
