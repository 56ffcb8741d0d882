"""Conversations: recording turns, importing transcripts, archiving, inbound messages."""
