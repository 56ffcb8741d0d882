// Package store keeps items.
package store

import (
	"errors"

	tick "example.com/clock"
)

// ErrMissing is what Get gives for what is not there.
var ErrMissing = errors.New("missing")

// Kind is what an item is.
type Kind int

const (
	Tool Kind = iota
	Part
)

// String names a kind.
func (k Kind) String() string {
	if k == Tool {
		return "tool"
	}
	return "part"
}

type (
	// Item is one thing.
	Item struct {
		Name string
		Kind Kind
		kept *entry
	}
	// Shelf is many.
	Shelf []*Item
	// Things is another name for it.
	Things = Shelf
)

// Label is how an item is shown.
func (i *Item) Label() string { return i.Kind.String() + " " + i.Name }

// Heaviest looks at all of them.
func (s Shelf) Heaviest() *Item { return s[0] }

// Store keeps items.
type Store interface {
	// Get finds one.
	Get(name string) (*Item, error)
	Put(item *Item) error
}

// Closing is a store that ends.
type Closing interface {
	Store
	Close() error
}

type entry struct {
	item  *Item
	clock tick.Clock
}

func (e *entry) stamp() { e.clock.Now() }

func init() { register(Tool) }

func init() { register(Part) }

func register(kind Kind) { kinds[kind.String()] = kind }

var kinds = map[string]Kind{}
