"""Writing weft into the configuration of agents' programs, and taking it out again.

    places    where each program keeps its files, as pure functions of platform, environment and home
    clients   what is written for each program: server entry, hooks, instructions
    jsonc     reads JSON with comments, keeping the place of every value
    edits     changes such a text and leaves every other byte where it was
    block     the marked block in a text file
    launch    the command line that starts this weft again
    plan      what installing or uninstalling would change, before anything is written
    files     backup and atomic replacement

Nothing here asks, prints or reads the environment: the command line does.
"""
