"""Settings from `weft.toml` and `WEFT_*`: declared, read, validated."""
