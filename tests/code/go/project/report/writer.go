// Package reports is not called as its folder.
package reports

import (
	"fmt"
	"io"

	"example.com/depot/store"
)

// Limit is how long a line may be.
const Limit = 80

// Writer writes lines about what is in a store.
type Writer struct {
	out   io.Writer
	store store.Store
}

// Line writes one line.
func (w *Writer) Line(name string) error {
	item, err := w.store.Get(name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.out, item.Label())
	return err
}
