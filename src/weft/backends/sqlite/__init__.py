"""The embedded store: one directory, one SQLite file per account, no daemon.

`directory` says what a store looks like on disk; `schema` draws the tables; `connection` opens files and translates
errors; `guards` compiles viewers and moments to SQL; `rows` reads versions; `apply` writes a batch; `view` is what
plans see inside the lock; `words` is the text index; `rebuild` folds again beside what stands; `backup` copies an
account elsewhere; `store` puts them together.
"""
