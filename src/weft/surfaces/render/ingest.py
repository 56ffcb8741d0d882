"""Imports as text: ingested files and conversations, lists of conversations, received messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Protocol

from weft.surfaces.render.page import REASON_CHARACTERS, Colour, TextPage, counted, facts, minute, one_line
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.conversations.archive import SessionArchived
    from weft.conversations.import_conversations import TranscriptsIngested
    from weft.conversations.lists import ConversationsShown
    from weft.conversations.receive import ReceiveResult
    from weft.conversations.record import TurnsRecorded
    from weft.conversations.screen import Screened
    from weft.files.walk import Skipped
    from weft.ingest.ingest import IngestResult
    from weft.writing.extract_memories import ExtractedMemories

NAMED: Final = 3  # files that are named for each reason
PATH_CHARACTERS: Final = 100
VERDICTS: Final[dict[str, Colour]] = {"CLEAN": "green", "SUSPICIOUS": "yellow", "DISCARD": "red"}
_ARCHIVED: Final = {
    "archived": "is archived",
    "brought_back": "is back in lists and searches",
    "unchanged": "was so already",
}
_RECEIVED: Final = {
    "saved": "It is saved",
    "duplicate_skip": "It was saved already",
    "held": "It waits for a second message, and is saved with it",
    "turned_away": "It is rejected, and not saved",
}


class _Skips(Protocol):
    @property
    def skipped(self) -> tuple[Skipped, ...]: ...
    @property
    def reasons(self) -> dict[str, int]: ...


def ingested(p: TextPage, answer: IngestResult) -> None:
    skipped = sum(answer.reasons.values())
    beside = [f"{answer.unchanged:,} unchanged", f"{skipped:,} skipped"]
    beside += [f"{answer.ignored:,} ignored"] if answer.ignored else []
    if answer.nothing_read:
        p.say(f"Nothing was read: {', '.join(beside[1:])}.")
    else:
        p.say(f"Read {_amount(answer)}; {', '.join(beside)}.")
    if answer.revived:
        p.say(f"{answer.revived:,} of them had been deleted and {'is' if answer.revived == 1 else 'are'} back.")
    if answer.ended:
        whose = "whose file is gone was ended; its" if answer.ended == 1 else "whose files are gone were ended; their"
        p.say(f"{answer.ended:,} {whose} history stays.")
    p.block(*map(p.dim, skipped_reasons(p, answer)))


def _amount(answer: IngestResult) -> str:
    records = f"{counted(answer.records, 'record')} ({counted(answer.messages, 'turn')} of conversations)"
    if answer.records and not answer.documents and not answer.files:
        return records
    read = f"{counted(answer.documents, 'document')} in {counted(answer.sections, 'section')}"
    if answer.chunks:
        read += f" and {counted(answer.chunks, 'chunk')}"
    if answer.files:
        read += f", {counted(answer.files, 'source file')} with {counted(answer.symbols, 'symbol')}"
    return f"{read}, {records}" if answer.records else read


def skipped_reasons(p: TextPage, answer: _Skips) -> list[str]:
    """A line for each reason, with the first files that were skipped for it; a lone file comes first in its own."""
    lines = []
    for reason, files in answer.reasons.items():
        told = [each for each in answer.skipped if each.sort == reason]
        names = [p.words(short_path(each.path)) for each in told[:NAMED]]
        if files == 1 and told:
            lines.append(f"skipped {names[0]}: {one_line(told[0].reason, REASON_CHARACTERS)}")
            continue
        more = files - len(names)
        listed = ", ".join(names) + (f" and {more:,} more" if names and more else "")
        lines.append(f"skipped {files:,} {one_line(reason)}{f': {listed}' if names else ''}")
    return lines


def skipped_lines(p: TextPage, skipped: Iterable[Skipped]) -> list[str]:
    return [f"{p.words(short_path(each.path))}: {one_line(each.reason, REASON_CHARACTERS)}" for each in skipped]


def short_path(path: str) -> str:
    return path if len(path) <= PATH_CHARACTERS else f"…{path[1 - PATH_CHARACTERS :]}"


def transcripts(p: TextPage, answer: TranscriptsIngested) -> None:
    turns = answer.read if answer.dry_run else answer.written + answer.unchanged + answer.skipped
    found = f"{counted(answer.conversations, 'conversation')}, {counted(turns, 'turn')}"
    kept = f"{answer.written:,} written, {answer.unchanged:,} already known, {answer.skipped:,} skipped"
    p.say(f"{found} in {counted(answer.files, 'file')}: {'nothing was written' if answer.dry_run else kept}.")
    if answer.bad:
        p.say(p.paint(f"{counted(answer.bad, 'place')} could not be read.", "yellow"))
    p.block(*(f"project {p.name(project)}: {counted(turns, 'turn')}" for project, turns in answer.projects.items()))
    p.lines(
        *(p.dim(f"omitted {count:,}: {p.words(why, REASON_CHARACTERS)}") for why, count in answer.reasons.items()),
        *(p.dim(f"omitted: {p.words(each, REASON_CHARACTERS)}") for each in answer.left_out),
    )


def extracted(p: TextPage, answer: ExtractedMemories) -> None:
    found = f"{counted(answer.things, 'thing')} and {counted(answer.relations, 'relation')}"
    p.say(f"{counted(answer.texts, 'text')} read: {found}; {answer.read_before:,} read before.")


def turns(p: TextPage, answer: TurnsRecorded) -> None:
    if answer.status == "held":
        p.say(f"The first message of {p.name(answer.session)} waits for a second.")
        return
    what = "were there already" if answer.status == "duplicate_skip" else "recorded"
    p.say(f"{counted(len(answer.turns), 'turn')} {what} in {p.name(answer.session)}.")
    p.block(*(f"{turn.seq:>3}  {p.dim(flat(turn.citation))}" for turn in answer.turns))


# ---- conversations


def conversations(p: TextPage, answer: ConversationsShown) -> None:
    if not answer.conversations:
        p.empty("conversations")
        return
    of = f" of {answer.total:,}" if answer.total > len(answer.conversations) else ""
    p.say(f"{counted(len(answer.conversations), 'conversation')}{of}, the latest first.")
    rows = [
        (
            minute(each.last_at),
            minute(each.first_at),
            f"{each.turns:,}",
            p.name(each.name),
            " ".join(filter(None, (p.words(each.title) if each.title else "", "(archived)" if each.archived else ""))),
        )
        for each in answer.conversations
    ]
    p.table(("last", "first", "turns", "conversation", "title"), rows, right=("turns",))


def archived(p: TextPage, answer: SessionArchived) -> None:
    title = f" ({p.words(answer.title)})" if answer.title else ""
    cited = f", as {flat(answer.citation)}" if answer.citation else ""
    p.say(f"{p.name(answer.session)}{title} {_ARCHIVED[answer.status]}{cited}.")


def screened(p: TextPage, answer: Screened) -> None:
    p.say(f"{p.paint(answer.verdict, VERDICTS[answer.verdict])} on channel {answer.channel}.")
    p.say("It looks like a prompt injection." if answer.injection else "")
    p.say("This is advice: the message is neither blocked nor changed." if answer.advisory else "")
    p.block(facts(answer.intent, f"language {answer.language}", answer.complexity, f"read by {answer.source}"))
    for each in answer.reasons:
        p.lines(f"{p.paint('!', 'yellow')} {each.category}: {flat(each.reason)}: {p.words(each.words)}")
    if answer.query:
        p.lines("query:")
        p.quote(answer.query, short=True)


def received(p: TextPage, answer: ReceiveResult) -> None:
    screened(p, answer.screened)
    cited = f" as {flat(answer.turn.citation)}" if answer.turn is not None else ""
    p.say(f"{_RECEIVED[answer.status]} in {p.name(answer.session)}{cited}.")
