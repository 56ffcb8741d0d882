"""The graph views as operations of their own: seeds, expansion, merging."""
