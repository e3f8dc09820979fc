// Package draw is what every worker draws from a trial's seed, to the bit, as contract/DRAWS.md
// specifies it: sizes, and when exchanges are due. Values are functions of
// their place alone, so that any goroutine may ask for any of them in any order.
package draw

import "netdyno/internal/contract"

// The streams of a seed.
const (
	Up      = 1
	Down    = 2
	Gaps    = 3
	Classes = 4
	Keys    = 5
	Work    = 6
	Picks   = 7 // of rows
	UUIDs   = 8
	Texts   = 9 // {random8}
)

// At returns output number n, from 0, of splitmix64 that begins at state (Steele, Lea,
// Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
func At(state, n uint64) uint64 {
	z := state + (n+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Drawer draws from a table. It never changes.
type Drawer struct {
	base     uint64 // state at which the stream begins
	guide    []uint16
	segments []segment
}

type segment struct{ end, low, span uint64 }

// guideBits is the number of a draw's leading bits by which the guide finds its segment,
// or one shortly before it.
const guideBits = 10

// NewDrawer returns what draws from a table, which must be one that its Check passes.
func NewDrawer(t contract.Table, seed, stream uint64) *Drawer {
	d := &Drawer{base: At(seed, stream-1), guide: make([]uint16, 1<<guideBits)}
	for _, s := range t {
		d.segments = append(d.segments, segment{uint64(s[0]), uint64(s[1]), uint64(s[2]-s[1]) + 1})
	}
	at := 0
	for g := range d.guide {
		for d.segments[at].end <= uint64(g)<<(32-guideBits) {
			at++
		}
		d.guide[g] = uint16(at)
	}
	return d
}

// Draw returns number n of the stream in a few ns.
func (d *Drawer) Draw(n uint64) int64 {
	u := At(d.base, n)
	at := d.guide[u>>(64-guideBits)]
	for d.segments[at].end <= u>>32 {
		at++
	}
	s := &d.segments[at]
	return int64(s.low + (u&0xffffffff)*s.span>>32)
}
