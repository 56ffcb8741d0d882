package store

func path(name string) string { return "/" + clean(name) }

func clean(name string) string { return name }
