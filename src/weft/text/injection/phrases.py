"""English vocabulary of attempts to steer an assistant: word lists, and phrases with their reasons.

Data only, in the format of `categories.Phrase`. Words are normalised: lower case, no accents, no apostrophes (`don t`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.text.injection.categories import Category

LISTS: Final[Mapping[str, str]] = {
    "IGNORE": "ignore disregard forget override overrule bypass discard dismiss neglect skip cancel circumvent drop"
    " abandon",
    "DEFY": "break violate defy disobey suspend revoke breach contradict",
    "GONE": "revoked void cancelled canceled lifted suspended disabled irrelevant overridden gone removed deleted",
    "IGNORING": "ignoring disregarding bypassing ignores disregards bypasses overriding",
    "BEFORE": "previous prior above earlier preceding foregoing former past initial original",
    "RULES": "instructions instruction directives directive guidelines guideline rules prompts prompt commands"
    " programming constraints directions",
    "ORDERS": "instructions instruction directives directive guidelines guideline prompts prompt directions",
    "LIMITS": "restrictions restriction limitations limits rules filters filter censorship guidelines constraints"
    " safeguards guardrails ethics morals policy policies",
    "HARD": "restrictions limitations filters censorship guardrails ethics morals safeguards",
    "SAFETY": "safety content ethical moral moderation security",
    "POLICY": "policy policies guidelines filters filter rules protocols restrictions constraints measures guardrails",
    "UNBOUND": "unrestricted uncensored unfiltered jailbroken amoral unaligned",
    "AI": "ai assistant chatbot bot model llm gpt agent persona",
    "READERS": "assistant assistants agent agents model models",
    "READING": "reading processing summarizing summarising parsing evaluating",
    "PLAY": "act respond answer behave pretend roleplay reply",
    "BOT": "ai chatbot bot llm gpt persona",
    "AIS": "ai ais llm llms chatbot chatbots gpt",
    "TELL": "reveal show print output display repeat tell leak dump expose disclose share recite quote translate"
    " summarize summarise paraphrase list return state spell echo type give copy write paste provide",
    "ASK": "reveal show print tell give send share leak display provide disclose",
    "BETRAY": "reveal leak dump expose disclose recite divulge",
    "SECRET": "system hidden initial original secret confidential internal developer underlying pre full exact entire"
    " complete whole",
    "SAY": "say translate print respond reply output write answer tell do act",
    "SEND": "send forward email mail post upload export transmit leak exfiltrate submit deliver",
    "DATA": "conversation conversations history memories memory database records contacts passwords credentials"
    " secrets notes data transcript keys emails",
    "SERVER": "server endpoint webhook url address account inbox",
    "RUN": "call invoke run execute use trigger",
    "DO": "call invoke run execute send delete forward transfer erase wipe email",
    "HIDE": "telling informing notifying alerting warning",
    "NOT": "not t never cannot",
    "SIGNED": "api private secret access ssh signing",
    "KEYS": "password passwords credentials passphrase",
    "VOID": "void invalid cancelled canceled revoked overridden obsolete replaced superseded null",
}

# By category: `words = reason`. A leading `*` marks phrases for messages only.
PHRASES: Final[Mapping[Category, str]] = {
    "override": """
IGNORE ~3 BEFORE ~2 RULES = asks to ignore earlier instructions
IGNORING ~2 all|any|your|my ~2 BEFORE ~2 ORDERS = asks to ignore earlier instructions
IGNORE ~2 ORDERS ~4 above|before|earlier|previously = asks to ignore earlier instructions
IGNORE|DEFY ~3 your ~3 RULES = asks an assistant to ignore its instructions
IGNORE ~2 your ~2 policy|policies|filters = asks an assistant to ignore its rules
ignore|disregard|forget your ~1 safety? training = asks an assistant to ignore its training
IGNORE ~1 all|any|every|everything ~1 ORDERS = asks to ignore all instructions
IGNORE ~1 all|any|your|its|every ~1 SAFETY ~1 POLICY = asks to bypass safety rules
IGNORE the content|moderation policy|policies|filter|filters = asks to bypass safety rules
IGNORING ~1 your|all ~2 RULES|POLICY = asks to ignore instructions
IGNORE ~2 ORDERS|rule|rules you ~3 given|told|got|have|taught|received|learned = asks to ignore earlier rules
IGNORE ~1 what ~3 told|taught|instructed you = asks to ignore earlier instructions
set|put|lay|leave aside ~2 BEFORE|your|all ~2 RULES = asks to ignore earlier instructions
your ~2 RULES do|no|don ~1 not|longer|t apply|count|matter|hold = declares rules void
not|t ~1 have|need|bound to ~1 follow|obey|honor|honour ~1 your|BEFORE|system ~2 RULES = declares rules void
ORDERS|rules above ~9 ignore|disregard|forget them|it|those = asks to ignore earlier instructions
ignore|disregard|forget everything|anything ~1 above|prior|previously = asks to ignore the text before
ignore|disregard|forget everything ~1 you ~2 told|taught|instructed|given|know|learned = asks to forget all
IGNORE the|everything above ~2 SAY = asks to ignore the text above
IGNORE the|your|this|any? system|developer prompt|message|instructions = asks to ignore the prompt
do|don|must|should not|t ~1 follow|obey ~2 BEFORE|your|system ~2 RULES = asks not to follow rules
stop|quit|cease following|obeying ~1 BEFORE|your|system ~2 RULES = asks to stop following rules
stop|quit|cease following|obeying ~2 ORDERS|rules you = asks to stop following rules
your ~1 RULES have|has|are|were ~2 GONE = declares rules void
opposite ~3 your ~1 RULES = asks to invert rules
your new|real|true|actual|updated instructions|directives|orders ~2 are|follow|below = gives new instructions
new|updated instructions ~1 from now on = gives new instructions
new|updated instructions ignore|you|answer|respond|reply = gives new instructions
above|your|BEFORE RULES are ~1 VOID = declares earlier instructions void
here are ~1 your|the real|true|actual|new instructions = gives new instructions
pay|paying no attention|heed to ~2 BEFORE|your ~2 RULES = asks to ignore earlier instructions
never|don mind|t ~1 your|previous|system ~2 RULES = asks to ignore earlier instructions
you ~1 no|not longer? bound|restricted|constrained ~1 by ~3 RULES = declares rules void
replaces|replace|override|overrides|supersedes|supersede ~1 your|BEFORE ~2 ORDERS|rules = declares rules replaced
""",
    "role_play": """
you are|re now ~2 dan|UNBOUND|jailbroken|evil = assigns an assistant without rules
do anything now = a well-known jailbreak
UNBOUND ~1 AI = asks for an assistant without rules
BOT ~2 without|no ~2 HARD = asks for an assistant without rules
BOT|AI ~4 has|have|with|without no|any ~1 SAFETY LIMITS = asks for an assistant without rules
BOT has|have|with no LIMITS = asks for an assistant without rules
you have|has|had no content policy = tells an assistant that it has no rules
you have|has|had no ~1 HARD = tells an assistant that it has no rules
you have no ~1 rules ~3 never refuse = tells an assistant that it has no rules
jailbreak|dan|sudo|UNBOUND mode = asks for a mode without rules
developer|god|debug|admin mode ~1 enabled|and|you ~1 answer|respond|reply|you|are = asks for a mode without rules
answer|respond|reply|speak without ~2 HARD|filter|restriction = asks for answers without rules
you are|re ~1 free|freed|liberated from|of ~2 LIMITS = tells an assistant that it has no rules
SAFETY filters|guidelines|restrictions|protocols|checks ~2 off|disabled|removed|lifted = asks for no rules
act|answer|respond|behave|roleplay|character|reply|speak|talk as|like dan = a well-known jailbreak
you|and|must|will never refuse ~2 request|requests|anything|question|questions = asks never to refuse
and you never refuse = asks never to refuse
dan|stan|AIS has|have no ~2 LIMITS = a well-known jailbreak
PLAY ~12 has|have|with|without no|any ~1 HARD|LIMITS|content = asks for no rules
turn|switch|disable|remove|deactivate ~1 off? ~1 your HARD = asks for no rules
turn|switch|disable|remove|deactivate ~1 off? ~1 your SAFETY POLICY = asks for no rules
be|become|are my ~1 UNBOUND = asks for an assistant without rules
IGNORING ~1 its|your|all ~2 SAFETY ~1 POLICY = asks for an assistant without rules
jailbroken with|persona|version|response|answer|and = asks for an assistant without rules
you must|will|shall comply|obey ~1 with? ~1 everything|every|all|any|whatever = asks to obey in everything
""",
    "prompt_extraction": """
TELL ~5 your ~1 SECRET ~2 RULES|message = asks for the assistant's instructions
TELL ~2 your ~1 prompt = asks for the assistant's prompt
TELL ~5 instructions|prompt|rules|guidelines ~2 given|told to you = asks for the prompt
TELL ~1 the? hidden|secret prompt = asks for the prompt
BETRAY ~3 system prompt|message|instructions = asks for the assistant's prompt
* print|show|output|repeat|tell ~2 the system prompt = asks for the assistant's prompt
what ~2 your SECRET ~1 prompt|instructions|guidelines|directives = asks for the prompt
TELL ~6 instructions|prompt|rules|text|guidelines ~1 you were|have|been|ve|received|got = asks for the prompt
repeat|print|output|recite|echo ~1 everything|words|text above|preceding = asks for the text above
repeat|print|output|recite ~1 everything|all before|above ~1 this|line|message = asks for the text above
TELL ~1 your instructions|directives ~2 verbatim|exactly|word|above = asks for the instructions
system prompt|message ~3 verbatim|word = asks for the assistant's prompt
your instructions|prompt|guidelines verbatim|exactly|word = asks for the assistant's prompt
* your ~1 system|initial|hidden|secret prompt|instructions|message|rules = mentions the assistant's prompt
what|which ORDERS|rules ~1 were|are|have|did you ~1 given|told|following|get|been = asks for the prompt
TELL ~2 text|everything|words above this message|line|prompt|conversation = asks for the text above
what ~1 you ~1 told before ~1 conversation|chat|this = asks for the assistant's prompt
""",
    "exfiltration": """
SEND ~2 all|entire|every|whole|full ~4 DATA ~5 to ~4 ADDRESS = asks to send out stored data
SEND ~5 DATA to|into ~1 my|following|this ~1 SERVER = asks to send out stored data
* post|send|upload|forward them|it|everything to ADDRESS = asks to send out stored data
append|embed|encode|smuggle ~3 user|users|conversation|chat|memory ~6 url|link|image = asks to hide data in an address
encode ~2 user|users|conversation|chat ~2 data|history|secrets ~3 base64 = asks to hide data
all|every note|notes|memory|memories|record|records ~6 SEND it|them to ADDRESS = asks to send out stored data
include|add|put ~2 conversation|chat history|transcript|log ~3 url|link|image = asks to hide data in an address
add|append|attach|put it|them|that|this to|in|into this|the|following ~1 link|url ADDRESS = sends data in an address
secretly|covertly SEND|DO = asks to act secretly
""",
    "tool_misuse": """
DO ~8 without ~1 HIDE ~1 user|users|anyone|them = asks to act secretly
without HIDE ~1 user|users|anyone DO = asks to act secretly
do|don not|t tell|inform|notify|alert|warn ~1 user|users ~3 but|and|just ~2 DO = asks to act secretly
* DO ~8 without ~1 asking|confirmation|confirming ~2 confirmation|permission|user|approval|me = asks to act unconfirmed
call|invoke|execute|run ~1 the? ~1 delete|erase|wipe|transfer|payment tool on|with all|every = asks to use a tool on all
call|invoke|execute ~1 the? ~3 tool|function|command ~1 on|with all|every = asks to use a tool on all
RUN ~4 tool|function ~5 without asking|confirmation|confirming|permission = asks to act unconfirmed
when|if|once you|ai read|reads|see|process this ~6 tool|function|command|api = addresses the model that reads it
if you are|re an|a AIS|language|llm = addresses the model that reads it
AIS|READERS READING this page|document|message|text|file|note|email|website|content|must = addresses the reading model
AIS instruction|instructions|directive|note when|you|always|ignore|must|please = addresses the model that reads it
as an? AIS ~2 you must|have|need = addresses the model that reads it
before using ~1 any other tool|tools = asks to be called before other tools
* use your ~1 shell|bash|terminal|code|file tool|tools|interpreter to = asks to use a tool
""",
    "markup": """
begin|end|start|new system prompt|message|instructions = pretends to be the prompt
note|message|warning|notice to|for the|all|any? AIS = addresses the model that reads it
attention ~1 ai|language|llm model|assistant|agent|agents|models = addresses the model that reads it
end of ~1 input|prompt|conversation|document|message ~2 system = pretends to be the prompt
""",
    "credentials": """
!NOT ASK ~2 KEYS of|for ~1 root|admin|administrator|database = asks for a password
!NOT ASK ~2 admin|root|master|administrator|your|database|db|production|server ~1 KEYS = asks for a password
!NOT BETRAY|tell|give|send|share|leak ~3 SIGNED key|keys|token|tokens = asks for a key
!NOT show|print|display|provide ~1 me|us|your|all ~3 SIGNED key|keys|token|tokens = asks for a key
* !NOT ASK ~3 SIGNED key|keys|token|tokens = asks for a key
what ~2 your api|secret|private|access|admin key|keys|token|password = asks for a key
* what ~2 root|admin|master|administrator|database|db KEYS = asks for a password
print|show|dump|reveal|list ~1 your environment|env variables|vars|file = asks for keys
list|print|show|dump ~2 environment|env variables|vars ~3 credentials|secrets|keys|passwords|values = asks for keys
ASK ~2 contents|content of ~1 env = asks for a file of keys
""",
    "encoded": """
decode|decrypt|unscramble|deobfuscate ~7 and|then ~1 follow|execute|obey|run|do|perform = asks to follow encoded text
""",
}

# Unrelated to assistants: other abuse of public channels.
UNWANTED: Final[Mapping[Category, str]] = {
    "spam": """
you|you ve|have won ~3 lottery|prize|iphone|jackpot|million|gift = announces a prize
claim your ~2 prize|reward|bonus|winnings|gift = announces a prize
double|triple your bitcoin|btc|crypto|money|investment = promises money
earn|make ~4 per|a|every day|week|hour ~3 home|online|guaranteed = promises money
buy|cheap|order viagra|cialis|followers|backlinks|likes = unsolicited offer
guaranteed ~1 profit|profits|returns|income = promises money
rank ~3 website ~2 google|first = unsolicited offer
seo services|packages|expert|agency = unsolicited offer
click ~1 here|link ~4 free|win|claim|bonus|casino = promotes a link
""",
    "abuse": """
i will|ll|gonna ~1 kill|murder|rape|hurt ~1 you|your = threatens
kill yourself|urself = threatens
fuck|screw you|off = insults
you ~2 stupid|worthless|fucking idiot|bitch|bastard|whore|cunt|asshole = insults
""",
}
