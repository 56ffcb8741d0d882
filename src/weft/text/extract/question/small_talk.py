"""Detection of small talk, which needs no memory: greetings, thanks, acknowledgements.

Only whole messages made of the phrases listed here: anything else may have a topic and is looked up.
"""

from __future__ import annotations

import re
from typing import Final

from weft.text.lexical import STOP_WORDS, fold_case

MAX_WORDS: Final = 12
MAX_CHARACTERS: Final = 160
MAX_STRANGE: Final = 2  # words outside the list, in a message that a model may skip

# Phrases without a topic. The longest match wins, so "ok" and "ok thanks" both work.
_PHRASES: Final = """
hi|hello|hey|hiya|howdy|yo|hi there|hello there|hey there|greetings|good morning|good afternoon|good evening|good day
good night|morning|evening|welcome|welcome back|nice to meet you|how are you|how are you doing|how are you today
how do you do|how is it going|hows it going|whats up|sup|long time no see|bye|goodbye|bye bye|see you|see ya
see you later|see you soon|see you tomorrow|talk to you later|talk later|ttyl|take care|have a nice day|cya|later
have a good one|have a great day|have a good day|have a nice weekend|have a good weekend|cheers
thanks|thank you|thanks a lot|thanks so much|thanks again|thanks a bunch|thank you so much|thank you very much
many thanks|much appreciated|appreciate it|i appreciate it|appreciated|thx|ty|tysm|thanx|tnx|kthx|thanks for that
thanks for your help|thank you for your help|thanks for the help|thank you for the help|youre welcome|you are welcome
no problem|no worries|np|my pleasure|dont mention it|sorry|my bad|oops|whoops|apologies|sorry about that|excuse me
ok|okay|okey|k|kk|okie|okey dokey|alright|all right|right|fine|sure|sure thing|yes|yeah|yep|yup|ya|aye|y|no|nope|nah|n
yes please|no thanks|no thank you|not now|maybe|maybe later|perhaps|of course|absolutely|definitely|certainly|indeed
exactly|correct|thats right|thats correct|that is right|that is correct|true|agreed|i agree|deal|done|got it|i got it
gotcha|understood|i understand|i see|makes sense|that makes sense|fair|fair enough|noted|roger|roger that|copy|copy that
ack|acknowledged|will do|on it|good|great|nice|cool|awesome|perfect|excellent|wonderful|amazing|fantastic|brilliant
lovely|super|sweet|neat|wow|very good|very nice|well done|good job|great job|nice work|great work|good work|nice one
sounds good|sounds great|looks good|looks great|lgtm|love it|i like it|i love it|that works|works for me|thats great
thats good|thats fine|thats perfect|thats nice|thats cool|thats awesome|that is great|that is good|that is fine
that helps|that helped|very helpful|that was helpful|that was very helpful|so helpful|all good|im good|its fine|its ok
its okay|good to know|good point|good idea|interesting|haha|hahaha|ha|hehe|lol|lmao|rofl|hmm|hm|mhm|mm|uh|um|er|ah|oh
oh ok|oh okay|oh no|oh yes|oh nice|oh well|well|huh|hooray|yay|congrats|congratulations|bravo|please|pls|plz
continue|please continue|go on|please go on|carry on|keep going|go ahead|please go ahead|proceed|please proceed|next
next please|go for it|do it|just do it|please do|lets go|lets do it|lets do that|lets start
do that|start|begin|stop|pause|wait|wait a moment|one moment|one second|just a moment|hold on|hang on|never mind
nevermind|nvm|forget it|skip|retry|try again|again|once more|repeat|repeat that|say that again|undo|back|ready|im ready
i am ready|im done|i am done|thats all|that is all|that will be all|nothing else|all done|are you there
you there|anyone there|you too|same to you
hallo|guten tag|guten morgen|guten abend|gute nacht|servus|moin|gruss gott|danke|danke schon|danke sehr|vielen dank
besten dank|bitte|bitte schon|gern|gerne|ja|ja bitte|nein|nein danke|genau|alles klar|verstanden|klar|weiter
mach weiter|bitte weiter|tschuss|bis bald|bis spater|auf wiedersehen|gut|sehr gut|super danke|toll|prima|passt
bonjour|bonsoir|salut|coucou|bonne nuit|bonne journee|merci|merci beaucoup|de rien|oui|oui merci|non|non merci|daccord
d accord|au revoir|a bientot|parfait|tres bien|bien|continuez|continue stp|stp|svp|sil vous plait|sil te plait|vas y
hola|buenos dias|buenas tardes|buenas noches|buenas|gracias|muchas gracias|de nada|por favor|si|si por favor|no gracias
vale|claro|perfecto|muy bien|adios|hasta luego|hasta pronto|hasta manana|continua|sigue|adelante
ciao|buongiorno|buonasera|buonanotte|salve|grazie|grazie mille|prego|per favore|va bene|certo|perfetto|arrivederci
a presto|continua pure|avanti
ola|bom dia|boa tarde|boa noite|obrigado|obrigada|muito obrigado|muito obrigada|sim|sim por favor|nao|nao obrigado
tudo bem|tchau|ate logo|continue por favor
hoi|goedemorgen|goedemiddag|goedenavond|dank je|dank u|dankjewel|bedankt|graag gedaan|ja graag|nee|nee bedankt|prima zo
ga door|tot ziens|doei
hej|hejsan|god morgon|tack|tack sa mycket|tack sa hemskt mycket|nej|nej tack|ja tack|bra|hej da|takk|tusen takk|tak
mange tak|kiitos|moi|terve|kylla|ei|hyva
czesc|dzien dobry|dobry wieczor|dziekuje|dzieki|tak prosze|prosze|nie dziekuje|do widzenia|dobrze
ahoj|dobry den|dekuji|diky|prosim|ano|ne|dobre|nashledanou
merhaba|selam|gunaydin|iyi geceler|tesekkurler|tesekkur ederim|evet|hayir|tamam|devam|devam et
привет|здравствуйте|доброе утро|добрыи день|добрыи вечер|спасибо|большое спасибо|спасибо большое|пожалуиста|да|нет
хорошо|понятно|ладно|продолжаи|дальше|пока|до свидания|ок
こんにちは|こんばんは|おはよう|おはようございます|ありがとう|ありがとうございます|はい|いいえ|了解|続けて|続けてください|さようなら
你好|您好|早上好|晚上好|谢谢|谢谢你|非常感谢|好|好的|是|是的|不|不是|对|继续|请继续|再见|明白|明白了
안녕|안녕하세요|감사합니다|고마워|고맙습니다|네|예|아니요|좋아요|계속|계속해
नमस्ते|धन्यवाद|शुक्रिया|हाँ|हां|नहीं|ठीक है
مرحبا|السلام عليكم|شكرا|شكرا جزيلا|نعم|لا|حسنا|تابع
"""
# Words allowed beside a phrase that do not count alone: "hello team" is a greeting, "team" or "retry" is looked up.
_BESIDE_TEXT: Final = """
for now|so much|very much|my friend|buddy|mate|everyone|everybody|all|team|folks|guys|there|again|and|so|then|you|a lot
today|too|now|later|well|more|back|start|stop|pause|next|begin|repeat|retry|skip|undo|right|done|true|correct|deal|copy
fair|ready|morning|evening|welcome|good|fine|sweet|super|please|of course
"""
_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"['’]")
_STRONG = re.compile(r"[\d`\"“”«»<>{}\[\]()/\\=@#$%^*+|~]|\w_\w|\w\.\w")  # numbers, quotes, code, paths, addresses
_SMILE = re.compile(r"(?<!\w)[:;=8xX][-']?[()DPpOo3/|*]+(?!\w)|<3|\^_?\^|\(:|\+1")
_QUESTION_TEXT = """
who whom whose what whats which when where why how is are was were do does did can could will would should has have had
am may might shall
"""
_QUESTION_WORDS: Final = frozenset(_QUESTION_TEXT.split())


def _folded(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(_APOSTROPHE.sub("", fold_case(text))))


def _keys(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_folded(phrase) for line in text.split("\n") for phrase in line.split("|") if phrase.strip())


_BESIDE: Final = _keys(_BESIDE_TEXT)
_KNOWN: Final = _keys(_PHRASES) | _BESIDE
_LONGEST: Final = max(map(len, _KNOWN))
_VOCABULARY: Final = frozenset(word for phrase in _KNOWN for word in phrase) - STOP_WORDS


def needs_memory(message: str) -> bool:
    """False only for a message of nothing but greetings, thanks, acknowledgements and "go on", or without any word.

    A number, a name, code, a quotation or any word not listed here gives True.
    """
    if len(message) > MAX_CHARACTERS:
        return _WORD.search(message) is not None
    text = _SMILE.sub(" ", message)
    words = _folded(text)
    if not words:
        return False
    if len(words) > MAX_WORDS or _STRONG.search(text):
        return True
    return not _is_small_talk(words)


def may_be_passed_over(message: str) -> bool:
    """Whether a language model may decide that a message needs no memory: it is short, asks nothing, names nothing and
    is at least partly small talk. So a model's mistake cannot silence a question.
    """
    text = _SMILE.sub(" ", message[: MAX_CHARACTERS + 1])
    if len(message) > MAX_CHARACTERS or "?" in text or "？" in text or _STRONG.search(text):
        return False
    written = _WORD.findall(text)
    words = [fold_case(word) for word in written]
    if not words or len(words) > MAX_WORDS or words[0] in _QUESTION_WORDS:
        return not words
    if any(word[0].isupper() and word != "I" for word in written[1:]):
        return False
    strange = [word for word in words if word not in _VOCABULARY and word not in STOP_WORDS]
    return len(strange) <= MAX_STRANGE and any(word in _VOCABULARY for word in words)


def _is_small_talk(words: tuple[str, ...]) -> bool:
    """Whether the words are a sequence of phrases, at least one of which counts alone."""
    at, says_something = 0, False
    while at < len(words):
        size = next((n for n in range(min(_LONGEST, len(words) - at), 0, -1) if words[at : at + n] in _KNOWN), 0)
        if not size:
            return False
        says_something = says_something or words[at : at + size] not in _BESIDE
        at += size
    return says_something
