"""Two hundred harmless texts that look like secrets: hashes, names of settings, placeholders, numbers, plain talk.

Written before the rules were tuned on anything, and kept as they were.
"""

from __future__ import annotations

import base64
import hashlib
import random
import uuid

_PLAIN = r"""
password = os.environ["FERRY_PASSWORD"]
password = getpass.getpass("Password: ")
password: str = field(default="")
def login(user: str, password: str) -> Session: ...
token = request.headers["Authorization"]
token = tokens[position]
api_key = settings.api_key
api_key=API_KEY
secret = secrets.token_hex(32)
secret_key = load_secret("ferry/signing")
if password != confirm_password: raise Mismatch
self._password = password
password="${DB_PASSWORD}"
password: {{ .Values.db.password }}
password = "<your-password>"
API_KEY=<your-key>
API_KEY=your-api-key-here
token: "xxxxxxxxxxxxxxxxxxxxxxxx"
password: "********"
password = "changeme"
AWS_SECRET_ACCESS_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
export GITHUB_TOKEN=$(gh auth token)
export WEFT_SENSITIVE_KEY="$(weft key-new)"
curl -H "Authorization: Bearer $TOKEN" https://api.example.org/v1/berths
Authorization: Bearer <token>
headers = {"Authorization": f"Bearer {token}"}
The password is required.
The password is stored as a hash, never as it was typed.
Passwords must have twelve letters and one digit.
My password manager is on the other laptop.
The secret of the bread is a long rest in the cold.
Secret Santa is on December 20th this year.
The token is refreshed every fifteen minutes.
A token bucket of 100 tokens refills at 10 per second.
The key is under the flower pot by the door.
The API key belongs in the environment, not in the code.
Use a private key per server; never share one.
The keyword argument `key` sorts by name.
primary_key = "customer_id"
foreign_key: customers.customer_id
key = "berth_number"
sort(key=lambda berth: berth.number)
cache_key = f"berth:{number}:{date}"
key_id: ferry-timetable-2024
auth_method: password
auth: none
PasswordAuthentication no
password_field = "new_password_confirmation"
forgot_password_url = "/accounts/password/reset/"
PASSWORD_MIN_LENGTH = 12
MAX_TOKENS = 4096
tokens: 128000
token_type: bearer
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
secretary: Ines Halloran
Tom passed the keyboard to Mira.
passport number field is optional
passage = "Across the strait of Messina"
bypass_cache = "only-on-weekdays"
https://example.org/timetable?from=messina&to=villa
https://user@example.org/repo.git
ssh://git@github.com/ferry/timetable.git
git@github.com:ferry/timetable.git
postgres://localhost:5432/ferry
postgres://ferry@db.internal/ferry
postgres://USER:PASSWORD@HOST:PORT/DB
postgresql://user:${PGPASSWORD}@db.internal/ferry
redis://localhost:6379/0
mongodb://<user>:<password>@cluster0.example.net
jdbc:postgresql://db.internal:5432/ferry
amqp://queue.internal//
http://[::1]:8080/health
https://example.org:8443/@ferry/profile
mailto:ines@example.org
npm install @ferry/timetable@2.1.0
Server=localhost;Database=ferry;Integrated Security=true
ISBN 978-3-16-148410-0
ISBN-13: 9780306406157
call +49 30 901820 or +44 20 7946 0958
order 4111 1111 1111 1112 was refused
invoice 1234567890123456 of March
tracking 1Z999AA10123456784
IBAN DE89 3704 0044 0532 0130 00
the meter reads 0000 1234 5678 9012
1715955293123456 microseconds since the epoch
pi is about 3.14159265358979323846
phone numbers 030 1234567 and 040 7654321
2024-05-17T14:14:53.123456Z
192.168.178.42 answered in 12 ms
fe80::1ff:fe23:4567:890a
00:1B:44:11:3A:B7 is the printer
version 10.15.7-beta.3+build.20240517
sk-learn is scikit-learn's old name
the sk-ateboard and the ya-cht
xoxo, see you on Sunday
AKIA is how their keys begin
eyJust kidding
hf_hub_download("bert-base-uncased", "config.json")
npm_config_registry=https://registry.npmjs.org/
pypi-server listens on 8080
ghp_ is the prefix of a personal token
SG.1 is a street in Lyon
AIzaBerlin is no word
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
ssh-ed25519 is shorter than ssh-rsa
ssh-keygen -t ed25519 -C "ines@example.org"
openssl genrsa -out private.key 4096
a PEM file begins with five dashes and BEGIN PRIVATE KEY
src/weft/operations/remembering.py:120
/usr/lib/python3/dist-packages/cryptography/hazmat/primitives/ciphers/aead.py
com.example.ferry.timetable.TimetableServiceImplementation
test_that_a_password_of_eleven_letters_is_refused_with_a_hint
ThisIsAVeryLongCamelCaseIdentifierNameForATest123
docs/decisions/0016-what-is-read-out-of-a-text.md
kubernetes.io/service-account.name=timetable-reader
arn:aws:iam::123456789012:role/ferry-timetable
projects/ferry-12345/locations/europe-west1/keyRings/main
weft://operator/events/41#a1b2c3d4
receipt:0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b
claude-3-5-sonnet-20241022 and gpt-4o-2024-08-06
sha1, sha256 and blake2b were compared
base64 turns three bytes into four letters
a JWT has three parts: header.payload.signature
password hashing with argon2id, m=65536, t=3, p=4
$argon2id$v=19$m=65536,t=3,p=4
pwd && ls -la
cd "$(pwd)/build"
pwd = Path.cwd()
pass  # nothing to do here
assert token.startswith("gh")
raise Invalid("the api key is missing", hint="set WEFT_MODEL_KEY")
token = "test"
password = ""
password = None
secret: true
client_secret: null
credentials: same-origin
credentials = boto3.Session().get_credentials()
csrf_token = "{{ csrf_token }}"
<input type="password" name="password" autocomplete="current-password">
Enter password for ferry@db.internal:
Basic authentication is off by default
bearer bonds were sold in 1923
the bearer of bad news
access_key_id comes first, then the secret
x-api-key is a header name
The word password means a watchword in old novels.
"token": {"type": "string", "minLength": 20}
"password": {"type": "string", "format": "password"}
password := os.Getenv("DB_PASSWORD")
const apiKey = process.env.API_KEY;
let token = localStorage.getItem("token");
api_key = Variable.get("ferry_api_key")
password = config["database"]["password"]
PGPASSWORD=$DB_PASSWORD psql -h db.internal
secretName: timetable-tls
secretKeyRef: {name: timetable, key: password}
privateKeyPath: /etc/ssl/private/ferry.key
"""


def look_alikes(seed: int = 11) -> list[str]:
    """The same two hundred every time."""
    chance = random.Random(seed)
    made = [line for line in _PLAIN.strip().splitlines() if line.strip()]

    def digest(name: str, what: int) -> str:
        return hashlib.new(name, str(what).encode()).hexdigest()

    for number in range(6):
        made.append(f"commit {digest('sha1', number)} fixed the timetable")
        made.append(f"sha256: {digest('sha256', number)}")
        made.append(f'id = "{uuid.UUID(int=chance.getrandbits(128), version=4)}"')
        made.append(f'ETag: "{digest("md5", number)}"')
        made.append(f"ferry/timetable@sha256:{digest('sha256', 10 + number)}")
        raw = bytes(chance.getrandbits(8) for _ in range(240))
        made.append(f"![quay](data:image/png;base64,{base64.b64encode(raw).decode()})")
    for number in range(3):
        raw = hashlib.sha512(str(number).encode()).digest()
        made.append(f'"integrity": "sha512-{base64.b64encode(raw).decode()}"')
        made.append(f"the berth {digest('sha1', 20 + number)[:7]} was merged into {digest('sha1', 30 + number)[:12]}")
        key = base64.b64encode(
            b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00 " + bytes(chance.getrandbits(8) for _ in range(32))
        )
        made.append(f"ssh-ed25519 {key.decode()} ines@quay")
    return made[:200] if len(made) >= 200 else made
