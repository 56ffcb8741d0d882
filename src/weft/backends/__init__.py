"""Places to keep logs and graphs. Each implements `weft.ports.Store`; `weft.testing` says whether it is right."""
