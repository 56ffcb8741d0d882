"""Conformance suites for backends, shipped for backends outside this repository too.

    from weft.testing.store import StoreContract

    class TestMyStore(StoreContract):
        def make_store(self, clock):
            return MyStore(..., clock=clock)

`store` joins the contract of `weft.core.ports.Store` from one file per subject; `scribe` writes events; `clock` is a
manual clock; `viewers` are viewers with different rights. The contracts need pytest, the others nothing.
"""
