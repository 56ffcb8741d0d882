"""Search for nodes that the question names: by id, or by a name in it, spelt right or nearly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import VIEWS
from weft.core.queries import NameMatch
from weft.retrieval.pipeline import Answer, NameMention
from weft.runtime.call_context import CallContext
from weft.text.lexical import stems
from weft.text.names import UNIQUE_ONLY, NameWord, longest, name_words, runs

MAX_QUERY_WORDS = 64  # of a question: names in a longer one are looked for at its beginning
MIN_MISSPELT = 4  # letters
MAX_MISSPELT = 6  # words of a question that are looked up as misspelt
MAX_SPELLINGS = 12  # of one word that are tried


class SearchNames(Struct, frozen=True):
    """Names in the question, longest first. Words that belong to none are tried as misspelt ones."""

    name: str = "names"
    fuzzy: bool = True

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        words = name_words(answer.query)[:MAX_QUERY_WORDS]
        mentions = find_mentions(ctx, answer, words)
        if self.fuzzy:
            mentions += self._misspelt(ctx, answer, words, mentions)
        return replace(answer, mentions=tuple(mentions))

    def _misspelt(
        self, ctx: CallContext, answer: Answer, words: Sequence[NameWord], mentions: Iterable[NameMention]
    ) -> list[NameMention]:
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
        found: list[NameMention] = []
        for at in sorted(doubtful[:MAX_MISSPELT]):
            if at in covered:
                continue
            near = ctx.store.spellings(ctx.viewer, answer.ask.when, words[at].key, projects=answer.ask.projects)
            best: NameMention | None = None
            for meant in near[:MAX_SPELLINGS]:
                corrected = [*words]
                corrected[at] = NameWord(meant, words[at].capital)
                begin, end = max(0, at - 7), min(len(words), at + 8)
                for mention in find_mentions(ctx, answer, corrected[begin:end]):
                    start, stop = mention.start + begin, mention.end + begin
                    if not start <= at < stop or (stop - start == 1 and len(near) > 1):
                        continue  # another name, or one word that may mean several things
                    if best is None or stop - start > best.end - best.start:
                        best = replace(mention, start=start, end=stop, written=words[at].key, slip=at - start)
            if best is not None:
                found.append(best)
                covered.update(range(best.start, best.end))
        return found


def find_mentions(ctx: CallContext, answer: Answer, words: Sequence[NameWord]) -> list[NameMention]:
    """The names in these words that visible nodes go by, longest first from the left."""
    places: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for run in runs(words, need_capital=False):
        places[run[2]].append(run)
    known = meanings(ctx.store.by_name(ctx.viewer, answer.ask.when, tuple(places), projects=answer.ask.projects))
    chosen = longest([run for key in known for run in places[key]])
    return [NameMention(start=start, end=end, key=key, nodes=known[key]) for start, end, key in chosen]


def meanings(found: Iterable[NameMatch]) -> dict[str, tuple[NameMatch, ...]]:
    """The meanings of each name: texts before entities, which have few words.

    A name made of first and last word counts only where it has one meaning.
    """
    by_key: dict[str, list[NameMatch]] = defaultdict(list)
    for each in found:
        by_key[each.key].append(each)
    meant = {}
    for key, called in by_key.items():
        nodes = [each for each in called if each.node.kind not in VIEWS["entity"]] or called
        sure = [each for each in nodes if each.weight > UNIQUE_ONLY]
        if sure or len(nodes) == 1:
            meant[key] = tuple(sure or nodes)
    return meant
