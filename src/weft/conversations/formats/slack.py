"""Slack: a workspace's export, a zip or a folder with `users.json` and a folder per channel with a file per day."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path, PurePosixPath
from typing import Any, Final

from weft.conversations.formats.entries import (
    MAX_TITLE_CHARACTERS,
    MEDIA,
    NOTICE,
    ConversationTitle,
    Entries,
    Omitted,
    Unreadable,
    as_dict,
    as_label,
    as_list,
    as_text,
    turn_of,
    with_unique_ids,
)
from weft.conversations.formats.files import Bundle
from weft.conversations.formats.json_stream import Broken, JsonStream
from weft.conversations.formats.times import as_time
from weft.core.errors import StoreError

LINK: Final = "a symbolic link, which is not followed"
MAX_BLOCKS: Final = 1_000  # of one message
DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
# Subtypes of messages that somebody wrote; every other one is a notice.
_WRITTEN_SUBTYPES: Final = ("", "thread_broadcast", "me_message", "file_share", "bot_message", "file_comment")
_LINK: Final = re.compile(r"<([@#!]?)([^<>|]{1,2000})(?:\|([^<>]{0,500}))?>")


def read(path: Path, start: int = 0) -> Entries:
    """Every channel, day by day. A reply in a thread follows its message if both are of one day."""
    return with_unique_ids(_entries(path), chronological=False)  # threads are not in order of time


def _entries(path: Path) -> Entries:
    with Bundle(path) as bundle:
        people = yield from _people(bundle)
        channels = _channels(bundle, people)
        days = [each for each in bundle.names if DAY.fullmatch(PurePosixPath(each).name)]
        titled: set[str] = set()
        for _ in bundle.links:
            yield Omitted(reason=LINK)
        if not days:
            yield Unreadable(
                where="the export", reason="it has no channels with a file per day, such as general/2024-03-02.json"
            )
        for day in days:
            folder = PurePosixPath(day).parent.name or bundle.path.name
            session, title = channels.get(folder, (folder, f"#{folder}"))
            if session not in titled:
                titled.add(session)
                yield ConversationTitle(session=session, title=title)
            try:
                with bundle.open(day) as file:
                    yield from _day(_messages(file), session, people)
            except (Broken, StoreError) as problem:
                yield Unreadable(where=day, reason=getattr(problem, "message", "") or str(problem))


def _people(bundle: Bundle) -> Any:
    """Names by user id; without `users.json` the ids stand for the names."""
    people: dict[str, str] = {}
    place = bundle.find("users.json")
    beside = bundle.path.parent / "users.json"
    if (
        not place and bundle.path.is_dir() and beside.is_file() and not beside.is_symlink()
    ):  # the path is one channel's folder
        with Bundle(bundle.path.parent) as whole:
            return (yield from _people(whole))
    if not place:
        yield Unreadable(where="the export", reason="it has no users.json: speakers are named by their ids")
        return people
    try:
        with bundle.open(place) as file:
            for each in map(as_dict, _messages(file)):
                profile = as_dict(each.get("profile"))
                known = (profile.get("real_name"), each.get("real_name"), profile.get("display_name"), each.get("name"))
                people[as_label(each.get("id"))] = next(filter(None, map(as_label, known)), as_label(each.get("id")))
    except (Broken, StoreError) as problem:
        yield Unreadable(where=place, reason=getattr(problem, "message", "") or str(problem))
    return people


def _channels(bundle: Bundle, people: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """(conversation, title) of each folder. The conversation's name has the channel's id: every workspace has a
    "general".
    """
    found: dict[str, tuple[str, str]] = {}
    for listed in ("channels.json", "groups.json", "mpims.json", "dms.json"):
        try:
            if not (place := bundle.find(listed)):
                continue
            with bundle.open(place) as file:
                for each in map(as_dict, _messages(file)):
                    identity, called = as_label(each.get("id")), as_label(each.get("name"))
                    members = ", ".join(
                        people.get(as_text(one), as_text(one)) for one in as_list(each.get("members"))[:8]
                    )
                    session = f"{called}-{identity}" if called else identity
                    title = members if listed in ("mpims.json", "dms.json") and members else f"#{called}"
                    found[called or identity] = (session, title[:MAX_TITLE_CHARACTERS])
        except (Broken, StoreError):
            continue  # folders keep their own names
    return found


def _messages(file: Any) -> list[Any]:
    """The list in one file."""
    stream = JsonStream(file)
    return [stream.value() for _ in stream.items()]


def _day(rows: list[Any], channel: str, people: Mapping[str, str]) -> Entries:
    messages = [as_dict(row) for row in rows]
    begun = {as_text(each.get("ts")) for each in messages}
    answers: dict[str, list[dict[str, Any]]] = {}
    for each in messages:
        root = as_text(each.get("thread_ts"))
        if root and root != as_text(each.get("ts")) and root in begun:
            answers.setdefault(root, []).append(each)
    placed = {id(each) for thread in answers.values() for each in thread}
    tops = [each for each in messages if id(each) not in placed]
    done: set[int] = set()
    waiting = [*reversed(messages), *reversed(tops)]  # a cycle of threads has no top
    while waiting:
        each = waiting.pop()
        if id(each) not in done:
            done.add(id(each))
            yield _message(each, channel, people)
            waiting += reversed(answers.pop(as_text(each.get("ts")), []))


def _message(value: dict[str, Any], channel: str, people: Mapping[str, str]) -> Any:
    if value.get("type", "message") != "message" or as_text(value.get("subtype")) not in _WRITTEN_SUBTYPES:
        return Omitted(reason=NOTICE)
    own = as_dict(value.get("user_profile"))
    user = as_label(value.get("user"))
    who = people.get(user) or as_label(own.get("real_name")) or as_label(value.get("username")) or user
    text = _plain(as_text(value.get("text")) or _posted(value), people)
    if not text.strip() and value.get("files"):
        return Omitted(reason=MEDIA)
    ts = as_label(value.get("ts"))
    whole, _, part = ts.partition(".")
    at = as_time(int(whole)) if whole.isdecimal() and len(whole) < 12 else None
    if at is not None and part.isdecimal():
        at += int(part[:6].ljust(6, "0"))
    return turn_of(channel, text, who=who, at=at, identity=ts)


def _posted(value: dict[str, Any]) -> str:
    """The words of a message without text of its own: from blocks, or from attachments, as programs post."""
    blocks = filter(None, (_block(each) for each in as_list(value.get("blocks"))[:MAX_BLOCKS]))
    if found := "\n".join(blocks):
        return found
    posted: list[str] = []
    for each in map(as_dict, as_list(value.get("attachments"))[:MAX_BLOCKS]):
        texts = [as_text(each.get(key)) for key in ("pretext", "title", "text")]
        texts += [_block(block) for block in as_list(each.get("blocks"))[:MAX_BLOCKS]]
        posted += list(filter(None, texts)) or [as_text(each.get("fallback"))]
    return "\n".join(filter(None, posted))


def _block(block: Any) -> str:
    """The words of a block: its text, or that of its elements in order."""
    found: list[str] = []
    waiting = [block]
    while waiting and len(found) < MAX_BLOCKS:
        each = as_dict(waiting.pop())
        text = each.get("text")
        if texts := as_text(text) or as_text(as_dict(text).get("text")):
            found.append(texts)
        elif user := as_label(each.get("user_id")):
            found.append(f"<@{user}>")
        elif link := as_text(each.get("url")) if each.get("type") == "link" else "":
            found.append(link)
        parts = as_list(each.get("elements")) or as_list(each.get("fields"))
        waiting += reversed(parts[:MAX_BLOCKS])
    return "".join(found)


def _plain(text: str, people: Mapping[str, str]) -> str:
    """The text as people saw it: names for ids, labels for links."""

    def shown(found: re.Match[str]) -> str:
        mark, target, label = found[1], found[2], found[3] or ""
        if mark == "@":
            return f"@{label or people.get(target, target)}"
        if mark in ("#", "!"):
            return f"{'#' if mark == '#' else '@'}{label or target.partition('^')[0]}"
        return f"{label} ({target})" if label and label not in target else target

    return unescape(_LINK.sub(shown, text))
