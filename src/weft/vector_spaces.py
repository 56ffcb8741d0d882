"""Which embedder serves what while a store goes from one model to another.

A store has one space in use, whatever a process is set to: questions are asked there. The setting says which is wanted.
Where the two differ, a switch is under way: what is written gets vectors in both, so that it is found by meaning now
and afterwards, and `weft reindex` embeds the rest and makes the wanted one the one in use. Nothing is ever sent to a
server that the settings do not name, unless it runs on this machine: a store tells where its vectors came from, and
that is no leave to send texts there.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from weft.commits import LexedText
from weft.embedding import Embedding
from weft.errors import Misconfigured, StoreError
from weft.instants import Clock
from weft.models import embedder_from, embedder_of, server_of
from weft.ports import Embedder, Store
from weft.queries import Space, Vector
from weft.types import Viewer

MAX_OTHERS = 4  # embedders made beside the one that is set; the oldest is let go


class Setting(Struct, frozen=True, kw_only=True):
    """The embedder as the settings name it."""

    name: str
    url: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"Setting({self.name!r}, {self.url!r})"  # a key is never shown

    def key_for(self, server: str) -> str | None:
        """The key to send there; None if nothing may be sent there at all."""
        if any(_origin(server) == _origin(named) for named in (self.url, server_of(self.name, self.url)) if named):
            return self.key
        return "" if _is_here(server) else None


class Spaces(Embedding):
    """The embedder that is set, and how to get at the one whose vectors a store has in use."""

    def __init__(self, embedder: Embedder | None, clock: Clock, setting: Setting) -> None:
        super().__init__(embedder, clock)
        self._setting = setting
        self._others: dict[Space, Embedding] = {}
        self._making = threading.Lock()

    @property
    def place(self) -> Space | None:
        model = self.model
        named = self._setting
        return None if model is None else Space(model=model, embedder=named.name, url=server_of(named.name, named.url))

    def serving(self, store: Store, viewer: Viewer) -> Embedding:
        return self if self._embedder is None else _Serving(self, store, viewer)

    def used(self, store: Store, viewer: Viewer) -> tuple[Embedding | None, str]:
        """What embeds into the space in use, this one included; None, and why, where that cannot be had."""
        return self._of(store.space(viewer))

    def _of(self, found: Space | None) -> tuple[Embedding | None, str]:
        if self._embedder is None or found is None or found.model == self.model:
            return self, ""
        with self._making:
            made = self._others.get(found)
            if made is None:
                made, problem = self._made(found)
                if made is None:
                    return None, problem
                self._others[found] = made
                if len(self._others) > MAX_OTHERS:
                    del self._others[next(iter(self._others))]
            return made, ""

    def _made(self, space: Space) -> tuple[Embedding | None, str]:
        name = space.embedder or embedder_of(space.model)
        if not name:
            return None, "nothing tells what made them"
        server = server_of(name, space.url)
        key = self._setting.key_for(server) if server else ""
        if key is None:
            return None, f"nothing is sent to {server}, which the settings do not name any more"
        try:
            embedder = embedder_from(name, url=server, key=key)
        except Misconfigured as problem:
            return None, problem.message
        if embedder is None or embedder.model != space.model:
            return None, f"{name} makes others now"
        return Embedding(embedder, self._clock), ""

    def forget(self) -> None:
        super().forget()
        with self._making:
            others = tuple(self._others.values())
        for each in others:
            each.forget()

    def of_texts(self, store: Store, viewer: Viewer, texts: Sequence[LexedText]) -> tuple[tuple[Vector, ...], str]:
        """Vectors in the space in use and in the wanted one, of texts that have none there yet."""
        vectors, note = super().of_texts(store, viewer, texts)
        if self._embedder is None or not texts:
            return vectors, note
        found = store.space(viewer)
        used, _ = self._of(found)
        if used is self and found is not None and not found.embedder and (place := self.place) is not None:
            # Told once: whoever is set to another embedder later knows where to go on asking.
            store.use_space(viewer.account, place, instead_of=found)
        if used is None or used is self:
            return vectors, note
        more, problem = used.of_texts(store, viewer, texts)
        return vectors + more, "; ".join(dict.fromkeys(filter(None, (note, problem))))

    def catch_up(self, store: Store, viewer: Viewer, texts: Sequence[LexedText], made: Sequence[Vector]) -> str:
        if self._embedder is None or not texts:
            return ""
        used, _ = self.used(store, viewer)
        if used is None or used is self or used.model in {vector.model for vector in made}:
            return ""
        vectors, note = used.of_texts(store, viewer, texts)
        if vectors:
            store.put_vectors(viewer.account, vectors)
        return note


class _Serving(Embedding):
    """One call's. The space of its questions is looked up with the first of them, and stays."""

    def __init__(self, spaces: Spaces, store: Store, viewer: Viewer) -> None:
        super().__init__(spaces._embedder, spaces._clock)
        self._spaces, self._store, self._viewer = spaces, store, viewer
        self._choosing = threading.RLock()
        self._found: tuple[Embedding | None, str] | None = None
        self._chosen: Embedding | None = None
        self._first: str | None = None
        self._notes: tuple[str, ...] = ()

    @property
    def model(self) -> str | None:
        return self._asking(None).model

    @property
    def place(self) -> Space | None:
        return self._spaces.place

    @property
    def wanted(self) -> Embedding:
        return self._spaces

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    def begin(self, text: str) -> None:
        with self._choosing:
            if self._first is None:
                self._first = text
            asked = self._chosen or self._look()[0] or self._spaces
        asked.begin(text)

    def query(self, text: str) -> tuple[bytes | None, str]:
        return self._asking(text).query(text)

    def forget(self) -> None:
        self._spaces.forget()

    def of_texts(self, store: Store, viewer: Viewer, texts: Sequence[LexedText]) -> tuple[tuple[Vector, ...], str]:
        return self._spaces.of_texts(store, viewer, texts)

    def catch_up(self, store: Store, viewer: Viewer, texts: Sequence[LexedText], made: Sequence[Vector]) -> str:
        return self._spaces.catch_up(store, viewer, texts, made)

    def of_pairs(self, texts: Sequence[tuple[bytes, str, str]]) -> tuple[tuple[Vector, ...], str]:
        return self._spaces.of_pairs(texts)

    def _look(self) -> tuple[Embedding | None, str]:
        with self._choosing:
            if self._found is None:
                try:
                    self._found = self._spaces.used(self._store, self._viewer)
                except StoreError:  # the search itself meets the same, and says so
                    self._found = self._spaces, ""
            return self._found

    def _asking(self, text: str | None) -> Embedding:
        with self._choosing:
            if self._chosen is None:
                self._chosen = self._choose(self._first if text is None else text)
            return self._chosen

    def _choose(self, text: str | None) -> Embedding:
        """The space in use, unless its embedder cannot be had or does not answer: then the wanted one, and a note."""
        used, problem = self._look()
        if used is self._spaces:
            return self._spaces
        told = self._viewer.audience == "internal" and "admin" in self._viewer.scopes
        if used is not None:
            data: bytes | None = b""
            if text is not None:
                data, problem = used.query(text)  # kept there: asked again, it costs nothing
            if data is not None:
                switching = f"vectors of {used.model} are in use until `weft reindex` has made those of"
                self._notes = (f"{switching} {self._spaces.model}",) if told else ()
                return used
        unasked = f"the vectors in use cannot be asked ({problem}): those of {self._spaces.model} are, as far as there"
        self._notes = (f"{unasked} are any; `weft reindex` makes the rest",)
        return self._spaces


def spaces_from(name: str, *, url: str, key: str, clock: Clock) -> Spaces:
    """What the settings name. Loads and sends nothing yet. Raises Misconfigured as `weft.models.embedder_from`."""
    return Spaces(embedder_from(name, url=url, key=key), clock, Setting(name=name, url=url, key=key))


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    return parts.scheme, parts.hostname or "", port or {"http": 80, "https": 443}.get(parts.scheme)


def _is_here(url: str) -> bool:
    import ipaddress

    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
