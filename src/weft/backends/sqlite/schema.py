"""The tables of one account.

The log is never rebuilt. The tables in `graph_tables` are derived from it; a rebuild creates them again under another
prefix and swaps them in.

Visibility groups are called `ward` in table and column names: files of earlier versions have that name, and renaming it
would need a migration that rewrites every guard's index.
"""

from __future__ import annotations

from typing import Final

from weft.text.encryption import PREFIX

SCHEMA_VERSION: Final = 3
APPLICATION_ID: Final = 0x77656674  # "weft": identifies our files
SIDE_PREFIX: Final = "side_"
_SEALED_START: Final = f"1, {len(PREFIX)}) = '{PREFIX}'"
# Spelt the same in the index and in every query: only then does SQLite use the partial index.
IS_ENCRYPTED: Final = f"(substr(name, {_SEALED_START} OR substr(body, {_SEALED_START})"
# Index of nodes by visibility group. An expression, not the column: every guard tests the column, and queries that
# start from words, versions or edges must not choose this index.
NODES_BY_GROUP: Final = "CAST({} AS INTEGER)"

LOG_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS session(
         key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT""",
    """CREATE TABLE IF NOT EXISTS commits(
         first_pos INTEGER PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL UNIQUE,
         digest BLOB NOT NULL) STRICT""",
    """CREATE TABLE IF NOT EXISTS event(
         pos INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session(key), seq INTEGER NOT NULL,
         kind TEXT NOT NULL, agent TEXT NOT NULL, role TEXT NOT NULL,
         recorded_at INTEGER NOT NULL, known_at INTEGER NOT NULL, occurred_at INTEGER,
         caused_by TEXT, task TEXT, conversation TEXT, request_id TEXT,
         payload BLOB, salt BLOB, payload_hash BLOB NOT NULL, prev_hash BLOB NOT NULL, hash BLOB NOT NULL,
         rewritten INTEGER NOT NULL DEFAULT 0, UNIQUE(session, seq)) STRICT""",
    "CREATE INDEX IF NOT EXISTS event_request ON event(request_id) WHERE request_id IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS event_rewriting ON event(pos) WHERE kind = 'log.rewritten'",
)

# One row: the vector space in use. Older stores get the table with their first record.
SPACE_TABLE: Final = """CREATE TABLE IF NOT EXISTS space_in_use(
    only INTEGER PRIMARY KEY CHECK (only = 1), model TEXT NOT NULL, embedder TEXT NOT NULL, url TEXT NOT NULL) STRICT"""

# Tables that a rebuild keeps; it creates them, empty, only if they are missing.
KEPT_TABLES: Final = (
    # Tells this database from any other at the same path: index files name the database they were made of.
    "CREATE TABLE IF NOT EXISTS store_identity(id TEXT NOT NULL) STRICT",
    "INSERT INTO store_identity SELECT lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM store_identity)",
    # Vectors are expensive to derive: a rebuild keeps them, by content hash.
    """CREATE TABLE IF NOT EXISTS model(
         key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL,
         count INTEGER NOT NULL DEFAULT 0, removed INTEGER NOT NULL DEFAULT 0) STRICT""",
    """CREATE TABLE IF NOT EXISTS vector(
         key INTEGER PRIMARY KEY, model INTEGER NOT NULL, hash BLOB NOT NULL, data BLOB NOT NULL,
         parts BLOB NOT NULL, UNIQUE(model, hash)) STRICT""",
    """CREATE TRIGGER IF NOT EXISTS vector_counted AFTER INSERT ON vector BEGIN
         UPDATE model SET count = count + 1 WHERE key = new.model; END""",
    SPACE_TABLE,
)

GRAPH_TABLES: Final = (
    "ward",
    "node",
    "text",
    "alias",
    "name_word",
    "node_version",
    "edge",
    "edge_version",
    "tx",
    "term_df",
    "ward_total",
    "text_journal",
    "text_state",
    "text_index",
)


def graph_tables(prefix: str, generation: int) -> tuple[str, ...]:
    """The derived tables under a prefix. Index names carry the generation: they survive a swap by rename."""
    g = f"{prefix}g{generation}"
    return (
        *_nodes(prefix, g),
        *_texts(prefix, g),
        *_edges(prefix, g),
        *_transactions(prefix, g),
        *_words(prefix, generation),
    )


def _nodes(prefix: str, g: str) -> tuple[str, ...]:
    """Visibility groups, nodes and their versions."""
    return (
        # Visibility groups: nodes with equal guards share one.
        f"""CREATE TABLE {prefix}ward(
              id INTEGER PRIMARY KEY, project TEXT, scope TEXT NOT NULL, sensitive INTEGER NOT NULL,
              agents TEXT NOT NULL) STRICT""",
        f"CREATE UNIQUE INDEX {g}_ward ON {prefix}ward(ifnull(project, char(31)), scope, sensitive, agents)",
        # Today's state of each node.
        f"""CREATE TABLE {prefix}node(
              key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, ward INTEGER NOT NULL,
              deleted_at INTEGER, changed_pos INTEGER NOT NULL) STRICT""",
        f"CREATE INDEX {g}_node_changed ON {prefix}node(changed_pos)",
        f"CREATE INDEX {g}_node_deleted ON {prefix}node(deleted_at) WHERE deleted_at IS NOT NULL",
        f"CREATE INDEX {g}_node_ward ON {prefix}node({NODES_BY_GROUP.format('ward')}, kind)",
        # Valid and record time. A row is updated once: retired_*.
        f"""CREATE TABLE {prefix}node_version(
              row INTEGER PRIMARY KEY, node INTEGER NOT NULL, text INTEGER NOT NULL, props TEXT, focus TEXT, slot TEXT,
              ward INTEGER NOT NULL, valid_from INTEGER NOT NULL, valid_to INTEGER,
              asserted_from INTEGER NOT NULL, asserted_to INTEGER,
              recorded_at INTEGER NOT NULL, born INTEGER NOT NULL, tx INTEGER NOT NULL,
              retired_at INTEGER, retired_pos INTEGER, retired_tx INTEGER, event INTEGER NOT NULL) STRICT""",
        f"CREATE INDEX {g}_nv_node ON {prefix}node_version(node)",
        f"CREATE INDEX {g}_nv_text ON {prefix}node_version(text)",
        f"CREATE INDEX {g}_nv_born ON {prefix}node_version(born)",
        f"CREATE INDEX {g}_nv_retired ON {prefix}node_version(retired_pos) WHERE retired_pos IS NOT NULL",
        f"""CREATE INDEX {g}_nv_slot ON {prefix}node_version(slot, valid_to)
              WHERE slot IS NOT NULL AND retired_pos IS NULL""",
    )


def _texts(prefix: str, g: str) -> tuple[str, ...]:
    """Texts and their names."""
    return (
        # Texts, once per content.
        f"""CREATE TABLE {prefix}text(
              id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, name_key TEXT NOT NULL,
              summary TEXT NOT NULL, body TEXT NOT NULL, vector BLOB NOT NULL, length INTEGER NOT NULL) STRICT""",
        f"CREATE INDEX {g}_text_name ON {prefix}text(name_key) WHERE name_key <> ''",
        f"CREATE INDEX {g}_text_sealed ON {prefix}text(id) WHERE {IS_ENCRYPTED}",
        # Names of texts, and the words of those names, forwards and (after a "<") backwards: a typing error leaves one
        # half of a word intact, so a misspelt word is found by its halves.
        f"""CREATE TABLE {prefix}alias(
              key TEXT NOT NULL, text INTEGER NOT NULL, weight REAL NOT NULL, PRIMARY KEY(key, text))
              WITHOUT ROWID, STRICT""",
        f"""CREATE TABLE {prefix}name_word(
              word TEXT NOT NULL, text INTEGER NOT NULL, PRIMARY KEY(word, text)) WITHOUT ROWID, STRICT""",
    )


def _edges(prefix: str, g: str) -> tuple[str, ...]:
    """Edges and their versions."""
    return (
        f"""CREATE TABLE {prefix}edge(
              key INTEGER PRIMARY KEY, src INTEGER NOT NULL, rel TEXT NOT NULL, dst INTEGER NOT NULL,
              ward INTEGER NOT NULL, changed_pos INTEGER NOT NULL, UNIQUE(src, rel, dst)) STRICT""",
        f"CREATE INDEX {g}_edge_changed ON {prefix}edge(changed_pos)",
        f"CREATE INDEX {g}_edge_dst ON {prefix}edge(dst, rel)",
        f"""CREATE TABLE {prefix}edge_version(
              row INTEGER PRIMARY KEY, edge INTEGER NOT NULL, props TEXT, weight REAL NOT NULL, slot TEXT,
              ward INTEGER NOT NULL, valid_from INTEGER NOT NULL, valid_to INTEGER,
              asserted_from INTEGER NOT NULL, asserted_to INTEGER,
              recorded_at INTEGER NOT NULL, born INTEGER NOT NULL, tx INTEGER NOT NULL,
              retired_at INTEGER, retired_pos INTEGER, retired_tx INTEGER, event INTEGER NOT NULL) STRICT""",
        f"CREATE INDEX {g}_ev_edge ON {prefix}edge_version(edge)",
        f"CREATE INDEX {g}_ev_born ON {prefix}edge_version(born)",
        f"CREATE INDEX {g}_ev_retired ON {prefix}edge_version(retired_pos) WHERE retired_pos IS NOT NULL",
        f"""CREATE INDEX {g}_ev_slot ON {prefix}edge_version(slot, valid_to)
              WHERE slot IS NOT NULL AND retired_pos IS NULL""",
    )


def _transactions(prefix: str, g: str) -> tuple[str, ...]:
    """Logical changes."""
    return (
        f"""CREATE TABLE {prefix}tx(
              key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, agent TEXT NOT NULL,
              session TEXT NOT NULL, at INTEGER NOT NULL, opened_pos INTEGER NOT NULL, closed_pos INTEGER,
              long INTEGER NOT NULL, git_commit TEXT, files TEXT NOT NULL, counts TEXT NOT NULL,
              duration_ms INTEGER) STRICT""",
        f"CREATE INDEX {g}_tx_long ON {prefix}tx(closed_pos) WHERE long",
        f"CREATE INDEX {g}_tx_git ON {prefix}tx(git_commit) WHERE git_commit IS NOT NULL",
    )


def _words(prefix: str, generation: int) -> tuple[str, ...]:
    """The text index and its statistics."""
    return (
        # Document frequency of a stem (by CRC-32) in each group's live versions, applied in batches from a journal.
        f"""CREATE TABLE {prefix}term_df(
              term INTEGER NOT NULL, ward INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY(term, ward))
              WITHOUT ROWID, STRICT""",
        f"""CREATE TABLE {prefix}ward_total(
              ward INTEGER PRIMARY KEY, texts INTEGER NOT NULL, words INTEGER NOT NULL) STRICT""",
        f"""CREATE TABLE {prefix}text_journal(
              id INTEGER PRIMARY KEY, ward INTEGER NOT NULL, text INTEGER NOT NULL, delta INTEGER NOT NULL) STRICT""",
        # `removed`: the number of missing ids below the highest.
        f"""CREATE TABLE {prefix}text_state(
              indexed_text INTEGER NOT NULL, epoch INTEGER NOT NULL, removed INTEGER NOT NULL DEFAULT 0) STRICT""",
        f"INSERT INTO {prefix}text_state VALUES (0, {generation}, 0)",
        f"""CREATE VIRTUAL TABLE {prefix}text_index USING fts5(
              name, summary, body, content='', contentless_delete=1, tokenize="ascii tokenchars '_'")""",
    )
