//go:build race

package goconnect

// raced says that the race detector is on: it has sync.Pool drop things at
// random, so that allocations cannot be counted.
const raced = true
