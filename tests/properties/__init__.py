"""State machines and properties: the log, two clocks, guards; canonical JSON, the interval rules, words.

`broken.py` holds variants that are wrong on purpose: each machine must fail on them.
"""
