package store

import "testing"

func TestMemory(t *testing.T) {
	memory := New()
	cases := []struct {
		name string
		item *Item
	}{
		{"hammer", &Item{Name: "hammer"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := memory.Put(c.item); err != nil {
				t.Fatal(err)
			}
			checked(t, memory)
		})
	}
}

func checked(t *testing.T, s Store) {
	if _, err := s.Get("hammer"); err != nil {
		t.Error(err)
	}
}

// Testing is not a test.
func Testing(t *testing.T) {}
