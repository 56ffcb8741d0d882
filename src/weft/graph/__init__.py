"""Projection of the log: events in, graph changes out. Deterministic: no search, no model, no clock, no randomness.

`folds` maps each kind of event to moves; `timeline` holds the interval rules; `apply_moves` applies moves to the
current rows. The same log gives the same graph, today and after every upgrade.
"""
