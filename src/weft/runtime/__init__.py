"""One call of an operation: its context, arguments, settings, background jobs, audit and statistics."""
