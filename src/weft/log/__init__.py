"""The append-only log: what an event is, how it is written down, chained, checked, carried and cited."""
