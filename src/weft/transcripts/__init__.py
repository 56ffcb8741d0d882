"""Reads what other programs keep of their conversations: a file in, turns out. Nothing here knows of a store.

Files are read as they are found: half written, rotated, damaged, or in use. A reader streams, keeps within bounds, and
tells what it could not read as `Bad`; it raises only where there is no file to read.
"""
