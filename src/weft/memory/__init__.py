"""The front door: `open()`, `Memory`, and the steps around every call."""
