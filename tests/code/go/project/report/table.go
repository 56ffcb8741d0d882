package reports

import "example.com/depot/store"

// Table is a writer that knows columns.
type Table struct {
	*Writer
	columns [2]column
}

type column struct{ width int }

func (c column) fit(text string) string { return text }

// NewTable makes one.
func NewTable(from store.Store) (*Table, error) {
	return &Table{Writer: &Writer{store: from}, columns: [2]column{{1}, {2}}}, nil
}

// Row writes a row.
func (t *Table) Row(name string) error {
	text := t.columns[0].fit(name)
	switch from := t.store.(type) {
	case *store.Memory:
		from.All()
	case store.Closing:
		defer from.Close()
	default:
		from.Put(nil)
	}
	return t.Line(text)
}
