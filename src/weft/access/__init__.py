"""Access control: bearer tokens, approvals and the audit log."""
