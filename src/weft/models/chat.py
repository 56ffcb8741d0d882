"""A language model behind HTTP: any server that speaks OpenAI's chat protocol. Chosen by the setting `model`.

What comes back is text and nothing more: whoever asked decides what it may mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import BoundedSemaphore, Thread
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from weft.errors import Misconfigured, ModelError

OPENAI_URL = "https://api.openai.com/v1"
MAX_SENT_CHARACTERS = 200_000
MAX_ANSWER_CHARACTERS = 32_000
MAX_JSON_TOKENS = 700  # a handful of short fields
MAX_TEXT_TOKENS = 2_000
MAX_AT_ONCE = 8  # calls, those that were given up and have not ended included
_WRONG_ANSWER = "check that the url and the model are those of a chat server"


class Chat(Protocol):
    """A language model that is asked in words."""

    @property
    def model(self) -> str: ...

    def ask(self, system: str, user: str, *, deadline_s: float, json: bool) -> str:
        """What it says, of bounded length and not empty, within `deadline_s` in all. With `json`, it is asked for one
        JSON object, which it may still fail to give. Raises ModelError; the caller goes on without it then.
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

    Safe to share between threads. Sends nothing until asked.
    """

    def __init__(self, model: str, url: str, key: str = "") -> None:
        """Raises Misconfigured for a model without a name, or an unusable url or key."""
        from weft.models.json_post import Endpoint

        if not model:
            raise Misconfigured("the language model has no name", hint="for example openai:gpt-4o-mini")
        Endpoint(url, key)  # what is wrong with them is told at the start, not at the first question
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
        """The call's result, waited for no longer than this, whatever it does: look up names, retry, trickle.

        A call that is given up ends by the endpoint's own limits, in the background.
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
    """The language model a setting names, None for "none". Sends nothing yet.

    Raises Misconfigured for another name, or an unusable url or key.
    """
    if name == "none":
        return None
    kind, _, model = name.partition(":")
    if kind != "openai" or not model:
        raise Misconfigured(f"there is no language model {name!r}", hint="one of none, openai:<model>")
    return OpenAiChat(model, url or OPENAI_URL, key)


def _sendable(text: str) -> str:
    """The text as JSON can carry it: bounded, no lone surrogates."""
    return text[:MAX_SENT_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
