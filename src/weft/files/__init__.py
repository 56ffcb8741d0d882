"""Files on disk: walking a directory, ignore rules, languages, locks, git."""
