"""The server store: logs and graphs of many accounts in a Neo4j database, over Bolt.

Every row of the log and of the graph is a node or a relationship; guards and both clocks are conditions of the Cypher
that reads them. `bolt` is the connection; `database` its schema; `cypher_guards` and `columns` the pieces of queries;
`read`, `search` and `write` the queries; `neo4j_store` puts them together.
"""

from weft.backends.neo4j.bolt import Address, BoltServer, address_of
from weft.backends.neo4j.neo4j_store import Neo4jStore

__all__ = ["Address", "BoltServer", "Neo4jStore", "address_of"]
