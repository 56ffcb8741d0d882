"""Language of a message: by its script, and among languages of one script by their function words.

No library: the light ones (some hundred kilobytes) guess on short messages with full confidence, the reliable ones need
a hundred megabytes. For many short messages the right answer is `und`.
"""

from __future__ import annotations

import re
from typing import Final

UNKNOWN: Final = "und"
MAX_READ_CHARACTERS: Final = 4_000
LEAST_LETTERS: Final = 2  # of a script used by one language
LEAST_MARGIN: Final = 1  # function words more than the next language has
_WORD: Final = re.compile(r"[^\W\d_]+")
# Scripts used by one of these languages: its code and its letters. The first match counts.
_SCRIPTS: Final = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
)
_CYRILLIC: Final = re.compile("[\u0400-\u04ff]")
_ARABIC: Final = re.compile("[\u0600-\u06ff]")
_SMALL_WORDS: Final = {
    "en": "the and is are was you your of to in it that this for with what how do does can have has my me not on i we"
    " when where why who will would please there be at from all about a an two one or if so as by our us am",
    "de": "der die das und ist sind nicht ich du sie wir ihr ein eine einen zu den dem mit auf für von wie was wann wo"
    " warum wer bitte mir mich kann können haben hat auch alle noch",
    "fr": "le la les et est sont pas je tu vous nous il elle un une des du de à pour avec que qui quoi quand où comment"
    " pourquoi dans sur mon ma mes ce cette ne toutes",
    "es": "el la los las y es son no yo tú usted un una unos de del en para con que qué quién cuándo dónde cómo por mi"
    " mis está este esta se lo al todas",
    "pt": "o a os as e é são não eu você um uma uns de do da em para com que quem quando onde como por meu minha está"
    " este esta se no na todas",
    "it": "il lo la i gli le e è sono non io tu lei un una di del della in per con che chi quando dove come perché mio"
    " mia questo questa si al tutte",
    "nl": "de het een en is zijn niet ik je jij u wij van in op voor met wat wie wanneer waar hoe waarom mijn deze dit"
    " kan heeft hebben alle",
    "sv": "och är inte jag du vi ni en ett på för med att det den som vad när var hur varför min mitt har kan alla",
    "da": "og er ikke jeg du vi en et på for med at det den som hvad hvornår hvor hvordan hvorfor min har kan alle",
    "no": "og er ikke jeg du vi en et på for med å det den som hva når hvor hvordan hvorfor min har kan alle",
    "fi": "ja on ei minä sinä me te se että mitä missä milloin miten miksi kuka minun ovat olen voi kaikki",
    "pl": "i jest są nie ja ty my w na do z że co kiedy gdzie jak dlaczego kto mój moja to się czy wszystkie",
    "cs": "a je jsou ne já ty my v na do z že co kdy kde jak proč kdo můj moje to se si všechny",
    "hu": "a az és van nem én te mi egy hogy mit mikor hol hogyan miért ki ez azt minden",
    "ro": "și este sunt nu eu tu noi un o de la în pentru cu că ce când unde cum cine meu mea toate",
    "tr": "ve bir bu ne nasıl neden nerede zaman kim için ile değil mi mı var ben sen biz tüm",
    "id": "dan yang di ke dari ini itu tidak saya anda kami apa kapan dimana bagaimana mengapa siapa untuk dengan",
    "vi": "và là của không tôi bạn có cho với gì khi nào đâu tại sao ai này tất cả",
    "ru": "и в не на я ты вы мы что как где когда почему кто это мой моя с по для все",
    "uk": "і в не на я ти ви ми що як де коли чому хто це мій моя з по для всі є",
    "ar": "في من على إلى هل ما متى أين كيف لماذا هذا هذه أنا جميع",
    "fa": "در از به که این آن است را چه کی کجا چرا چگونه همه",
}
_SMALL: Final = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
_ONLY: Final = {"uk": "іїєґ", "fa": "پچژگ"}  # letters that distinguish a language from another of the same script


def language_of(text: str) -> str:
    """Its ISO 639-1 code, one of about thirty; `und` if its words do not decide, as for a name or a single word."""
    text = text[:MAX_READ_CHARACTERS]
    letters = sum(c.isalpha() for c in text)
    if letters < LEAST_LETTERS:
        return UNKNOWN
    for language, script in _SCRIPTS:
        # Japanese writes few of its own letters among Chinese ones; others are most of a text in their language.
        least = max(LEAST_LETTERS, letters // (10 if language == "ja" else 3))
        if len(script.findall(text)) >= least:
            return language
    words = [word.lower() for word in _WORD.findall(text)]
    if len(_CYRILLIC.findall(text)) > letters // 2:
        return _of_two(text, words, "ru", "uk")
    if len(_ARABIC.findall(text)) > letters // 2:
        return _of_two(text, words, "ar", "fa")
    return _by_small_words(words)


def _of_two(text: str, words: list[str], usual: str, other: str) -> str:
    if any(letter in _ONLY[other] for letter in text.lower()):
        return other
    usual_count, other_count = (sum(word in _SMALL[each] for word in words) for each in (usual, other))
    return other if other_count > usual_count + LEAST_MARGIN else usual


def _by_small_words(words: list[str]) -> str:
    counts = {language: sum(word in small for word in words) for language, small in _SMALL.items()}
    ranked = sorted(counts, key=lambda language: -counts[language])
    best, next_best = ranked[0], ranked[1]
    return best if counts[best] >= counts[next_best] + LEAST_MARGIN else UNKNOWN
