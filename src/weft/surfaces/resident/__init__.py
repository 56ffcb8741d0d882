"""A resident is a process of weft that stays, such as `weft mcp`: a hook asks it instead of loading everything anew."""
