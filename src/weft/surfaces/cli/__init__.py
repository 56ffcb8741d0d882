"""Command line: `main` builds the commands from the operations, `options` their parameters, `printing` their output."""
