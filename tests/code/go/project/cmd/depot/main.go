// Command depot prints what is kept.
package main

import (
	"os"

	"example.com/depot/report"
	"example.com/depot/store"
	_ "example.com/depot/tools/lint"
	"example.com/vendored/flags"
)

var memory = store.New()

func main() {
	store := open(flags.Parse(os.Args))
	table, err := reports.NewTable(store)
	if err != nil {
		fail(err)
	}
	if err := table.Row("hammer"); err != nil {
		fail(err)
	}
	if table := columns(); len(table) < reports.Limit {
		print(table)
	}
	table.Line("nail")
}

func open(_ any) store.Store {
	build := func() *store.Memory { return memory }
	made := build()
	made.Put(&store.Item{Kind: store.Kind(1)})
	return made
}

func columns() []string { return nil }

func fail(err error) {
	println(err.Error())
	os.Exit(1)
}
