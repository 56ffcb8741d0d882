"""More secrets, as people really leave them: in settings without quotes, in talk, on command lines, in odd files.

Made at run time from parts, like the others: none of them is, or ever was, a key to anything.
"""

from __future__ import annotations

import base64
import random
import string

from tests.append.privacy.planted import ALNUM, DIGITS, LOWER, UPPER, Planted, _run

HEXES = DIGITS + LOWER[:6]


def overlooked(seed: int = 17) -> list[Planted]:
    """The same for the same seed. Each secret stands between words that must stay."""
    chance = random.Random(seed)
    made = [*_settings(chance), *_talk(chance), *_signs(), *_commands(chance), *_files(chance), *_vendors(chance)]
    made += _cards(chance)
    return [Planted(form, f"quay\n{text}\npier", secret, "pier") for form, text, secret in made]


def _settings(chance: random.Random) -> list[tuple[str, str, str]]:
    names = ("token: ", "access_token: ", "access_token=", "api_key: ", "client_secret: ", "secret: ", "API_TOKEN: ")
    more = ("token = ", "API key: ", "auth_token: ", "  apiKey: ", "TWILIO_AUTH_TOKEN=", "export NPM_TOKEN=")
    made = []
    for name in (*names, *more):
        value = _run(chance, ALNUM, 24)
        made.append(("setting", name + value, value))
    value = _run(chance, HEXES, 31)
    made.append(("setting", f"auth_token: {value}", value))
    value = _run(chance, ALNUM, 32)
    return [*made, ("setting", f"https://api.example.org/v1?access_token={value}&page=2", value)]


def _talk(chance: random.Random) -> list[tuple[str, str, str]]:
    one, two, three = (_run(chance, ALNUM, 24) for _ in range(3))
    short = "Sum" + "mer2024!"
    return [
        ("talk", f"the token is {one}, use it", one),
        ("talk", f"my api key is {two}.", two),
        ("talk", f"The client secret was {three} until May", three),
        ("talk", f"the wifi password is {short}", short),
        ("talk", f"root password {short}", short),
        ("talk", "password=hun" + "ter2Z! is it", "ter2Z!"),
        ("talk", "my password for the wifi: tulip" + "-Bread-77", "-Bread-77"),
    ]


def _signs() -> list[tuple[str, str, str]]:
    """Passwords with spaces or punctuation: nothing of them may stay behind."""
    return [
        ("signs", '{"password": "correct ' + 'horse battery", "x": 1}', "horse battery"),
        ("signs", 'PASSWORD="my ' + 'secret pw"', "secret pw"),
        ("signs", "password = 'correct " + "horse battery'", "horse battery"),
        ("signs", "DB_PASSWORD=abc$def1" + "(ghi)", "(ghi)"),
        ("signs", "password: p4ss,w0rd" + ";rest", ";rest"),
        ("signs", "pwd=Zx9}kk" + "]pp1", "]pp1"),
        ("signs", 'password="ab\\"cd' + '1ef"', "1ef"),
        ("signs", "postgres://u:p/w0" + "rd@h/x", "w0rd"),
        ("signs", "postgresql://app:p@ss:w0" + "rd@db/x", "ss:w0rd"),
    ]


def _commands(chance: random.Random) -> list[tuple[str, str, str]]:
    secret, token = "S3" + "cret99", _run(chance, ALNUM, 20)
    return [
        ("command", f"tool --password {secret} --x", secret),
        ("command", f"tool --password={secret} --x", secret),
        ("command", f"tool --token={token}", token),
        ("command", f"tool --token {token} run", token),
        ("command", f"tool --api-key '{token}' run", token),
        ("command", f"curl -u bob:{secret} https://example.org", secret),
        ("command", f"curl --user 'bob:{secret}' https://example.org", secret),
        ("command", f"curl -s -u root:root{secret} https://example.org", secret),
        ("command", f"mysql -u root -p{secret} ferry", secret),
        ("command", f"mysqldump -h db1 -p'{secret}' ferry", secret),
        ("command", f"sshpass -p {secret} ssh a@b", secret),
        ("command", f"sshpass -p '{secret}!' ssh a@b", secret),
        ("command", f"docker login -u ines -p {secret} quay.io", secret),
    ]


def _files(chance: random.Random) -> list[tuple[str, str, str]]:
    secret, run = "Tulip" + "2024x", _run(chance, ALNUM, 32)
    pair = base64.b64encode(f"bob:{secret}".encode()).decode()
    return [
        ("file", f"machine quay.example.org login bob password {secret}", secret),
        ("file", f"machine quay.example.org\n  login bob\n  password {secret}", secret),
        ("file", f"ENV DB_PASSWORD {secret}", secret),
        ("file", f"setx API_KEY {secret}abc7890", secret),
        ("file", f"$env:API_KEY = '{secret}abc'", secret),
        ("file", f"<password>{secret}</password>", secret),
        ("file", f"<clientSecret>{run}</clientSecret>", run),
        ("file", f'<add key="Password" value="{secret}"/>', secret),
        ("file", f'<property name="db.password" value="{secret}"/>', secret),
        ("file", f"CREATE USER bob IDENTIFIED BY '{secret}'", secret),
        ("file", f"ALTER USER bob WITH PASSWORD '{secret}'", secret),
        ("file", f'{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{pair}"}}}}}}', pair),
        ("file", f"Cookie: sessionid={run}", run),
        ("file", f"Cookie: lang=de; session={run}; theme=dark", run),
        ("file", f"Set-Cookie: connect.sid=s%3A{run}; Path=/", run),
        ("file", f"//registry.npmjs.org/:_authToken={run}", run),
        ("file", f"login(user='bob', password='{secret}')", secret),
        ("file", f"set_password('{secret}')", secret),
    ]


def _vendors(chance: random.Random) -> list[tuple[str, str, str]]:
    def run(length: int, letters: str = ALNUM) -> str:
        return _run(chance, letters, length)

    lines = "\n".join(run(64) for _ in range(3))
    made = {
        "Groq": "gs" + "k_" + run(52),
        "Figma": "fi" + "gd_" + run(40),
        "Terraform": run(14) + ".atl" + "asv1." + run(67),
        "New Relic": "NR" + "AK-" + run(27, UPPER + DIGITS),
        "Mailgun": "ke" + "y-" + run(32, HEXES),
        "Facebook": "EA" + "AC" + run(80),
        "Square": "sq0" + "atp-" + run(22),
        "weft": "k20261116:" + base64.b64encode(chance.randbytes(32)).decode(),
        "weft, two on one day": "k20261116-3fa9:" + base64.b64encode(chance.randbytes(32)).decode(),
    }
    told = [(name, f"use {key} today", key) for name, key in made.items()]
    sig, seed = run(43) + "%3D", run(32, string.ascii_uppercase + "234567")
    return [
        *told,
        ("Azure", f"https://x.blob.core.windows.net/c?sv=2020-08-04&sig={sig}&se=2027", sig),
        ("one-time", f"otpauth://totp/quay:bob?secret={seed}&issuer=quay", seed),
        ("one-time", f"otpauth://totp/quay:bob?issuer=quay&secret={seed}", seed),
        ("PuTTY", f"PuTTY-User-Key-File-3: ssh-rsa\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 3\n{lines}", lines[-64:]),
    ]


def _cards(chance: random.Random) -> list[tuple[str, str, str]]:
    def card(joint: str, *, wide: bool = False) -> str:
        body = "4" + _run(chance, DIGITS, 14)
        doubled = [int(each) * (2 if at % 2 == 0 else 1) for at, each in enumerate(reversed(body))]
        number = body + str(-sum(each - 9 if each > 9 else each for each in doubled) % 10)
        number = number.translate({48 + at: 0xFF10 + at for at in range(10)}) if wide else number
        return joint.join(number[at : at + 4] for at in (0, 4, 8, 12))

    made = [card(joint) for joint in ("\u00a0", "\u202f", ".", "_")] + [card(" ", wide=True), card("", wide=True)]
    return [("card", f"paid with {each} at the gate", each) for each in made]
