"""The write path: from drafts to committed events. Redaction, encryption, approval, outbox, import."""
