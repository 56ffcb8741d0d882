"""One commit: the plan, the log and the graph in one transaction, and what becomes of it when the connection breaks."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import neo4j
from msgspec.structs import replace

from weft.backends.neo4j.bolt import ATTEMPTS, PAUSE_S, WRITE_S, BoltServer, is_transient, translate
from weft.backends.neo4j.search.vector_queries import fitting, write_vectors
from weft.backends.neo4j.write.cypher_writer import CypherWriter
from weft.backends.neo4j.write.locked_account import LockedAccount
from weft.backends.neo4j.write.locked_view import PlanView
from weft.core.commits import Batch, Plan
from weft.core.errors import Away, WeftError

ASK_S: Final = 15.0  # for a commit that was not confirmed to end, one way or the other

Result = TypeVar("Result")


class Writers:
    """Write transactions of one store. Each takes its account's lock on the server first."""

    def __init__(self, server: BoltServer, genesis: Callable[[str], bytes]) -> None:
        self._server, self._genesis = server, genesis

    def key(self, account: str) -> str:
        """An account's key among all stores of the database."""
        return f"{self._server.address.space}/{account}"

    @contextmanager
    def locked(self, account: str) -> Iterator[LockedAccount]:
        """One write transaction with the account's lock; committed at the end. Raises the driver's errors."""
        turn = uuid.uuid4().hex
        with self._server.session(writes=True) as session:
            tx = session.begin_transaction(timeout=WRITE_S)
            try:
                place = LockedAccount(
                    tx,
                    self.key(account),
                    space=self._server.address.space,
                    name=account,
                    genesis=self._genesis(account),
                    turn=turn,
                )
                yield place
            except BaseException:
                _abandon(tx)
                raise
            if place.idle:
                _abandon(tx)
                return
            try:
                tx.commit()
            except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError) as problem:
                if self._landed(account, turn):
                    return
                raise problem

    def _landed(self, account: str, turn: str) -> bool:
        """Whether a transaction whose commit was not confirmed took effect: it left its mark on the account.

        The account remembers the marks of its last transactions; later ones may have come between.
        """
        for attempt in range(ATTEMPTS):
            try:
                with self._server.session(writes=True) as session, session.begin_transaction(timeout=ASK_S) as tx:
                    # Taking the lock waits for a commit that is still under way.
                    tx.run("MATCH (x:WeftAccount {a: $a}) SET x.asked = true", a=self.key(account)).consume()
                    query = "MATCH (x:WeftAccount {a: $a}) RETURN $turn IN x.turns"
                    found = tx.run(query, a=self.key(account), turn=turn).single()
                    return bool(found and found[0])
            except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError):
                time.sleep(PAUSE_S * 4**attempt)
        raise Away(
            "the Neo4j server went away while it was saving; whether it saved is not known",
            hint="repeat the call once it is back, with the same request id: it then writes nothing twice",
        )

    def run(self, account: str, work: Callable[[LockedAccount], Result]) -> Result:
        """Does work in one write transaction; again after a transient fault, which leaves nothing behind."""
        self._server.check()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self.locked(account) as place:
                    done = work(place)
            except WeftError:
                raise
            except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError) as problem:
                if attempt == ATTEMPTS or not is_transient(problem):
                    raise translate(problem) from problem
                time.sleep(PAUSE_S * 2 ** (attempt - 1))
            else:
                return done
        raise AssertionError("the loop returns or raises")

    def commit(self, account: str, plan: Plan) -> Batch:
        """Runs a plan and applies its batch: all of it or none."""
        return self.run(account, lambda place: _apply(place, plan))


def _abandon(tx: neo4j.Transaction) -> None:
    """Rolls back; a connection that is gone has done so already."""
    try:
        tx.close()
    except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError):
        return


def _apply(place: LockedAccount, plan: Plan) -> Batch:
    view = PlanView(place, place.g)
    batch = plan(view)
    if batch.commit is None and batch.scrub is None:
        place.idle = True
        return batch
    if batch.scrub is not None:
        place.each(
            """UNWIND $rows AS r MATCH (e:WeftEvent {a: $a, pos: r.pos})
                SET e.payload = r.payload, e.salt = r.salt, e.rewritten = true""",
            [{"pos": new.pos, "payload": new.payload, "salt": new.salt} for new in batch.scrub.payloads],
        )
        # A running rebuild has read erased content: it stops with a Conflict.
        place.run("MATCH (x:WeftAccount {a: $a}) SET x.folding = null")
    if batch.commit is not None:
        place.write_log(batch.commit, batch.events)
    known = view.new_edges if batch.scrub is None else ()  # a scrub renames nodes
    CypherWriter(place, place.g, known).apply(batch.changes, place.head.pos, batch.scrub)
    batch = replace(batch, vectors=fitting(place, batch.vectors))
    write_vectors(place, batch.vectors)
    return batch
