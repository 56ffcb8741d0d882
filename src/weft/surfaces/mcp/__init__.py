"""MCP server, on the official SDK.

`server` builds the server and serves it on standard input and output (`stdio`, `jsonrpc`); `dispatch` answers calls,
`asking` asks the client's user for an approval, `progress` reports on long work; `resources` and `prompts` are made
from the same calls. `tools` and `find_tool` describe operations; `answer` keeps answers within their budget.
"""
