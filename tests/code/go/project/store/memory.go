package store

import (
	"iter"
	"sync"

	tick "example.com/clock"
)

var _ Store = (*Memory)(nil)

// Memory is a store that forgets.
type Memory struct {
	sync.Mutex
	log
	entries map[string]*entry
	index   List[Item]
	hooks   []func(*Item) *entry
}

type log struct{ lines []string }

func (l *log) write(line string) { l.lines = append(l.lines, line) }

// New makes an empty one.
func New() *Memory {
	return &Memory{entries: make(map[string]*entry)}
}

// Get finds one.
func (m *Memory) Get(name string) (*Item, error) {
	m.Lock()
	defer m.Unlock()
	if found, ok := m.entries[name]; ok {
		found.stamp()
		return found.item, nil
	}
	m.write(path(name))
	return nil, ErrMissing
}

// Put keeps one.
func (m *Memory) Put(item *Item) error {
	made := &entry{item: item, clock: tick.System()}
	m.entries[item.Label()] = made
	m.index.Add(*item)
	for _, hook := range m.hooks {
		hook(item).stamp()
	}
	return nil
}

// All is what there is.
func (m *Memory) All() Things {
	var all Things
	for _, e := range m.entries {
		all = append(all, e.item)
	}
	return all
}

// Items goes over what there is.
func (m *Memory) Items() iter.Seq[*Item] {
	return func(yield func(*Item) bool) { yield(m.entries["first"].item) }
}

func labels(m *Memory) (all []string) {
	for item := range m.Items() {
		all = append(all, item.Label())
	}
	return all
}

// List is a list of anything.
type List[T any] struct{ items []T }

// Add puts one more in.
func (l *List[T]) Add(item T) { l.items = append(l.items, item) }

// Each calls for every one of them.
func Each[T interface{ Label() string }](items []T, call func(string)) {
	for _, item := range items {
		call(item.Label())
	}
}
