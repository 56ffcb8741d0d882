"""MCP, on the official SDK.

`server` builds the server and serves it on standard input and output, which `wire` and `lines` carry. `desk` answers
calls, `asking` asks a person for an approval, `progress` tells how far long work is; `resources` and `prompts` are made
of the same calls. `tools` and `find_tool` describe operations; `answer` bounds what comes back, `render` and the files
that are named for what they word put it into words.
"""
