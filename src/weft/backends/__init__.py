"""Stores of logs and graphs. Each implements `weft.core.ports.Store`; `weft.testing` checks it."""
