"""Installing weft into the configuration of MCP clients, and uninstalling it.

    places    paths of each client's files, as pure functions of platform, environment and home
    clients   the table of clients: server entry, hooks, instructions
    jsonc     parses JSON with comments and keeps the position of every value
    edits     edits such a text and leaves every other byte unchanged
    parts     finds, adds and removes the parts of weft in a file
    launch    the command line that starts this weft
    plan      the changes of installing or uninstalling, computed before anything is written
    files     backup and atomic replacement

The command line asks, prints and reads the environment; nothing here does.
"""
