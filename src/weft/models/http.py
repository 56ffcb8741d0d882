"""Embedders behind HTTP: OpenAI-compatible servers, and Ollama.

Answers are validated: count, one constant dimension, finite, not zero. Rows are normalised here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from weft.core.errors import Misconfigured, ModelError, TooLarge
from weft.models.batches import batches
from weft.models.json_post import Endpoint, RefusedError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

BATCH_TEXTS = 64
BATCH_CHARACTERS = 200_000  # about 50,000 tokens, well below the limits of hosted servers
MAX_TEXT_CHARACTERS = BATCH_CHARACTERS
MIN_PIECE_CHARACTERS = 400  # about 100 tokens: every model accepts those
MAX_DIMENSIONS = 16_384
BLANK = "."  # sent instead of blank text, which servers refuse
_PROBE = "dimensions"
_WRONG_ANSWER = "check that the url and the model are those of an embedding server"


class _Embedding(Struct):
    embedding: list[float]
    index: int | None = None


class _OpenAIAnswer(Struct):
    data: list[_Embedding]


class _OllamaAnswer(Struct):
    embeddings: list[list[float]]


class _RemoteEmbedder:
    """The part common to both protocols: batches out, validated unit rows back. Thread-safe."""

    def __init__(self, model: str, endpoint: Endpoint, *, dimensions: int | None = None) -> None:
        """`dimensions` is checked if given; else the first answer sets it. Sends nothing yet."""
        if not model:
            raise Misconfigured("the embedding model has no name", hint="for example ollama:nomic-embed-text")
        if dimensions is not None and not 1 <= dimensions <= MAX_DIMENSIONS:
            raise Misconfigured(f"dimensions must be 1 to {MAX_DIMENSIONS}, not {dimensions}")
        self._name = model
        self._endpoint = endpoint
        self._dimensions = dimensions

    @property
    def dimensions(self) -> int:
        """As given, or as first answered: asks the server once if neither is known. Raises ModelError."""
        return self._dimensions if self._dimensions is not None else int(self.embed([_PROBE]).shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """A float32 array, one unit row per text, in order.

        A text that the server refuses, for example as too long, is embedded in pieces whose vectors are averaged by
        length. Raises TooLarge over MAX_TEXT_CHARACTERS, ModelError if the server is unreachable, refuses short texts
        too, or answers wrongly.
        """
        import numpy as np

        for number, text in enumerate(texts):
            if len(text) > MAX_TEXT_CHARACTERS:
                raise TooLarge(
                    f"text {number} has {len(text)} characters; at most {MAX_TEXT_CHARACTERS} are sent",
                    hint="split it into sections",
                )
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        sent = batches(texts, max_texts=BATCH_TEXTS, max_characters=BATCH_CHARACTERS)
        return np.concatenate([self._rows(batch) for batch in sent])

    def _rows(self, texts: Sequence[str]) -> NDArray[float32]:
        """The rows of a batch; if the server refuses it, of its halves, down to single texts."""
        import numpy as np

        try:
            return self._checked(texts, self._request(texts))
        except ModelError as problem:
            small = len(texts) == 1 and len(texts[0]) < 2 * MIN_PIECE_CHARACTERS
            if small or not isinstance(problem.__cause__, RefusedError):
                raise
        if len(texts) > 1:
            middle = len(texts) // 2
            return np.concatenate([self._rows(texts[:middle]), self._rows(texts[middle:])])
        pieces = _halves(texts[0])
        rows = np.concatenate([self._rows([piece]) for piece in pieces])
        total = (rows * np.array([[len(piece)] for piece in pieces], np.float32)).sum(axis=0, keepdims=True)
        return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9), np.float32)

    def _request(self, texts: Sequence[str]) -> list[list[float]]:
        """The server's vectors in the order of `texts`, unchecked."""
        raise NotImplementedError

    def _checked(self, texts: Sequence[str], vectors: list[list[float]]) -> NDArray[float32]:
        import numpy as np

        if len(vectors) != len(texts):
            raise self._wrong(f"{len(vectors)} vectors for {len(texts)} texts")
        expected = self._dimensions if self._dimensions is not None else len(vectors[0])
        for vector in vectors:
            if len(vector) != expected or not 1 <= len(vector) <= MAX_DIMENSIONS:
                raise self._wrong(f"a vector of {len(vector)} dimensions where {expected} were due")
        rows = np.array(vectors, np.float64)
        with np.errstate(over="ignore"):  # an infinite norm is caught below
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(norms).all():
            raise self._wrong("a vector that is not finite")
        if not norms.all():
            raise self._wrong("a vector of zeros")
        self._dimensions = expected
        return np.asarray(rows / norms, np.float32)

    def _wrong(self, what: str) -> ModelError:
        return ModelError(f"{self._endpoint.url} answered {what} (model {self._name})", hint=_WRONG_ANSWER)


class HttpEmbedder(_RemoteEmbedder):
    """An OpenAI-compatible server: `POST {url}/embeddings`, with a bearer key if there is one."""

    @property
    def model(self) -> str:
        return f"openai:{self._name}"

    def _request(self, texts: Sequence[str]) -> list[list[float]]:
        body = self._endpoint.post("/embeddings", {"model": self._name, "input": [_sendable(text) for text in texts]})
        try:
            data = msgspec.json.decode(body, type=_OpenAIAnswer).data
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._wrong(f"no embeddings: {error}") from error
        if all(item.index is None for item in data):
            return [item.embedding for item in data]
        by_index = {item.index: item.embedding for item in data}
        if set(by_index) != set(range(len(data))):
            raise self._wrong("vectors whose indexes do not match the texts")
        return [by_index[index] for index in range(len(data))]


class OllamaEmbedder(_RemoteEmbedder):
    """An Ollama server: `POST {url}/api/embed`. Told not to truncate: a text over the model's context is refused."""

    @property
    def model(self) -> str:
        return f"ollama:{self._name}"

    def _request(self, texts: Sequence[str]) -> list[list[float]]:
        question = {"model": self._name, "input": [_sendable(text) for text in texts], "truncate": False}
        body = self._endpoint.post("/api/embed", question)
        try:
            return msgspec.json.decode(body, type=_OllamaAnswer).embeddings
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._wrong(f"no embeddings: {error}") from error


def _halves(text: str) -> tuple[str, str]:
    """Split between two words, near the middle."""
    middle = len(text) // 2
    space = text.rfind(" ", middle - MIN_PIECE_CHARACTERS // 2, middle)
    return text[: space if space > 0 else middle], text[space + 1 if space > 0 else middle :]


def _sendable(text: str) -> str:
    """Text as a server accepts it: not blank, without lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8") if text.strip() else BLANK
