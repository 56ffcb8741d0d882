// Package clock tells the time.
package clock

import "time"

// Clock tells the time.
type Clock interface{ Now() time.Time }

type system struct{}

func (system) Now() time.Time { return time.Now() }

// System is the clock of the machine.
func System() Clock { return system{} }
