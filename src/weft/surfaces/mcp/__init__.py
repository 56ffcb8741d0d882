"""MCP over standard input and output, and as HTTP mounts it.

`server` serves, `desk` answers calls, `tools` describes operations and `find_tool` reaches those that are not listed,
`answer` bounds and `render` words what comes back, `wire` carries it.
"""
