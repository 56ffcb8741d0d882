"""Crashes, failing disks and damaged files: after reopening, the old state, the new one, or a clear error."""
