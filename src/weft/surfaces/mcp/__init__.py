"""MCP over standard input and output.

`server` serves, `tools` describes operations, `arguments` and `caller` settle who asks for what, `answer` bounds and
`render` words what comes back, `wire` carries it.
"""
