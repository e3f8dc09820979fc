package gogrpc

import (
	"google.golang.org/grpc/mem"

	"netdyno/internal/work/load"
)

// headroom is the size of a tier above its power of two. The library clears the
// whole capacity of a tier at each use, so a 4 MiB block with its header must not
// take a buffer of 8 MiB.
const headroom = 1 << 10

// poolOf returns the pool of option buffer_pool; nil keeps the library's own.
func poolOf(o load.Options) mem.BufferPool {
	switch o.Text("buffer_pool") {
	case "tiered":
		return tiered()
	case "none":
		return mem.NopBufferPool{}
	}
	return nil
}

// tiered has the tiers of the library's pool and one for each power of two
// from 64 KiB to 8 MiB.
func tiered() mem.BufferPool {
	sizes := []int{256, 4 << 10, 16 << 10, 32 << 10}
	for n := 64 << 10; n <= 8<<20; n *= 2 {
		sizes = append(sizes, n+headroom)
	}
	return mem.NewTieredBufferPool(sizes...)
}
