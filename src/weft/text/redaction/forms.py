"""Patterns of secrets beyond detect-secrets, and the words that separate values from references.

Every pattern begins with a vendor's distinctive prefix, or matches a position where only a secret can be.
"""

from __future__ import annotations

import re
from typing import Final

_LETTERS: Final = r"[A-Za-z0-9_-]"

# (sort, pattern) of tokens with a distinctive prefix. Searched only in runs of 20 characters and more.
TOKENS: Final[tuple[tuple[str, str], ...]] = (
    ("OpenAI key", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    ("Anthropic key", r"sk-ant-[a-z0-9]{3,8}-[A-Za-z0-9_-]{20,}"),
    ("API key", r"sk-(?:or-v1-|lf-)?[A-Za-z0-9]{32,}"),
    ("GitHub token", rf"github_pat_{_LETTERS}{{22,}}"),
    ("Google API key", r"AIza[A-Za-z0-9_-]{35}"),
    ("Google OAuth secret", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    ("Google OAuth token", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("Hugging Face token", r"hf_[A-Za-z0-9]{30,}"),
    ("npm token", r"npm_[A-Za-z0-9]{36}"),
    ("Slack token", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{20,}"),
    ("Slack token", r"xapp-\d-[A-Za-z0-9-]{20,}"),
    ("Stripe key", r"(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{20,}"),
    ("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}"),
    ("Shopify token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("Linear key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("Notion token", r"(?:ntn|secret)_[A-Za-z0-9]{40,}"),
    ("Vault token", r"hv[bsr]\.[A-Za-z0-9_-]{24,}"),
    ("Databricks token", r"dapi[a-f0-9]{32}(?:-\d)?"),
    ("Atlassian token", r"ATATT3[A-Za-z0-9_=-]{40,}"),
    ("Sentry token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    ("Grafana token", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}"),
    ("Supabase token", r"sb[a-z]_[a-f0-9]{40}"),
    ("Docker token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("Doppler token", r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9._-]{40,}"),
    ("PyPI token", r"pypi-Ag[A-Za-z0-9_-]{50,}"),
    ("RubyGems token", r"rubygems_[a-f0-9]{48}"),
    ("Cloudflare token", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    ("Telegram token", r"\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    ("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("JSON web token", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,3}"),
    ("Groq key", r"gsk_[A-Za-z0-9]{40,}"),
    ("Figma token", r"figd_[A-Za-z0-9_-]{36,}"),
    ("New Relic key", r"NRAK-[A-Z0-9]{27}"),
    ("Mailgun key", r"(?<![\w-])key-[0-9a-f]{32}"),
    ("Facebook token", r"EAA(?![A-Za-z0-9]*AAAAA)[A-Z][A-Za-z0-9]{60,}(?![+/=])"),
    ("Square token", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"),
    ("weft token", r"weft_[0-9a-f]{12}_[0-9a-f]{64}"),
    ("weft key", r"k\d{8}(?:-[a-z0-9]{1,8})?:[A-Za-z0-9+/]{43}="),  # with other names only as the value of a setting
)
# Keys in manuals contain EXAMPLE; by chance one in a hundred million real keys does.
MANUAL: Final = "EXAMPLE"

# A private key: to its end marker, else as many lines as look like one.
PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?P<of>[A-Z0-9 ]{0,40})PRIVATE KEY(?P<block> BLOCK)?-----"
    r"(?:[\s\S]{16,40000}?-----END (?P=of)PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?:\s|\\n|\\r)+[A-Za-z0-9+/=:, -]{16,})+)"
)

PUTTY_KEY: Final = re.compile(
    r"Private-Lines: ?\d{1,4}\r?\n(?P<secret>(?:[A-Za-z0-9+/=]{40,80}(?:\r?\n|$)){1,400}"
    r"(?:[A-Za-z0-9+/]{2,39}(?:==?|(?=\r?\nPrivate-)))?)"
)

# The password of an address with a user before the host. It may contain @, and outside of the web a slash unless a port
# precedes it. A host with a port followed by a time of day is not a match.
ADDRESS: Final = re.compile(
    r"://(?P<user>[^\s:/@\"'`<>?#\\]{0,100}):(?:"
    r"(?P<secret>[^\s@/\"'`<>\\]{1,200}(?:@[^\s@/?#,;\"'`<>\\]{1,100}){0,3})"
    r"|(?P<slashed>(?!\d+/)[^\s@\"'`<>\\?]{1,100}))@(?=[\w\[{$%.-])(?!\d{1,2}:\d\d\b)"
)
WEB: Final = ("http", "https", "ws", "wss", "git", "ssh", "file")

# Names of secrets by certainty: a password is one even if short; a token may be many things.
NAME_PARTS: Final = ("pass", "pw", "secret", "token", "key", "cred", "bearer", "basic ", "contrase")
SURE_NAME: Final = re.compile(
    r"(?:^|[^a-z])(?:\w*(?:passw(?:or)?d|passphrase|passwd|passwort|contrase(?:ñ|n)a)|(?:\w*_)?(?:passe?|pwd?))$"
)
LIKELY_NAME: Final = re.compile(
    r"(?:secret|credentials?|(?:auth|access|refresh|api|bot|id|session|service|personal|deploy)[_ -]?token"
    r"|(?:api|access|auth|account|private|secret|service|client|encryption|signing|master|storage|shared|app|admin|db"
    r"|database|subscription|license|webhook|deploy|sensitive)[_ -]?key|secret[_ -]?access[_ -]?key)$"
)
POSSIBLE_NAME: Final = re.compile(r"(?:token|credential)$")
NAME: Final = re.compile(f"{SURE_NAME.pattern}|{LIKELY_NAME.pattern}|{POSSIBLE_NAME.pattern}")
# Names with these endings are about a secret without holding one.
_ABOUT = """
path file url uri name field id ids type kind len length min max hint prompt label policy ref header format count limit
ttl expiry expires expired reset hash hashed salt algorithm method provider column param env var prefix pattern regex
rule required enabled size bucket store manager keys tokens passwords secrets
"""
ABOUT: Final = re.compile(rf"(?:{'|'.join(_ABOUT.split())})$")

# After the name: the assignment, then the value, quoted or bare. A space alone assigns only on a command line, in a
# Dockerfile, or before a value that can only be a password.
_NO_QUOTES: Final = r"[^\s\"'`"
GIVEN: Final = re.compile(
    r"[\w-]{0,40}[\"'`]?\]?[\"'`]?"
    r"(?P<by>[ \t]{0,4}(?::=|=>|->|=(?![=~])|:(?!:))[ \t]{0,8}|[ \t](?:is|was|are|lautet|ist|est|es):?[ \t]+"
    r"|[ \t]+(?=[\"'`])|\((?=[\"'])|[ \t](?:for|of|to)(?:[ \t][\w-]{1,20}){1,4}(?:[ \t]is|:)[ \t]+|[ \t]{1,8})"
    r"(?:(?P<prefix>[fFbBrRuU]{0,2})(?P<quote>\\?[\"'`])(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\n\\])){4,400})(?P=quote)"
    rf"|(?P<bare>{_NO_QUOTES},;(){{}}<>\[\]|\\]{{1,200}})(?P<after>[(\[{{]?))",
)
# A bare password that ends the line may contain any character, also those that end a value elsewhere, and brackets.
WHOLE_LINE: Final = re.compile(
    rf"(?:{_NO_QUOTES},;&(){{}}<>\[\]|\\]{{1,200}}"
    rf"|\({_NO_QUOTES}()]{{0,60}}\)|\[{_NO_QUOTES}\[\]]{{0,60}}\]|\{{{_NO_QUOTES}{{}}]{{0,60}}\}}"
    r"|[,;&|)\]}>(\[{<](?=[\w!#$%^*+-])(?![\w.-]{1,40}[=:])|\\(?![nrt\"'`\\])){1,20}"
)
LINE_BEFORE: Final = re.compile(r"(?:^|\n)[ \t]*(?:(?:export|set|ENV|ARG|-)[ \t]+)?[\"']?\Z")
LINE_AFTER: Final = re.compile(r"[ \t]*(?:\r?\n|$)")
SET_BEFORE: Final = re.compile(r"(?:^|[\n;&])[ \t]*(?:ENV|ARG|setx|SETX|setenv|set(?:[ \t]-\w+)*)[ \t]+\Z")
CALL: Final = re.compile(r"[A-Za-z_][\w.:!]*[(\[{<]")
# Characters of a bare token.
TOKEN_VALUE: Final = re.compile(r"[A-Za-z0-9._~+/=:%$!-]+")
PIECES: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
# <password>value</password>; key="password" value="value", as an attribute, in JSON or in YAML.
ELEMENT: Final = re.compile(r"[\w.-]{0,40}>(?P<secret>[^<>\n]{4,200})</")
PAIR: Final = re.compile(
    r"[\w.-]{0,40}[\"']?,?\s{1,20}[\"']?value[\"']?\s{0,4}[=:]\s{0,4}[\"'](?P<secret>[^\"'\n]{4,200})[\"']",
    re.IGNORECASE,
)
BEARER: Final = re.compile(r"bearer[ \t]+(?P<secret>[A-Za-z0-9._~+/=-]{16,})", re.IGNORECASE)
BASIC: Final = re.compile(r"basic[ \t]+(?P<secret>[A-Za-z0-9+/]{12,}={0,2})", re.IGNORECASE)

# Values that are not secrets: placeholders, references, and plain words of settings.
_STANDS_FOR = r"""
your[-_]? example placeholder change[-_]?me changeit redacted insert[-_] replace[-_]? dummy fake sample goes[-_]here
environ getenv process\.env secrets?\.(?:get|token|choice)
"""
_PLAIN_WORDS = """
none null nil true false undefined required optional missing empty string str bytes text hidden password passwd pwd pass
passphrase secret token test testing todo unset default user username admin root bearer basic same-origin include omit
invalid incorrect wrong correct stored encrypted hashed expired current-password new-password
"""
NO_VALUE: Final = re.compile(
    r"![a-z]+$|\d+(?:\.\d+)+$|https?://|[<\[{$%(&@*#]|-{2}|.*(?:\$\{|\$\(|\{\{|%\(|\*{3}|x{4}|X{4}|\.{3}|…)|(.)\1+$"
    rf"|(?i:.*(?:{'|'.join(_STANDS_FOR.split())}))|(?i:(?:{'|'.join(_PLAIN_WORDS.split())})$)"
)
# Words of messages: a value with one of them is a sentence about a password, not a passphrase.
_OF_MESSAGES = """
a an and are at be by can cannot do does enter for forgot forgotten from has have if in incorrect invalid is it least
missing must new no not of old on only or password passwords passphrase please required reset should than that the this
to too type use used user username weak was when will with wrong you your confirm repeat again change current
"""
OF_MESSAGES: Final = frozenset(_OF_MESSAGES.split())
UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")

# Card numbers: digits in one run, in fours, or as American Express writes them; then the prefixes of issuers.
_LISTED: Final = r"[0-9A-F]{4}"  # two of these before or after it: a table of numbers
_GAPS: Final = r"[ \u00a0\u2009\u202f._-]"
CARD: Final = re.compile(
    rf"(?<![\w.,:+/-])(?<!{_LISTED} {_LISTED} )"
    rf"(?:\d{{14,16}}|\d{{4}}(?P<gap>{_GAPS})\d{{4}}(?P=gap)\d{{4}}(?P=gap)\d{{4}}"
    rf"|\d{{4}}(?P<joint>{_GAPS})\d{{6}}(?P=joint)\d{{4,5}})(?![\w-]|[.,:/]\d)(?! {_LISTED} {_LISTED}\b)"
)
CARD_ISSUERS: Final = re.compile(
    r"4\d{15}$|5[1-5]\d{14}$|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$|3[47]\d{13}$"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}$|35(?:2[89]|[3-8]\d)\d{12}$|3(?:0[0-5]|[68]\d)\d{11}$"
)

# Hints for detect-secrets, whose patterns are slow: in the run itself, and in its surroundings.
HINTS: Final = re.compile(
    r"A3T|A[BCKS][CI]A|gh[pousr]_|gl[a-z]{2,5}-|GR13|gloas|T3Blbk|AgE|SG\.|xox|sq0|_live_|-us\d|(?:AC|SK)[a-z0-9]{32}"
    r"|[MNO][\w-]{23,25}\.|AccountKey"
)
HINTS_AROUND: Final = (b"aws", b"ibm", b"cos_", b"cloudant", b"softlayer", b"sl_", b"hooks.slack")

# Detectors of detect-secrets whose pattern gives the span of the secret.
DETECTORS: Final[tuple[tuple[str, str, str], ...]] = (
    ("aws", "AWSKeyDetector", "AWS key"),
    ("azure_storage_key", "AzureStorageKeyDetector", "Azure storage key"),
    ("cloudant", "CloudantDetector", "Cloudant key"),
    ("discord", "DiscordBotTokenDetector", "Discord token"),
    ("github_token", "GitHubTokenDetector", "GitHub token"),
    ("gitlab_token", "GitLabTokenDetector", "GitLab token"),
    ("ibm_cloud_iam", "IbmCloudIamDetector", "IBM Cloud key"),
    ("ibm_cos_hmac", "IbmCosHmacDetector", "IBM Cloud key"),
    ("mailchimp", "MailchimpDetector", "Mailchimp key"),
    ("openai", "OpenAIDetector", "OpenAI key"),
    ("pypi_token", "PypiTokenDetector", "PyPI token"),
    ("sendgrid", "SendGridDetector", "SendGrid key"),
    ("slack", "SlackDetector", "Slack token"),
    ("softlayer", "SoftlayerDetector", "SoftLayer key"),
    ("square_oauth", "SquareOAuthDetector", "Square token"),
    ("stripe", "StripeDetector", "Stripe key"),
    ("twilio", "TwilioKeyDetector", "Twilio key"),
)
