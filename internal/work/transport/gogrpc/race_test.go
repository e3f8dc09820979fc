//go:build race

package gogrpc

// raced: under the race detector sync.Pool drops what it is given at random,
// so that allocations tell nothing.
const raced = true
