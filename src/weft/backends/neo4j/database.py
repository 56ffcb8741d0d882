"""The schema of a database: constraints, indexes, and a mark with the version of both.

Indexes get the names that the server gives them and are found by what they index, so that a database may hold others.
An index of several properties serves only queries with a condition on each of them: where one is open, the query says
so, as in `row > 0`. Log rows belong to an account (`a`), graph rows to one folding of its log (`g`): a rebuild writes
another and swaps.
"""

from __future__ import annotations

from typing import Final

from weft.backends.neo4j.bolt import BoltServer
from weft.core.errors import SchemaMismatch, StoreError

SCHEMA_VERSION: Final = 1
TEXT_FIELDS: Final = ("in_graph", "stems_name", "stems_summary", "stems_body")

_UNIQUE: Final = (
    ("WeftStore", "only"),
    ("WeftAccount", "a"),
    ("WeftGraph", "g"),
    ("WeftSession", "a, x.name"),
    ("WeftEvent", "a, x.pos"),
    ("WeftEvent", "a, x.session, x.seq"),
    ("WeftCommit", "a, x.first_pos"),
    ("WeftNode", "g, x.id"),
    ("WeftVersion", "g, x.row"),
    ("WeftText", "g, x.hash"),
    ("WeftName", "g, x.key"),
    ("WeftWord", "g, x.word"),
    ("WeftGroup", "g, x.key"),
    ("WeftTerm", "g, x.term, x.group"),
    ("WeftTx", "g, x.id"),
    ("WeftModel", "a, x.name"),
    ("WeftVector", "a, x.model, x.hash"),
)
_INDEXED: Final = (
    ("WeftCommit", "a, x.at"),
    ("WeftEvent", "a, x.request_id"),
    ("WeftEvent", "a, x.kind"),
    ("WeftNode", "g, x.kind"),
    ("WeftNode", "g, x.deleted_at"),
    ("WeftNode", "g, x.changed_pos"),
    ("WeftVersion", "g, x.born"),
    ("WeftVersion", "g, x.retired_pos"),
    ("WeftVersion", "g, x.slot_key"),
    ("WeftText", "g, x.number"),
    ("WeftText", "g, x.name_key"),
    ("WeftText", "g, x.sealed"),
    ("WeftTx", "g, x.open"),
    ("WeftTx", "g, x.long"),
    ("WeftTx", "g, x.opened_pos"),
    ("WeftTx", "g, x.git_commit"),
)
_ON_EDGES: Final = ("row", "pair", "rel", "born", "retired_pos", "changed_pos", "slot_key")

STATEMENTS: Final = (
    *(f"CREATE CONSTRAINT IF NOT EXISTS FOR (x:{label}) REQUIRE (x.{keys}) IS UNIQUE" for label, keys in _UNIQUE),
    *(f"CREATE INDEX IF NOT EXISTS FOR (x:{label}) ON (x.{keys})" for label, keys in _INDEXED),
    *(f"CREATE INDEX IF NOT EXISTS FOR ()-[x:EDGE]-() ON (x.g, x.{key})" for key in _ON_EDGES),
    f"CREATE FULLTEXT INDEX IF NOT EXISTS FOR (x:WeftText) ON EACH [{', '.join(f'x.{each}' for each in TEXT_FIELDS)}]"
    " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}",
)


def prepare(server: BoltServer) -> None:
    """Creates or completes the schema. Raises SchemaMismatch for a database that a newer weft wrote."""
    found = server.read("MATCH (x:WeftStore {only: 1}) RETURN x.version", {})
    version = found[0][0] if found else 0
    if version > SCHEMA_VERSION:
        raise SchemaMismatch(
            f"the database has schema {version}; this weft knows {SCHEMA_VERSION}",
            hint="upgrade weft; nothing was written",
        )
    if version < SCHEMA_VERSION:
        server.define(STATEMENTS)
        with server.translated(), server.session(writes=True) as session:
            session.run("MERGE (x:WeftStore {only: 1}) SET x.version = $version", version=SCHEMA_VERSION).consume()


def text_index(server: BoltServer) -> str:
    """The name of the full-text index over stems."""
    query = """SHOW INDEXES YIELD name, type, labelsOrTypes, properties
        WHERE type = 'FULLTEXT' AND labelsOrTypes = ['WeftText'] AND properties = $fields RETURN name"""
    found = server.read(query, {"fields": list(TEXT_FIELDS)})
    if not found:
        raise StoreError("the database lacks weft's full-text index", hint="run `weft reindex`")
    return str(found[0][0])


def vector_indexes(server: BoltServer) -> dict[str, str]:
    """The vector indexes that are online, by the label they index."""
    query = """SHOW INDEXES YIELD name, type, state, labelsOrTypes, properties
        WHERE type = 'VECTOR' AND state = 'ONLINE' AND properties = ['embedding'] RETURN labelsOrTypes[0], name"""
    return {label: name for label, name in server.read(query, {}) if label.startswith("WeftVector_")}


def create_vector_index(server: BoltServer, label: str, dimensions: int) -> None:
    """An index over the vectors of one label."""
    server.define(
        (
            f"CREATE VECTOR INDEX IF NOT EXISTS FOR (x:`{label}`) ON (x.embedding) OPTIONS {{indexConfig:"
            f" {{`vector.dimensions`: {dimensions:d}, `vector.similarity_function`: 'cosine'}}}}",
        )
    )
