"""Secrets in texts: found by their form, and taken out before anything is kept. Pure functions of text.

Formats of vendors come from detect-secrets, which is kept up to date by others; what it lacks is in `forms`. Its
detectors of passwords, of private keys and of high entropy are left alone: they tell that a line holds a secret, not
where the secret ends, and take hashes for secrets.
"""

from weft.redaction.finding import find_secrets
from weft.redaction.given import Secret, named_secret
from weft.redaction.redact import redact

__all__ = ["Secret", "find_secrets", "named_secret", "redact"]
