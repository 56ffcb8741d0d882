"""The fold: events in, graph changes out. Pure: no search, no model, no clock, no chance.

`folds` says what each kind of event means as moves; `timeline` holds the interval rules; `weave` applies moves to
what stands. The same log gives the same graph, today and after every upgrade.
"""
