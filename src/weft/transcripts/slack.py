"""Slack: the export of a workspace, a zip or a folder: `users.json`, and of each channel a folder with a file a day."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path, PurePosixPath
from typing import Any, Final

from weft.errors import StoreError
from weft.transcripts.bundles import Bundle
from weft.transcripts.entries import (
    MAX_TITLE_CHARACTERS,
    MEDIA,
    NOTICE,
    Bad,
    Entries,
    Left,
    Titled,
    listing,
    mapping,
    moment,
    name,
    words,
)
from weft.transcripts.json_stream import Broken, JsonStream
from weft.transcripts.told_apart import told_apart, turn_of

LINK: Final = "a link, which is not followed"
MAX_BLOCKS: Final = 1_000  # of one message
DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
# What people and their programs write has no subtype, or one of these; every other is a notice.
_SAID: Final = ("", "thread_broadcast", "me_message", "file_share", "bot_message", "file_comment")
_LINK: Final = re.compile(r"<([@#!]?)([^<>|]{1,2000})(?:\|([^<>]{0,500}))?>")


def read(path: Path, start: int = 0) -> Entries:
    """Every channel, in order of its days. An answer in a thread follows what it answers, where both are of one day."""
    return told_apart(_entries(path), in_time=False)  # of threads, see above


def _entries(path: Path) -> Entries:
    with Bundle(path) as bundle:
        people = yield from _people(bundle)
        channels = _channels(bundle, people)
        days = [each for each in bundle.names if DAY.fullmatch(PurePosixPath(each).name)]
        titled: set[str] = set()
        for _ in bundle.links:
            yield Left(reason=LINK)
        if not days:
            yield Bad(where="the export", reason="it holds no channel with days, as general/2024-03-02.json")
        for day in days:
            folder = PurePosixPath(day).parent.name or bundle.path.name
            session, title = channels.get(folder, (folder, f"#{folder}"))
            if session not in titled:
                titled.add(session)
                yield Titled(session=session, title=title)
            try:
                with bundle.open(day) as file:
                    yield from _day(_messages(file), session, people)
            except (Broken, StoreError) as problem:
                yield Bad(where=day, reason=getattr(problem, "message", "") or str(problem))


def _people(bundle: Bundle) -> Any:
    """Names by id. Without them, ids speak."""
    people: dict[str, str] = {}
    place = bundle.find("users.json")
    beside = bundle.path.parent / "users.json"
    if not place and bundle.path.is_dir() and beside.is_file() and not beside.is_symlink():  # a folder of one channel
        with Bundle(bundle.path.parent) as whole:
            return (yield from _people(whole))
    if not place:
        yield Bad(where="the export", reason="there is no users.json: speakers are told by their ids")
        return people
    try:
        with bundle.open(place) as file:
            for each in map(mapping, _messages(file)):
                profile = mapping(each.get("profile"))
                known = (profile.get("real_name"), each.get("real_name"), profile.get("display_name"), each.get("name"))
                people[name(each.get("id"))] = next(filter(None, map(name, known)), name(each.get("id")))
    except (Broken, StoreError) as problem:
        yield Bad(where=place, reason=getattr(problem, "message", "") or str(problem))
    return people


def _channels(bundle: Bundle, people: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Of each folder the conversation's name and title. Its id is part of the name: every workspace has a general."""
    found: dict[str, tuple[str, str]] = {}
    for listed in ("channels.json", "groups.json", "mpims.json", "dms.json"):
        try:
            if not (place := bundle.find(listed)):
                continue
            with bundle.open(place) as file:
                for each in map(mapping, _messages(file)):
                    identity, called = name(each.get("id")), name(each.get("name"))
                    members = ", ".join(people.get(words(one), words(one)) for one in listing(each.get("members"))[:8])
                    session = f"{called}-{identity}" if called else identity
                    title = members if listed in ("mpims.json", "dms.json") and members else f"#{called}"
                    found[called or identity] = (session, title[:MAX_TITLE_CHARACTERS])
        except (Broken, StoreError):
            continue  # then folders are called by their names
    return found


def _messages(file: Any) -> list[Any]:
    """The list that a file of one day holds."""
    stream = JsonStream(file)
    return [stream.value() for _ in stream.items()]


def _day(rows: list[Any], channel: str, people: Mapping[str, str]) -> Entries:
    messages = [mapping(row) for row in rows]
    begun = {words(each.get("ts")) for each in messages}
    answers: dict[str, list[dict[str, Any]]] = {}
    for each in messages:
        root = words(each.get("thread_ts"))
        if root and root != words(each.get("ts")) and root in begun:
            answers.setdefault(root, []).append(each)
    placed = {id(each) for thread in answers.values() for each in thread}
    tops = [each for each in messages if id(each) not in placed]
    told: set[int] = set()
    waiting = [*reversed(messages), *reversed(tops)]  # threads that go round have no top
    while waiting:
        each = waiting.pop()
        if id(each) not in told:
            told.add(id(each))
            yield _message(each, channel, people)
            waiting += reversed(answers.pop(words(each.get("ts")), []))


def _message(value: dict[str, Any], channel: str, people: Mapping[str, str]) -> Any:
    if value.get("type", "message") != "message" or words(value.get("subtype")) not in _SAID:
        return Left(reason=NOTICE)
    own = mapping(value.get("user_profile"))
    user = name(value.get("user"))
    who = people.get(user) or name(own.get("real_name")) or name(value.get("username")) or user
    text = _plain(words(value.get("text")) or _posted(value), people)
    if not text.strip() and value.get("files"):
        return Left(reason=MEDIA)
    ts = name(value.get("ts"))
    whole, _, part = ts.partition(".")
    told = whole.isdecimal() and len(whole) < 12
    at = moment(int(whole)) if told else None
    if at is not None and part.isdecimal():
        at += int(part[:6].ljust(6, "0"))
    return turn_of(channel, text, who=who, at=at, identity=ts)


def _posted(value: dict[str, Any]) -> str:
    """The words of a message that has none but in blocks, or in attachments, as programs post them."""
    blocks = filter(None, (_block(each) for each in listing(value.get("blocks"))[:MAX_BLOCKS]))
    if found := "\n".join(blocks):
        return found
    told: list[str] = []
    for each in map(mapping, listing(value.get("attachments"))[:MAX_BLOCKS]):
        said = [words(each.get(key)) for key in ("pretext", "title", "text")]
        said += [_block(block) for block in listing(each.get("blocks"))[:MAX_BLOCKS]]
        told += list(filter(None, said)) or [words(each.get("fallback"))]
    return "\n".join(filter(None, told))


def _block(block: Any) -> str:
    """The words of a block: its text, or those of what is in it, in order."""
    found: list[str] = []
    waiting = [block]
    while waiting and len(found) < MAX_BLOCKS:
        each = mapping(waiting.pop())
        text = each.get("text")
        if said := words(text) or words(mapping(text).get("text")):
            found.append(said)
        elif user := name(each.get("user_id")):
            found.append(f"<@{user}>")
        elif link := words(each.get("url")) if each.get("type") == "link" else "":
            found.append(link)
        parts = listing(each.get("elements")) or listing(each.get("fields"))
        waiting += reversed(parts[:MAX_BLOCKS])
    return "".join(found)


def _plain(text: str, people: Mapping[str, str]) -> str:
    """Words as people saw them: names for ids, links with what they say."""

    def shown(found: re.Match[str]) -> str:
        mark, target, label = found[1], found[2], found[3] or ""
        if mark == "@":
            return f"@{label or people.get(target, target)}"
        if mark in ("#", "!"):
            return f"{'#' if mark == '#' else '@'}{label or target.partition('^')[0]}"
        return f"{label} ({target})" if label and label not in target else target

    return unescape(_LINK.sub(shown, text))
