"""Reading documents: what sections a file has, and what passages on one topic each.

Nothing here knows of stores, projects or nodes: bytes come in, lines and words go out.
"""
