package store_test

import (
	. "example.com/depot/store"
)

func ExampleNew() {
	type row struct{ shelf Shelf }
	r := row{New().All()}
	r.shelf.Heaviest().Label()
	_ = Item{}
}
