"""The embedded store: one directory, one SQLite file per account, no daemon.

`files` holds the directory, connections, write lock queue, write-ahead log and backup; `schema` the tables; `guards`
compiles viewers and times to SQL; `rows` decodes rows; `read` guarded reads; `search` the word, vector, name and graph
indexes; `write` commits, rebuilds and the view that plans use; `scrub` removes erased content from the files; `store`
puts them together.
"""
