"""Detection and redaction of secrets before anything is stored. Pure functions of text.

Vendor formats come from detect-secrets; `forms` adds others. Its detectors of passwords, private keys and high entropy
are not used: they report lines, not spans, and take hashes for secrets.
"""

from weft.text.redaction.find import find_secrets, redact
from weft.text.redaction.named_values import Secret, named_secret

__all__ = ["Secret", "find_secrets", "named_secret", "redact"]
