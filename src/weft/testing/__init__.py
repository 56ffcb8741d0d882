"""What a backend needs to prove itself, shipped so that backends outside this repository can use it.

    from weft.testing.store import StoreContract

    class TestMyStore(StoreContract):
        def make_store(self, clock):
            return MyStore(..., clock=clock)

`store` puts the contract of `weft.ports.Store` together from one file per subject; `scribe` writes; `clock` stands
still until told; `viewers` names who looks. The contracts need pytest; `clock`, `scribe` and `viewers` need nothing.
"""
