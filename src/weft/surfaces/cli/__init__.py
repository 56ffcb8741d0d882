"""The command line: `main` builds commands from the operations, `options` their parameters, `render` their output."""
