// Package lint is in a module of its own, and uses the other one.
package lint

import (
	"example.com/depot/store"
	"github.com/outside/kit"
)

// Check looks at every item of a shelf.
func Check(shelf store.Shelf) []string {
	var wrong []string
	for _, item := range shelf {
		if kit.Bad(item.Label()) {
			wrong = append(wrong, item.Name)
		}
	}
	return wrong
}
