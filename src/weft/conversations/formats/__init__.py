"""Readers of conversations that other programs keep: one file in, turns out. No store is involved.

Files may be half written, rotated, damaged or in use. Readers stream, stay within bounds and report unreadable places
as `Unreadable`; they raise only if the file itself cannot be opened.
"""
