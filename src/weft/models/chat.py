"""Language models behind HTTP, with OpenAI's chat protocol. Chosen by the setting `model`.

The answer is plain text; callers interpret it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import BoundedSemaphore, Thread
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from weft.core.errors import Misconfigured, ModelError

OPENAI_URL = "https://api.openai.com/v1"
MAX_SENT_CHARACTERS = 200_000
MAX_ANSWER_CHARACTERS = 32_000
MAX_JSON_TOKENS = 700  # a handful of short fields
MAX_TEXT_TOKENS = 2_000
MAX_AT_ONCE = 8  # calls, including abandoned ones that have not ended
_WRONG_ANSWER = "check that the url and the model are those of a chat server"


class Chat(Protocol):
    """A language model."""

    @property
    def model(self) -> str: ...

    def ask(self, system: str, user: str, *, deadline_s: float, json: bool) -> str:
        """The model's answer, bounded and not empty, within `deadline_s` in all. With `json`, it is asked
        for one JSON object, which it may still fail to return. Raises ModelError; the caller then goes on
        without it.
        """
        ...


class _Message(Struct):
    content: str | None = None


class _Choice(Struct):
    message: _Message


class _Completion(Struct):
    choices: list[_Choice]


class OpenAiChat:
    """An OpenAI-compatible server: `POST {url}/chat/completions`, with a bearer key if there is one.

    Thread-safe. Sends nothing until asked.
    """

    def __init__(self, model: str, url: str, key: str = "") -> None:
        """Raises Misconfigured for a model without a name, or an unusable url or key."""
        from weft.models.json_post import Endpoint

        if not model:
            raise Misconfigured("the language model has no name", hint="for example openai:gpt-4o-mini")
        Endpoint(url, key)  # reports problems at the start, not at the first query
        self._name, self._url, self._key = model, url, key
        self._room = BoundedSemaphore(MAX_AT_ONCE)

    @property
    def model(self) -> str:
        return f"openai:{self._name}"

    def ask(self, system: str, user: str, *, deadline_s: float, json: bool) -> str:
        """What the model says, within `deadline_s` in all. Raises ModelError, also for an empty or a huge answer."""
        from weft.models.json_post import Endpoint

        body: dict[str, Any] = {
            "model": self._name,
            "messages": [
                {"role": "system", "content": _sendable(system)},
                {"role": "user", "content": _sendable(user)},
            ],
            "temperature": 0,
            "max_tokens": MAX_JSON_TOKENS if json else MAX_TEXT_TOKENS,
        }
        if json:
            body["response_format"] = {"type": "json_object"}
        endpoint = Endpoint(self._url, self._key, deadline_s)
        answer = self._within(deadline_s, lambda: endpoint.post("/chat/completions", body))
        try:
            choices = msgspec.json.decode(answer, type=_Completion).choices
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._wrong(f"something else than a chat message: {error}") from error
        said = (choices[0].message.content or "").strip() if choices else ""
        if not said:
            raise self._wrong("an empty message")
        if len(said) > MAX_ANSWER_CHARACTERS:
            raise self._wrong(f"{len(said)} characters where at most {MAX_ANSWER_CHARACTERS} were due")
        return said

    def _within(self, deadline_s: float, call: Callable[[], bytes]) -> bytes:
        """The call's result within the deadline, whatever the call does: name lookups, retries, slow answers.

        An abandoned call ends in the background, by the endpoint's own limits.
        """
        ends_s = time.monotonic() + deadline_s
        late = ModelError(f"{self._url} did not answer within {deadline_s:.3g} s", hint="use a quicker model, or none")
        if not self._room.acquire(timeout=deadline_s):
            raise late
        done: Future[bytes] = Future()

        def work() -> None:
            try:
                done.set_result(call())
            except BaseException as problem:  # noqa: BLE001 - not lost: raised to whoever waits
                done.set_exception(problem)
            finally:
                self._room.release()

        Thread(target=work, name="weft-chat", daemon=True).start()
        try:
            return done.result(max(0.0, ends_s - time.monotonic()))
        except TimeoutError as error:
            raise late from error

    def _wrong(self, what: str) -> ModelError:
        return ModelError(f"{self._url} answered {what} (model {self._name})", hint=_WRONG_ANSWER)


def chat_from(name: str, *, url: str = "", key: str = "") -> Chat | None:
    """The language model of a setting, None for "none". Sends nothing yet.

    Raises Misconfigured for another name, or an unusable url or key.
    """
    if name == "none":
        return None
    kind, _, model = name.partition(":")
    if kind != "openai" or not model:
        raise Misconfigured(f"there is no language model {name!r}", hint="one of none, openai:<model>")
    return OpenAiChat(model, url or OPENAI_URL, key)


def _sendable(text: str) -> str:
    """Text for JSON: bounded, without lone surrogates."""
    return text[:MAX_SENT_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
