"""A hundred and twenty harmless lines of everyday code and documents: lock files, types, shells, styles, numbers.

Written before the rules were tuned on anything, and kept as they were.
"""

from __future__ import annotations

import base64
import hashlib
import random

_PLAIN = r"""
token: string
token?: string | undefined;
secret: Optional[str]
secret: Optional[str] = None,
password: str
password: str | None = None
password: SecretStr = Field(min_length=8)
api_key: ${API_KEY}
api_key: str = Field(..., description="The key of the caller")
token = get_token()
token = await fetchAccessToken(client, { scope: "berths" });
password=os.environ["DB_PASSWORD"]
password=os.getenv("DB_PASSWORD", "")
the token is invalid
the token is a3 or older
the password is required
the api key is missing
the secret is rotated every 30days
https://host:8080@10:30
docker run -p 8080:80 nginx
docker run -p 127.0.0.1:5432:5432 --name pg postgres:16
docker run -u 1000:1000 -v "$PWD:/work" builder:v2
docker exec -u postgres db psql
mkdir -p /srv/ferry2024/uploads
ssh -p 2222 ines@quay.example.org
nmap -p1-65535 10.0.0.7
cp -pR build1 build2
curl -u "$USER:$PASS" https://example.org
curl -u ines https://example.org/timetable
mysql -u root -p ferry < dump2024.sql
mysql -p"$MYSQL_PWD" -h db1.internal
sshpass -p "$SSH_PASS" ssh ines@quay
sshpass -f /run/secrets/ssh ssh ines@quay
psql --no-password -h db1.internal
deploy --token "$DEPLOY_TOKEN" --region eu-west-1
deploy --password-stdin < password.txt
login --password <password> --user <name>
The --token option takes a token.
--password PASSWORD   password of the user (default: ask)
--api-key TEXT  Key for the service  [env var: FERRY_API_KEY]
parser.add_argument("--password", default=None, help="password of the user")
parser.add_argument("--token", type=str, required=True)
ENV PATH /usr/local/bin:$PATH
ENV PYTHON_VERSION 3.12.4
ARG NPM_TOKEN
ENV NPM_TOKEN ${NPM_TOKEN}
$env:PATH = "C:\Program Files\Git\bin;$env:PATH"
$env:API_KEY = $key
<password></password>
<password>${env.MAVEN_PASSWORD}</password>
<label for="password">Password</label>
<Password minLength={12} onChange={setPassword} />
<add key="PasswordLength" value="12" />
<add key="Theme" value="Solarized2024" />
<property name="password" value="${jdbc.password}"/>
CREATE USER ines IDENTIFIED BY :password
ALTER TABLE users ADD COLUMN password_hash VARCHAR(255) NOT NULL;
SELECT token, expires_at FROM sessions WHERE token = $1
UPDATE users SET password = crypt(:new, gen_salt('bf', 12))
INSERT INTO tokens (token, kind) VALUES (?, ?)
Cookie: theme=dark; lang=en
Set-Cookie: lang=de; Path=/; Max-Age=31536000
Cookie: <name>=<value>
"auth": "oauth2"
"auth": {"type": "basic"}
machine learning needs data, login is optional
a machine with a login and a password prompt
cookie: sessionid
type Token = { kind: TokenKind; text: string };
interface Credentials { username: string; password: string }
const token = jwt.sign(payload, secret, { expiresIn: "15m" });
const secret = new TextEncoder().encode(env.SECRET);
func NewClient(token string, opts ...Option) (*Client, error)
let token: Token = lexer.next_token()?;
pub struct Login { pub password: String, pub attempts: u32 }
private final String password = config.getString("db.password");
std::string token = tokens.at(i + 1);
token=Token(kind=NAME, text="x1", start=12)
tokens = [Token.STRING_2, Token.INDENT]
token = self.tokens[self.pos + 1]
token: ${{ secrets.GITHUB_TOKEN }}
password: !vault |
password: *db_password
secret: {{ lookup('env', 'SECRET2') }}
token = "access_token"
secret: "webhook-secret-name"
access_token = models.CharField(max_length=255)
api_key = "OPENAI_API_KEY"
client_secret = sensitive(var.client_secret_2)
token_url = "https://login.example.org/oauth2/v2.0/token"
<path d="M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2zm0 18c-4.41 0-8-3.59-8-8z"/>
.card{color:#a1b2c3;background:#0f172a80;transform:translate3d(0,-4px,0)}
@media (min-width:768px) and (max-width:1023.98px){.grid-cols-2-md-3{display:grid}}
--color-primary-500: oklch(62.3% 0.214 259.815);
font-family: "Inter var", ui-sans-serif; /* U+0025-00FF, U+0131, U+0152-0153 */
ISBN 0-306-40615-2 and 978-0-306-40615-7
IBAN GB29 NWBK 6016 1331 9268 19, BIC NWBKGB2L
order no. 2024-000123-4567-89 shipped on 2024.05.17
call 0800.555.0199.1234 or (030) 901-820
1700.0000.0000.0001 is no version
build 4.12.0-rc.1+exp.sha.5114f85
timestamps: 1700000000000, 1700000000123, 1700000000456
10_000_000 rows, 1_234_567_890_123_456 bytes
https://example.org/a?sig=none&page=2
https://example.org/@ferry/p/12:30
https://fonts.googleapis.com/css2?family=Inter:wght@400;600
https://registry.npmjs.org/@types/node/-/node-20.1.0.tgz
scp build.tar ines@quay:/srv/ferry
git clone git://example.org:9418/ferry@v2
sqlite:///home/ines/data.db?mode=ro
"""


def everyday(seed: int = 13) -> list[str]:
    """The same hundred and twenty every time."""
    chance = random.Random(seed)

    def raw(length: int) -> bytes:
        return bytes(chance.getrandbits(8) for _ in range(length))

    def coded(length: int) -> str:
        return base64.b64encode(raw(length)).decode()

    made = [line for line in _PLAIN.strip().splitlines() if line.strip()]
    made += [
        f"golang.org/x/text v0.3.0 h1:{coded(32)}",
        f"golang.org/x/text v0.3.0/go.mod h1:{coded(32)}",
        f'checksum = "{hashlib.sha256(b"crate").hexdigest()}"',
        f'"integrity": "sha256-{coded(32)}"',
        f"FROM nginx:1.27@sha256:{hashlib.sha256(b'layer').hexdigest()}",
        f"--hash=sha256:{hashlib.sha256(b'wheel').hexdigest()}",
        f"src/lib.rs:{hashlib.sha1(b'blob').hexdigest()}",
        f"nonce-{coded(18)}",
        "The documented example is " + "AK" + "IA" + "IOSFODNN7EXAMPLE.",
        f"data:font/woff2;base64,{coded(600)}",
    ]
    return made
