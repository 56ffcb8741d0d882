"""A store with a few texts of a subject among many others; and versions pointed elsewhere, as an erasure does it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.erasure.byte_search import Planted
from weft.backends.sqlite.store import SqliteStore
from weft.core.queries import TextVector
from weft.core.types import Actor, Writer
from weft.erasure import erase_log as erasure
from weft.erasure.rewrite_log import RewriteAccess
from weft.log.chain import commit_genesis
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR
from weft.text.lexical import content_hash, lex
from weft.text.sentence_vectors import pack_parts

MODEL = "test/64"
DIMENSIONS = 64
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
SUBJECT_WORDS = (
    ("Quindleberry", "zhorvathane", "murgelstoff"),
    ("Ängströmsky", "ζωγραφίσκοςων", "щукоедовник"),
    ("Fennimaroon", "xylotrachen", "plimsorvane"),
    ("Brackwether", "vuorneskall", "drimbolatex"),
    ("Ostervinkel", "jhakundraal", "snevorminth"),
    ("Tarrabeschi", "wolfrumenik", "hexquadrine"),
)
SUBJECT = tuple(f"s{n}" for n in range(len(SUBJECT_WORDS)))


def store_at(path: Path, vfs: str | None = None) -> SqliteStore:
    return SqliteStore(path, commit_genesis, clock=ManualClock(), vfs=vfs)


def sentence(chance: random.Random, words: int) -> str:
    return " ".join("".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(words))


def unit_row(chance: np.random.Generator) -> np.ndarray:
    row = chance.normal(size=DIMENSIONS).astype(np.float32)
    return row / np.linalg.norm(row)


def subject_texts() -> list[Planted]:
    """Names, summaries, short texts and long ones, each with words of its own."""
    chance, drawn = random.Random(3), np.random.default_rng(3)
    made = []
    for number, words in enumerate(SUBJECT_WORDS):
        name, first, second = words
        long = sentence(chance, 900) if number % 2 else ""  # more than a page
        spans = np.stack([unit_row(drawn), unit_row(drawn)])
        made.append(
            Planted(
                words=words,
                name=f"{name} of the hill",
                summary=f"about {first}",
                text=f"{first} met {second.capitalize()} at noon. {long} Then {second} left.",
                vector=unit_row(drawn).astype("<f2").tobytes(),
                parts=pack_parts([(0, 10), (10, 20)], spans),
            )
        )
    return made


def fill(store: SqliteStore, planted: Sequence[Planted], *, others: int = 240) -> None:
    """Others' texts with the subject's among them, in many small commits: pages of every table fill, split and move."""
    scribe, chance, drawn = Scribe(store, ManualClock()), random.Random(4), np.random.default_rng(4)
    every = max(1, others // len(planted))
    for number in range(others):
        text = sentence(chance, chance.randint(5, 60))
        name = sentence(chance, 2).title()
        scribe.write(node(f"n{number}", text, name=name))
        vectors = [vector_of(name, "", text, unit_row(drawn).astype("<f2").tobytes())]
        if number % every == 0 and number // every < len(planted):
            one = planted[number // every]
            scribe.write(node(f"s{number // every}", one.text, name=one.name, summary=one.summary))
            vectors.append(vector_of(one.name, one.summary, one.text, one.vector, one.parts))
        store.put_vectors(OPERATOR.account, vectors)


def vector_of(name: str, summary: str, text: str, data: bytes, parts: bytes = b"") -> TextVector:
    return TextVector(model=MODEL, content_hash=content_hash(name, summary, text), data=data, parts=parts)


def point_elsewhere(store: SqliteStore, ids: Sequence[str]) -> None:
    """Gives all versions of these nodes an empty text, and the events that made them an empty payload."""
    nothing = lex("", "", "")
    with store._writing(OPERATOR.account) as db:
        row = db.execute("SELECT id FROM text WHERE hash = ?", (nothing.content_hash,)).fetchone()
        if row is None:
            insert = "INSERT INTO text(hash, name, name_key, summary, body, vector, length) VALUES (?,'','','','',?,0)"
            row = db.execute(f"{insert} RETURNING id", (nothing.content_hash, nothing.vector)).fetchone()
        for node_id in ids:
            query = """SELECT v.row, v.text, v.event, n.ward FROM node_version v JOIN node n ON n.key = v.node
                WHERE n.id = ?"""
            for version, text, event, ward in db.execute(query, (node_id,)).fetchall():
                journal = [(ward, text, -1), (ward, row[0], 1)]
                db.executemany("INSERT INTO text_journal(ward, text, delta) VALUES (?,?,?)", journal)
                db.execute("UPDATE node_version SET text = ?, props = NULL WHERE row = ?", (row[0], version))
                db.execute("UPDATE event SET payload = x'7b7d' WHERE pos = ?", (event,))


def sweep(store: SqliteStore) -> tuple[str, ...]:
    return store.sweep(OPERATOR, progress=lambda done, total: None)


def erase(store: SqliteStore, ids: Sequence[str]) -> erasure.ErasureCounts:
    """The whole of it: the log, the graph, then the sweep."""
    return erasure.erase(
        RewriteAccess(
            store=store,
            writer=Writer(account=OPERATOR.account, session="main", actor=Actor(agent="operator")),
            viewer=OPERATOR,
            clock=ManualClock(),
            progress=lambda step, done, total: None,
        ),
        ids=ids,
        what="subject",
    )
