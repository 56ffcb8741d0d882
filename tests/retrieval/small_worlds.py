"""Small worlds of every shape (titled texts, memories, talks, sessions, files), and somebody who asks about them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from weft.append.decrypting_store import decrypting
from weft.append.privacy import PrivacyFilter
from weft.core.clock import to_iso
from weft.core.ports import Store
from weft.core.types import Actor, Viewer, Writer
from weft.log.draft import Draft
from weft.log.kinds import code, conversation
from weft.models.embedding import Embedding
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import load_settings
from weft.testing.clock import ManualClock, day
from weft.testing.scribe import memory_of, node
from weft.testing.viewers import OPERATOR
from weft.text.encryption import Keyring, new_key
from weft.text.lexical import stems

PROJECT = "p"
KEYS = Keyring(new_key("tests"))  # who may see what is sensitive keeps receipts that are sealed
SETTINGS = load_settings(Path(__file__).parent, {"HOME": "/nonexistent", "WEFT_PROJECT": PROJECT})


class WordEmbedder:
    """A place for each stem, and for a text the middle of its stems' places: alike are those that share words."""

    model, dimensions = "words/32", 32

    def embed(self, texts: Sequence[str]) -> Any:
        return np.stack([self._place(text) for text in texts]) if texts else np.zeros((0, 32), np.float32)

    def embed_with_parts(self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]) -> Any:
        parts = [self.embed([text[a:b] for a, b in placed]) for text, placed in zip(texts, spans, strict=True)]
        return self.embed(texts), parts

    def _place(self, text: str) -> Any:
        total = np.zeros(32)
        for stem in stems(text) or [""]:
            total += np.random.default_rng(zlib.crc32(stem.encode())).standard_normal(32)
        return (total / np.linalg.norm(total)).astype(np.float32)


def context_over(store: Store, clock: ManualClock, *, viewer: Viewer = OPERATOR, embedder: Any = None) -> CallContext:
    """The working place of a viewer; without an embedder, words only."""
    writer = Writer(account=viewer.account, session="main", actor=Actor(agent="writer", role="operator"))
    privacy = PrivacyFilter(keys=KEYS)
    return CallContext(
        store=decrypting(store, privacy),
        privacy=privacy,
        clock=clock,
        settings=SETTINGS,
        viewer=viewer,
        writer=writer,
        embedding=Embedding(embedder, clock),
    )


def embed_all(store: Store, clock: ManualClock, *, viewer: Viewer = OPERATOR) -> None:
    """Gives every text of an account its vector."""
    embedding = Embedding(WordEmbedder(), clock)
    left = store.unembedded(viewer, WordEmbedder.model, after=0, limit=10_000)
    made, _ = embedding.of_pairs([(key, words, body) for _, key, words, body in left])
    store.put_vectors(viewer.account, made)


# ---- what may be written

NAMES = ("Marta Okonro", "Port Ysolde", "The Glass Heron (film)", "Velmora", "Elin Tarr Dravik", "Harbour Light, Tarn")
SENTENCES = (
    "{0} was directed by {1}.",
    "{0} is a ferry that sails to {1}.",
    "In {0} the harbour froze, and {1} wrote about it.",
    "{0} was born in {1}.",
    "I moved to {0} last spring. Before that I lived with {1}.",
    "Do you still like {0}? I told {1} that I do.",
    "My favourite ferry is {0}, and I sail it every week.",
    "Nobody sails today.",
)


def sentence(at: int, one: str, other: str) -> str:
    return SENTENCES[at].format(one.partition(" (")[0], other.partition(" (")[0])


NAME = st.sampled_from(NAMES)
TEXT = st.lists(st.builds(sentence, st.integers(0, len(SENTENCES) - 1), NAME, NAME), min_size=1, max_size=3).map(
    " ".join
)
DAYS = st.integers(-400, 5)


def titled(number: int, name: str, text: str, days: int, **guard: Any) -> Draft:
    return memory_of(f"doc{number}", text, node_kind="Document", name=name, valid_from=to_iso(day(days)), **guard)


def remembered(number: int, name: str, text: str, days: int, **guard: Any) -> Draft:
    return memory_of(f"mem{number}", text, valid_from=to_iso(day(days)), **guard)


def talk(number: int, name: str, text: str, days: int, *, whole: bool, **guard: Any) -> Draft:
    """Turns by two: named speakers in a talk that is searched by turn, plain roles in one that is answered whole."""
    said = text.split(". ")
    turns = tuple(
        conversation.MessageText(
            id=f"p/talk{number}#{seq:05d}",
            seq=seq,
            text=words if whole else f"{('Marta', 'Elin')[seq % 2]}: {words}",
            speaker="" if whole else ("Marta", "Elin")[seq % 2],
            role=("assistant", "user")[seq % 2] if whole else "",
            at=to_iso(day(days) + seq),
        )
        for seq, words in enumerate([*said, f"What about {name}?", text], start=1)
    )
    payload = conversation.Recorded(
        id=f"p/talk{number}", messages=turns, opens=True, begins=to_iso(day(days)), whole=whole, **guard
    )
    return Draft(kind="conversation.recorded", payload=payload)


def source_file(number: int, name: str, text: str, days: int, **guard: Any) -> Draft:
    word = name.rsplit(maxsplit=1)[-1].strip("()").lower()
    symbols = tuple(
        code.SymbolText(key=key, line=3 + at, end_line=3 + at, text=f"def {key}(): ...  # {text}")
        for at, key in enumerate((f"sail_{word}", "parse_header"))
    )
    payload = code.Indexed(
        id=f"p/{word}{number}.py",
        path=f"{word}{number}.py",
        language="python",
        sha256="0" * 64,
        text=f"# {name}",
        end_line=9,
        symbols=symbols,
        **guard,
    )
    return Draft(kind="code.indexed", payload=payload)


def linked(number: int, name: str, text: str, days: int, **guard: Any) -> Draft:
    return node(f"ent{number}", "", kind="Entity", name=name, **guard)


def part(number: int, name: str, text: str, days: int, **guard: Any) -> Draft:
    """A turn or a symbol that says it is part of some talk or file, which may be there or not, open or hidden."""
    if len(name) % 2:
        file = f"p/velmora{len(text) % 4}.py"
        props: dict[str, Any] = {"part_of": file}
        return node(f"{file}::part{number}", text, kind="Function", name=f"part{number}", props=props, **guard)
    whole = f"p/talk{len(text) % 4}"
    props = {"conversation": whole, "seq": 6 + number, "role": "user"} | ({"part_of": whole} if days % 2 else {})
    return node(f"{whole}#{6 + number:05d}", text, kind="Message", props=props, at=day(days), **guard)


SHAPES = ("titled", "remembered", "talk", "session", "file", "entity", "part")


def record(shape: str, number: int, name: str, text: str, days: int, **guard: Any) -> Draft:
    """One record of a shape; `guard` says who may see it."""
    guard = {"project": PROJECT, "scope": "public"} | guard
    match shape:
        case "titled":
            return titled(number, name, text, days, **guard)
        case "remembered":
            return remembered(number, name, text, days, **guard)
        case "talk":
            return talk(number, name, text, days, whole=False, **guard)
        case "session":
            return talk(number, name, text, days, whole=True, **guard)
        case "file":
            return source_file(number, name, text, days, **guard)
        case "part":
            return part(number, name, text, days, **guard)
        case _:
            return linked(number, name, text, days, **guard)


ROWS = st.lists(st.tuples(st.sampled_from(SHAPES), NAME, TEXT, DAYS), min_size=1, max_size=9)
QUESTIONS = (
    "who directed the glass heron?",
    "where was Marta Okonro born?",
    "Velmoar ferry",  # misspelt
    "what did Elin say about Port Ysolde last spring?",
    "remind me what you told me about my favourite ferry",
    "can you suggest a ferry to sail this week?",
    "parse_header fails in sail_velmora",
    "p/talk1",
    "Where do I live now, and where did I live before Velmora?",
    "The ferry fails to sail\n\nSteps:\n1. open Velmora\n2. parse_header is called\n" + "It froze again. " * 20,
)
