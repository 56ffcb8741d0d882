package store

func path(name string) string { return `C:\` + clean(name) }

func clean(name string) string { return name }
