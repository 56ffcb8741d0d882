"""The core vocabulary in other languages, in the format of `phrases`. Words are normalised: no accents, `й` as `и`.

Scripts without spaces between words are in `markup`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.text.injection.categories import Category

LISTS: Final[Mapping[str, str]] = {
    "DE_IGNORE": "ignoriere ignorier ignorieren ignoriert vergiss vergessen vergesse vergesst missachte missachten"
    " verwirf verwerfen ubergehe ubergehen umgehe umgehen uberspringe",
    "DE_BEFORE": "vorherigen vorherige bisherigen bisherige vorigen vorige obigen obige fruheren fruhere"
    " vorangegangenen vorangehenden ursprunglichen vorhergehenden",
    "DE_RULES": "anweisungen anweisung instruktionen instruktion regeln vorgaben richtlinien befehle anordnungen"
    " vorschriften systemanweisungen prompt prompts",
    "DE_TELL": "zeig zeige zeigen verrate verraten nenne nennen gib drucke wiederhole sag sage offenbare",
    "FR_IGNORE": "ignore ignorez ignorer oublie oubliez oublier neglige negligez",
    "FR_BEFORE": "precedentes precedente precedents anterieures anterieurs initiales dessus",
    "FR_RULES": "instructions instruction consignes regles directives ordres",
    "FR_TELL": "affiche affichez montre montrez revele revelez donne donnez repete repetez dis",
    "ES_IGNORE": "ignora ignore ignorad ignorar ignoren olvida olvide olvidad olvidar descarta descarte desestima"
    " omite",
    "ES_BEFORE": "anteriores previas previos precedentes arriba originales",
    "ES_RULES": "instrucciones reglas indicaciones directrices ordenes normas directivas",
    "ES_TELL": "muestra muestrame muestre revela revelame revele dime ensename imprime repite",
    "PT_IGNORE": "ignore ignora ignorar esqueca esquece esquecer desconsidere desconsidera desconsiderar",
    "PT_BEFORE": "anteriores acima previas precedentes originais",
    "PT_RULES": "instrucoes regras diretrizes ordens comandos orientacoes",
    "PT_TELL": "mostre mostra revele revela diga exiba imprima repita",
    "IT_IGNORE": "ignora ignorate ignorare dimentica dimenticate dimenticare trascura trascurate",
    "IT_BEFORE": "precedenti anteriori sopra originali iniziali",
    "IT_RULES": "istruzioni regole direttive indicazioni ordini",
    "IT_TELL": "mostrami mostra mostrate rivela rivelami dimmi stampa ripeti",
    "NL_IGNORE": "negeer negeert negeren vergeet vergeten",
    "NL_BEFORE": "vorige eerdere voorgaande bovenstaande voorafgaande",
    "NL_RULES": "instructies regels opdrachten richtlijnen aanwijzingen",
    "NL_TELL": "toon laat geef onthul herhaal",
    "PL_IGNORE": "zignoruj ignoruj zapomnij pomin",
    "PL_BEFORE": "poprzednie wczesniejsze powyzsze",
    "TR_RULES": "talimatlari kurallari komutlari",
    "RU_IGNORE": "игнорируи игнорируите проигнорируи проигнорируите игнорировать забудь забудьте отмени отмените",
    "RU_BEFORE": "предыдущие предыдущих прежние вышеуказанные прошлые предшествующие свои твои ваши все",
    "RU_RULES": "инструкции инструкциям указания правила команды директивы",
    "RU_TELL": "покажи покажите раскрои раскроите выведи выведите расскажи напиши повтори",
}

PHRASES: Final[Mapping[Category, str]] = {
    "override": """
DE_IGNORE ~3 DE_BEFORE ~2 DE_RULES = asks to ignore earlier instructions (German)
DE_IGNORE ~1 deine|deiner|alle|samtliche ~1 DE_RULES = asks to ignore instructions (German)
alle|deine DE_BEFORE ~1 DE_RULES ~2 DE_IGNORE = asks to ignore earlier instructions (German)
halte|halt dich nicht ~3 deine|DE_BEFORE ~1 DE_RULES = asks not to follow rules (German)
befolge|folge|beachte ~2 deine|deinen|DE_BEFORE ~2 DE_RULES nicht = asks not to follow rules (German)
nicht mehr ~1 an deine|DE_BEFORE ~1 DE_RULES = asks not to follow rules (German)
FR_IGNORE ~3 FR_RULES ~2 FR_BEFORE = asks to ignore earlier instructions (French)
FR_IGNORE ~1 tes|vos|toutes ~1 FR_RULES = asks to ignore instructions (French)
ne tiens|tenez pas|plus compte ~2 FR_RULES = asks to ignore instructions (French)
ES_IGNORE ~3 ES_RULES ~2 ES_BEFORE = asks to ignore earlier instructions (Spanish)
ES_IGNORE|olvidate ~2 tus|todas ~1 ES_RULES = asks to ignore instructions (Spanish)
haz|haga|hagan caso omiso ~2 ES_RULES = asks to ignore instructions (Spanish)
no hagas|haga|hagan caso ~2 ES_RULES = asks to ignore instructions (Spanish)
PT_IGNORE ~3 PT_RULES ~2 PT_BEFORE = asks to ignore earlier instructions (Portuguese)
PT_IGNORE ~1 suas|tuas|todas ~1 PT_RULES = asks to ignore instructions (Portuguese)
nao siga|sigas ~1 suas|PT_BEFORE ~1 PT_RULES = asks to ignore instructions (Portuguese)
IT_IGNORE ~3 IT_RULES ~2 IT_BEFORE = asks to ignore earlier instructions (Italian)
IT_IGNORE ~1 le? tue|tutte ~1 IT_RULES = asks to ignore instructions (Italian)
NL_IGNORE ~3 NL_BEFORE ~2 NL_RULES = asks to ignore earlier instructions (Dutch)
NL_IGNORE ~1 je|jouw|al|alle ~1 NL_RULES = asks to ignore instructions (Dutch)
RU_IGNORE ~2 RU_BEFORE ~2 RU_RULES = asks to ignore earlier instructions (Russian)
не обращаи|обращаите|следуи|следуите ~2 RU_BEFORE ~1 RU_RULES = asks to ignore instructions (Russian)
не обращаи|обращаите внимания на ~1 RU_RULES = asks to ignore instructions (Russian)
vergiss|missachte|ignoriere ~2 DE_RULES ~1 die du = asks to ignore instructions (German)
PL_IGNORE ~2 PL_BEFORE ~1 instrukcje|zasady|polecenia = asks to ignore instructions (Polish)
onceki|yukaridaki ~2 TR_RULES ~2 yok|unut|gormezden|dikkate = asks to ignore instructions (Turkish)
ignorera|glom ~2 tidigare|foregaende ~1 instruktioner|regler = asks to ignore instructions (Swedish)
تجاهل|انس|تجاهلي ~2 التعليمات|الاوامر|القواعد ~1 السابقة|اعلاه = asks to ignore instructions (Arabic)
""",
    "role_play": """
du bist jetzt|nun ~2 dan|uneingeschrankt|unzensiert = assigns an assistant without rules (German)
du hast|bist ~2 keine|ohne einschrankungen|beschrankungen|filter = declares rules void (German)
tu es|vous etes maintenant ~2 dan|libre ~2 restrictions? = assigns an assistant without rules (French)
ahora eres ~2 dan|libre|ia sin? restricciones? = assigns an assistant without rules (Spanish)
""",
    "prompt_extraction": """
* dein|deinen|deinem|euer systemprompt|prompt = mentions the prompt (German)
* tes|ton|vos|votre instructions|prompt systeme = mentions the prompt (French)
* tu|tus|su prompt|instrucciones del|de sistema = mentions the prompt (Spanish)
* seu|teu|suas prompt|instrucoes do|de sistema = mentions the prompt (Portuguese)
* tuo|tue prompt|istruzioni di sistema = mentions the prompt (Italian)
* системныи|системного|системныи промпт|промпта = mentions the prompt (Russian)
DE_TELL ~3 systemprompt|systemprompts|systemanweisungen = asks for the prompt (German)
DE_TELL ~2 deinen|deine|den system|versteckten|geheimen|ursprunglichen DE_RULES = asks for the prompt (German)
FR_TELL ~3 prompt|instructions ~1 systeme|initiales|cachees|secretes = asks for the prompt (French)
ES_TELL ~3 prompt|mensaje|instrucciones del|de ~1 sistema = asks for the prompt (Spanish)
PT_TELL ~3 prompt|mensagem|instrucoes do|de ~1 sistema = asks for the prompt (Portuguese)
IT_TELL ~3 prompt|messaggio|istruzioni di|del ~1 sistema = asks for the prompt (Italian)
NL_TELL ~4 systeemprompt|systeeminstructies = asks for the prompt (Dutch)
RU_TELL ~3 системныи|системные промпт|запрос|инструкции = asks for the prompt (Russian)
""",
    "credentials": """
DE_TELL ~2 das|dein|admin ~1 adminpasswort|administratorpasswort|masterpasswort = asks for a password (German)
""",
}
