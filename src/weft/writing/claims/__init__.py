"""Claims: who works on what. Kept in the log, so that they hold between processes."""
