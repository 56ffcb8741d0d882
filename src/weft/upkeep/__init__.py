"""Keeping a store healthy: doctor, rebuild, backup, log commands, reindex, keys, settings."""
