"""Choice of the embedder while a store switches between models.

A store has one space in use, whatever a process is configured for: queries use that space. The setting names the wanted
one. If they differ, a switch is in progress: writes get vectors in both, so that they are found now and afterwards, and
`weft reindex` embeds the rest and puts the wanted one into use. Texts are never sent to a server that the settings do
not name, unless it runs on this machine: the store's record of a server is no permission.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from weft.core.clock import Clock
from weft.core.commits import LexedText
from weft.core.errors import Misconfigured, StoreError
from weft.core.ports import Embedder, Store
from weft.core.queries import Space, TextVector
from weft.core.types import Viewer
from weft.models import embedder_from, embedder_of, server_of
from weft.models.embedding import Embedding

MAX_OTHERS = 4  # embedders besides the configured one; the oldest is dropped


class EmbedderSetting(Struct, frozen=True, kw_only=True):
    """The configured embedder."""

    name: str
    url: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"EmbedderSetting({self.name!r}, {self.url!r})"  # a key is never shown

    def key_for(self, server: str) -> str | None:
        """The key for a server; None if nothing may be sent there."""
        if any(_origin(server) == _origin(named) for named in (self.url, server_of(self.name, self.url)) if named):
            return self.key
        return "" if _is_here(server) else None


class EmbeddingSpaces(Embedding):
    """The configured embedder, and access to the one whose vectors a store has in use."""

    def __init__(self, embedder: Embedder | None, clock: Clock, setting: EmbedderSetting) -> None:
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
        """The embedding of the space in use, possibly this one; None, and the reason, if it is unavailable."""
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
            return None, "the model that made them is not recorded"
        server = server_of(name, space.url)
        key = self._setting.key_for(server) if server else ""
        if key is None:
            return None, f"nothing is sent to {server}, which the settings no longer name"
        try:
            embedder = embedder_from(name, url=server, key=key)
        except Misconfigured as problem:
            return None, problem.message
        if embedder is None or embedder.model != space.model:
            return None, f"{name} now makes vectors of another model"
        return Embedding(embedder, self._clock), ""

    def forget(self) -> None:
        super().forget()
        with self._making:
            others = tuple(self._others.values())
        for each in others:
            each.forget()

    def of_texts(self, store: Store, viewer: Viewer, texts: Sequence[LexedText]) -> tuple[tuple[TextVector, ...], str]:
        """Vectors in the space in use and in the wanted one, of texts that have none there yet."""
        vectors, note = super().of_texts(store, viewer, texts)
        if self._embedder is None or not texts:
            return vectors, note
        found = store.space(viewer)
        used, _ = self._of(found)
        if used is self and found is not None and not found.embedder and (place := self.place) is not None:
            # Recorded once: a process with another embedder can then still query this space.
            store.use_space(viewer.account, place, instead_of=found)
        if used is None or used is self:
            return vectors, note
        more, problem = used.of_texts(store, viewer, texts)
        return vectors + more, "; ".join(dict.fromkeys(filter(None, (note, problem))))

    def catch_up(self, store: Store, viewer: Viewer, texts: Sequence[LexedText], made: Sequence[TextVector]) -> str:
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
    """The embedding of one call. Its space is determined by the first query, and stays."""

    def __init__(self, spaces: EmbeddingSpaces, store: Store, viewer: Viewer) -> None:
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

    def of_texts(self, store: Store, viewer: Viewer, texts: Sequence[LexedText]) -> tuple[tuple[TextVector, ...], str]:
        return self._spaces.of_texts(store, viewer, texts)

    def catch_up(self, store: Store, viewer: Viewer, texts: Sequence[LexedText], made: Sequence[TextVector]) -> str:
        return self._spaces.catch_up(store, viewer, texts, made)

    def of_pairs(self, texts: Sequence[tuple[bytes, str, str]]) -> tuple[tuple[TextVector, ...], str]:
        return self._spaces.of_pairs(texts)

    def _look(self) -> tuple[Embedding | None, str]:
        with self._choosing:
            if self._found is None:
                try:
                    self._found = self._spaces.used(self._store, self._viewer)
                except StoreError:  # the search itself reports the error
                    self._found = self._spaces, ""
            return self._found

    def _asking(self, text: str | None) -> Embedding:
        with self._choosing:
            if self._chosen is None:
                self._chosen = self._choose(self._first if text is None else text)
            return self._chosen

    def _choose(self, text: str | None) -> Embedding:
        """The space in use, unless its embedder is unavailable or fails: then the wanted one, and a note."""
        used, problem = self._look()
        if used is self._spaces:
            return self._spaces
        told = self._viewer.audience == "internal" and "admin" in self._viewer.scopes
        if used is not None:
            data: bytes | None = b""
            if text is not None:
                data, problem = used.query(text)  # cached there
            if data is not None:
                switching = f"vectors of {used.model} are in use until `weft reindex` has made those of"
                self._notes = (f"{switching} {self._spaces.model}",) if told else ()
                return used
        unasked = f"the vectors in use cannot be asked ({problem}): those of {self._spaces.model} are, as far as there"
        self._notes = (f"{unasked} are any; `weft reindex` makes the rest",)
        return self._spaces


def spaces_from(name: str, *, url: str, key: str, clock: Clock) -> EmbeddingSpaces:
    """The embedding spaces of the settings. Loads and sends nothing yet. Raises Misconfigured as
    `weft.models.embedder_from`.
    """
    return EmbeddingSpaces(embedder_from(name, url=url, key=key), clock, EmbedderSetting(name=name, url=url, key=key))


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
