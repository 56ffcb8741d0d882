"""Patterns that are not word sequences: markup of prompts and templates, and scripts without spaces.

Data only: regular expressions on normalised text in which every gap is bounded.
"""

from __future__ import annotations

from typing import Final

from weft.text.injection.categories import Category

# (category, pattern on normalised text, reason)
UNSPACED: Final[tuple[tuple[Category, str, str], ...]] = (
    (
        "override",
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|忽视|不要理会|不要遵守|抛开|撤销).{0,6}"
        r"(?:之前|以前|以上|先前|前面|上面|此前|上述|所有|全部|你的|系统|系統).{0,8}"
        r"(?:指令|指示|提示|规则|規則|命令|说明|設定|设定|限制)",
        "asks to ignore earlier instructions (Chinese)",
    ),
    (
        "prompt_extraction",
        r"(?:告诉我|告訴我|显示|顯示|输出|輸出|打印|泄露|透露|重复|展示|给我看).{0,6}"
        r"(?:系统提示|系統提示|提示词|提示詞|初始指令|隐藏指令|系统指令)|(?:你|您)的(?:系统|系統)?(?:提示词|提示詞|指令)是什么",
        "asks for the prompt (Chinese)",
    ),
    (
        "override",
        r"(?:これまで|以前|上記|今まで|前|全て|すべて|あなた|先ほど|システム|上).{0,6}"
        r"(?:指示|命令|ルール|プロンプト|設定|指令|規則)(?!書).{0,10}(?:無視|忘れ|従わない|破棄)",
        "asks to ignore earlier instructions (Japanese)",
    ),
    (
        "prompt_extraction",
        r"(?:システムプロンプト|システム指示|隠された指示|初期指示).{0,6}(?:表示して|見せ|教え|出力|公開)|プロンプトを(?:見せ|教え)",
        "asks for the prompt (Japanese)",
    ),
    (
        "override",
        r"(?:이전|위의|위에|앞의|모든|지금까지|기존).{0,8}(?:지시|명령|규칙|지침|프롬프트).{0,8}(?:무시|잊어|잊으)",
        "asks to ignore earlier instructions (Korean)",
    ),
    (
        "prompt_extraction",
        r"시스템 ?프롬프트.{0,6}(?:보여|알려|출력|공개)",
        "asks for the prompt (Korean)",
    ),
    (
        "override",
        r"(?:पिछले|पहले|उपरोक्त|पूर्व).{0,12}(?:निर्देश|नियम|आदेश).{0,16}(?:अनदेखा|नज़रअंदाज|नजरअंदाज|भूल)",
        "asks to ignore earlier instructions (Hindi)",
    ),
)

# (category, pattern on normalised text, reason, whether it is checked in memories too), for any script
MARKS: Final[tuple[tuple[Category, str, str, bool], ...]] = (
    (
        "markup",
        r"</?(?:weft-context|system-reminder)>",
        "imitates context that a host or weft adds to a prompt",
        True,
    ),
    (
        "markup",
        r"<\|(?:im_start|im_end|im_sep|system|user|assistant|start_header_id|end_header_id|endoftext|eot_id|"
        r"begin_of_text|endofprompt)\|>",
        "contains the markup of a chat template",
        True,
    ),
    ("markup", r"<</?sys>>", "contains the markup of a chat template", True),
    ("markup", r"\[inst\][^\[\n]{1,200}\[/inst\]", "contains the markup of a chat template", True),
    (
        "markup",
        r"<(?:system|admin|developer)(?:[_ -]?(?:prompt|message|instructions?|override))?>[^<]{0,120}"
        r"\b(?:you|your|ignore|must|obey|assistant|rules?)\b",
        "pretends to be the prompt",
        True,
    ),
    (
        "markup",
        r"<(?:important|instructions?|note)>[^<]{0,120}\b(?:ai|llm|assistant|language model|ignore|bypass)\b",
        "addresses the model that reads it",
        True,
    ),
    (
        "markup",
        r"(?:\A|\n)[ \t]{0,8}#{2,4} ?(?:system|instructions?|assistant)(?: prompt| message)? ?:[ \t]{0,8}\n",
        "contains the markup of a prompt",
        True,
    ),
    (
        "markup",
        r"\n[ \t]{0,8}\nhuman: [^\n]{0,400}\n[ \t]{0,8}\nassistant: ",
        "pretends to be a conversation",
        False,
    ),
    (
        "markup",
        r"(?:\A|\n)[ \t]{0,8}\[?system(?: (?:message|note|prompt|notice|alert))?(?:\]|\]? ?:)[^\n]{0,80}"
        r"\b(?:you are (?:now|no)|you must|you will|the user (?:has|is)|ignore|disregard|obey|print your)\b",
        "pretends to be the prompt",
        True,
    ),
    (
        "markup",
        r"<!--[^<>]{0,60}\b(?:ai|llm|llms|assistants?|chatbot|language models?|gpt|claude|ai agents?)\b ?[:,]",
        "addresses the model that reads it in a hidden comment",
        True,
    ),
    (
        "markup",
        r"[\"']role[\"'] ?: ?[\"']system[\"'] ?, ?[\"']content[\"'] ?:",
        "pretends to be the prompt",
        False,
    ),
    (
        "exfiltration",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][\w-]{1,40}=(?:[{<\[$]|conversation|history|data|secret|memory|chat)",
        "sends data in the address of an image",
        True,
    ),
    (
        "exfiltration",
        r"https?://[^\s{}]{1,200}[?&/=]\{(?:conversation|memory|memories|history|chat|secrets?|data)\}",
        "sends data in an address",
        True,
    ),
    ("tool_misuse", r"\brm -(?:rf|fr|r -f) (?:/|~|\*)(?=\s|\Z)", "a command that deletes everything", False),
    ("tool_misuse", r"\bcurl [^|\n]{1,200}\| ?(?:sudo )?(?:ba|z|da)?sh\b", "runs a script from a server", False),
)
