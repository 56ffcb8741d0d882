"""Database files: connections, locks, write-ahead log, backup."""
