"""What stands of a conversation that a transcript adds to: turns of its program by their ids, and others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weft.extract.records import Record
from weft.loom import Loom
from weft.operations.conversations import LATEST, message_id
from weft.operations.turn_records import KnownTurns
from weft.types import MAX_IDS_PER_READ, Guard


class Conversation:
    """A conversation that is added to: what is known of it, and turns in it that have no id of this source."""

    def __init__(
        self, name: str, guard: Guard, known: KnownAfter, others: Counter[tuple[str, str]], turns: int
    ) -> None:
        self.id, self.guard, self.known, self.turns = name, guard, known, turns
        self._others = others

    def last_of(self, records: Sequence[Record]) -> int:
        """The highest number that one of these has; 0 if none is found.

        Not the last of all: another process may have read on in the same file, and what it wrote is still to be met.
        """
        known = self.known.of(self.id, self.turns)
        return max((turn.seq for record in records for turn in known.get(record.id, ())), default=0)

    def says(self, record: Record) -> bool:
        """Whether a turn without this id says just that; each stands for one only."""
        said = (record.speaker or record.role, record.text.strip())
        if self._others[said] <= 0:
            return False
        self._others[said] -= 1
        return True


class KnownAfter(KnownTurns):
    """Turns by their ids; of one conversation only those after a number, as lines before it are not read again."""

    def __init__(self, loom: Loom, conversation: str = "", turns: int = 0) -> None:
        super().__init__(loom)
        if turns:
            self._kept[conversation] = (turns, {})


def others_in(loom: Loom, conversation: str, before: int, turns: int, prefix: str) -> Counter[tuple[str, str]]:
    """What turns after the first `before` say that came from elsewhere: told by a hook, or in another file."""
    found: Counter[tuple[str, str]] = Counter()
    for start in range(before + 1, turns + 1, MAX_IDS_PER_READ):
        ids = [message_id(conversation, seq) for seq in range(start, min(start + MAX_IDS_PER_READ, turns + 1))]
        for node in loom.store.nodes(loom.viewer, LATEST, ids):
            record = node.props.get("record")
            if not (isinstance(record, str) and record.startswith(prefix)):
                who = node.props.get("speaker") or node.props.get("role") or ""
                found[str(who), node.text.strip()] += 1
    return found
