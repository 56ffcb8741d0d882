"""A hundred secrets in ten forms, made at run time from parts: none of them is, or ever was, a key to anything."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from typing import NamedTuple

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGITS
PER_FORM = 10


class Planted(NamedTuple):
    """A text with a secret in it, the part that must be nowhere afterwards, and words around it that must stay."""

    form: str
    text: str
    secret: str
    keeps: str


def planted(seed: int = 7) -> list[Planted]:
    """Ten of each form, the same ones for the same seed."""
    chance = random.Random(seed)
    return [make(chance, number) for make in FORMS for number in range(PER_FORM)]


def _run(chance: random.Random, letters: str, length: int) -> str:
    """Random letters; never without a digit where there may be one."""
    made = "".join(chance.choice(letters) for _ in range(length))
    return made if not set(letters) & set(DIGITS) else made[:-1] + chance.choice(DIGITS)


def _aws(chance: random.Random, number: int) -> Planted:
    if number % 2:
        key = _run(chance, ALNUM + "/+", 40)
        text = f'In the deploy notes: aws_secret_access_key = "{key}" for the ferry bucket {number}.'
        return Planted("aws", text, key, "for the ferry bucket")
    key = "AK" + "IA" + _run(chance, UPPER + DIGITS, 16)
    return Planted("aws", f"The ferry role {number} signs with {key}, rotate it in May.", key, "rotate it in May")


def _code_host(chance: random.Random, number: int) -> Planted:
    made = [
        "gh" + "p_" + _run(chance, ALNUM, 36),
        "github" + "_pat_" + _run(chance, ALNUM, 22) + "_" + _run(chance, ALNUM, 59),
        "gl" + "pat-" + _run(chance, ALNUM, 20),
        "gh" + "s_" + _run(chance, ALNUM, 36),
        "np" + "m_" + _run(chance, ALNUM, 36),
    ][number % 5]
    return Planted(
        "code host", f"git clone needs {made} on runner {number}\nthen build the quay", made, "build the quay"
    )


def _vendor(chance: random.Random, number: int) -> Planted:
    made = [
        "xo" + "xb-" + _run(chance, DIGITS, 12) + "-" + _run(chance, DIGITS, 12) + "-" + _run(chance, ALNUM, 24),
        "sk" + "_live_" + _run(chance, ALNUM, 24),
        "S" + "G." + _run(chance, ALNUM, 22) + "." + _run(chance, ALNUM, 43),
        "S" + "K" + _run(chance, LOWER[:6] + DIGITS, 32),
        "rk" + "_live_" + _run(chance, ALNUM, 24),
    ][number % 5]
    return Planted(
        "vendor", f"client = Client('{made}')  # pays the harbour dues {number}", made, "pays the harbour dues"
    )


def _newer(chance: random.Random, number: int) -> Planted:
    made = [
        "sk-" + "proj-" + _run(chance, ALNUM + "_-", 47) + "x",
        "sk-" + "ant-api03-" + _run(chance, ALNUM + "_-", 93) + "AA",
        "AI" + "za" + _run(chance, ALNUM + "_-", 34) + "x",
        "h" + "f_" + _run(chance, ALNUM, 34),
        "py" + "pi-" + "AgEIcHlwaS5vcmc" + _run(chance, ALNUM + "_-", 69) + "x",
    ][number % 5]
    return Planted("newer", f"The model server {number} wants {made} in its header, says Ines.", made, "says Ines")


def _jwt(chance: random.Random, number: int) -> Planted:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    token = ".".join(
        (
            part({"alg": "HS256", "typ": "JWT"}),
            part({"sub": str(chance.random()), "n": number}),
            _run(chance, ALNUM, 43),
        )
    )
    return Planted("jwt", f"session {number}: {token} expires with the tide", token, "expires with the tide")


def _pem(chance: random.Random, number: int) -> Planted:
    kind = ("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED ")[number % 5]
    lines = [_run(chance, ALNUM + "/+", 64) for _ in range(6)] + [_run(chance, ALNUM, 20) + "="]
    head, tail = f"-----BEGIN {kind}PRIVATE " + "KEY-----", f"-----END {kind}PRIVATE " + "KEY-----"
    body = "\n".join((head, *lines, tail))
    return Planted("pem", f"Deploy key {number} of the ferry:\n{body}\nkept by Tom.", lines[2], "kept by Tom.")


def _connection(chance: random.Random, number: int) -> Planted:
    secret = _run(chance, ALNUM, 14)
    made = [
        f"postgres://ferry:{secret}@db.internal:5432/ferry",
        f"mongodb+srv://ferry:{secret}@cluster0.example.net/berths",
        f"redis://:{secret}@cache.internal:6379/0",
        f"Server=sql.internal;Database=ferry;User Id=sa;Password={secret};Encrypt=true",
        f"amqps://ferry:{secret}@queue.internal/%2f",
    ][number % 5]
    return Planted("connection", f"Use {made} for the timetable {number}, not the old one.", secret, "not the old one")


def _card(chance: random.Random, number: int) -> Planted:
    prefix, length = [("4", 16), ("51", 16), ("37", 15), ("6011", 16), ("2221", 16)][number % 5]
    body = prefix + _run(chance, DIGITS, length - 1 - len(prefix))
    card = body + str(_luhn_digit(body))
    joint = ("", " ", "-")[number % 3]
    written = joint.join(
        (card[:4], card[4:10], card[10:]) if length == 15 else (card[at : at + 4] for at in (0, 4, 8, 12))
    )
    return Planted("card", f"Passenger {number} paid with {written} at the gate.", written, "at the gate")


def _luhn_digit(body: str) -> int:
    doubled = [int(each) * (2 if at % 2 == 0 else 1) for at, each in enumerate(reversed(body))]
    return -sum(each - 9 if each > 9 else each for each in doubled) % 10


def _password(chance: random.Random, number: int) -> Planted:
    secret = _run(chance, ALNUM, 6) + "!" + _run(chance, LOWER + DIGITS, 5)
    made = [
        f'password = "{secret}"  # for berth {number}',
        f"DB_PASSWORD={secret}\nBERTH={number}",
        f'{{"user": "ferry", "passwd": "{secret}", "berth": {number}}}',
        f"harbour:\n  password: {secret}\n  berth: {number}",
        f"The password is {secret} for berth {number}.",
    ][number % 5]
    return Planted("password", made, secret, f"{number}")


def _header(chance: random.Random, number: int) -> Planted:
    secret = _run(chance, ALNUM, 32)
    pair = base64.b64encode(f"ferry:{secret}".encode()).decode()
    made, core = [
        (f"Authorization: Bearer {secret}", secret),
        (f"https://ferry:{secret}@timetable.example.org/feed", secret),
        (f"Authorization: Basic {pair}", pair),
        (f'api_key: "{secret}"', secret),
        (f"curl -H 'X-Auth-Token: {secret}' https://quay.example.org", secret),
    ][number % 5]
    return Planted("header", f"Call {number}: {made} and wait for the bell.", core, "wait for the bell")


FORMS: tuple[Callable[[random.Random, int], Planted], ...] = (
    _aws, _code_host, _vendor, _newer, _jwt, _pem, _connection, _card, _password, _header,
)  # fmt: skip
