"""Finds nodes that the question names: by id, or by a name that stands in it, written right or nearly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.kinds import VIEWS
from weft.lexical import stems
from weft.loom import Loom
from weft.names import UNIQUE_ONLY, Word, longest, name_words, runs
from weft.queries import Named
from weft.retrieval.pipeline import Answer, Mention

MAX_QUERY_WORDS = 64  # of a question: names in a longer one are looked for at its beginning
MIN_MISSPELT = 4  # letters
MAX_MISSPELT = 6  # words of a question that are looked up as misspelt
MAX_SPELLINGS = 12  # of one word that are tried


class Names(Struct, frozen=True):
    """Names in the question, longest first. Words that belong to none are tried as misspelt ones."""

    name: str = "names"
    fuzzy: bool = True

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        words = name_words(answer.query)[:MAX_QUERY_WORDS]
        mentions = find_mentions(loom, answer, words)
        if self.fuzzy:
            mentions += self._misspelt(loom, answer, words, mentions)
        return replace(answer, mentions=tuple(mentions))

    def _misspelt(
        self, loom: Loom, answer: Answer, words: Sequence[Word], mentions: Iterable[Mention]
    ) -> list[Mention]:
        """Names that appear once one word of the question is written as in some name."""
        covered = {at for mention in mentions for at in range(mention.start, mention.end)}
        # Words that are written here are no slips: those looked up, and those too common to be.
        known = {stat.term for stat in answer.text.used if stat.document_frequency} if answer.text else set()
        known.update(answer.text.dropped if answer.text else ())
        doubtful = [
            at
            for at, word in enumerate(words)
            if at not in covered and len(word.key) >= MIN_MISSPELT and word.key.isalpha()
            if (found_stems := stems(word.key)) and known.isdisjoint(found_stems)
        ]
        doubtful.sort(key=lambda at: (not words[at].capital, -len(words[at].key)))
        found: list[Mention] = []
        for at in sorted(doubtful[:MAX_MISSPELT]):
            if at in covered:
                continue
            near = loom.store.spellings(loom.viewer, answer.ask.when, words[at].key, projects=answer.ask.projects)
            best: Mention | None = None
            for meant in near[:MAX_SPELLINGS]:
                corrected = [*words]
                corrected[at] = Word(meant, words[at].capital)
                begin, end = max(0, at - 7), min(len(words), at + 8)
                for mention in find_mentions(loom, answer, corrected[begin:end]):
                    start, stop = mention.start + begin, mention.end + begin
                    if not start <= at < stop or (stop - start == 1 and len(near) > 1):
                        continue  # another name, or one word that may mean several things
                    if best is None or stop - start > best.end - best.start:
                        best = replace(mention, start=start, end=stop, written=words[at].key, slip=at - start)
            if best is not None:
                found.append(best)
                covered.update(range(best.start, best.end))
        return found


def find_mentions(loom: Loom, answer: Answer, words: Sequence[Word]) -> list[Mention]:
    """The names in these words that visible nodes go by, longest first from the left."""
    places: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for run in runs(words, need_capital=False):
        places[run[2]].append(run)
    known = meanings(loom.store.named(loom.viewer, answer.ask.when, tuple(places), projects=answer.ask.projects))
    chosen = longest([run for key in known for run in places[key]])
    return [Mention(start=start, end=end, key=key, nodes=known[key]) for start, end, key in chosen]


def meanings(found: Iterable[Named]) -> dict[str, tuple[Named, ...]]:
    """What each name means: texts before things, which have little to say themselves.

    A name made of first and last word counts only where it means one.
    """
    by_key: dict[str, list[Named]] = defaultdict(list)
    for each in found:
        by_key[each.key].append(each)
    meant = {}
    for key, called in by_key.items():
        nodes = [each for each in called if each.node.kind not in VIEWS["entity"]] or called
        sure = [each for each in nodes if each.weight > UNIQUE_ONLY]
        if sure or len(nodes) == 1:
            meant[key] = tuple(sure or nodes)
    return meant
