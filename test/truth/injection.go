package truth

import (
	"math"
	"slices"
	"time"
)

// Injection is what a relay adds, known beforehand. The zero value adds nothing.
type Injection struct {
	Common    time.Duration // of an exchange, both directions together
	Rare      time.Duration // of every RareEvery-th exchange instead
	RareEvery int64         // 0 for none
	Jitter    float64       // share of the delay by which it varies, evenly, to both sides

	Uncounted int64 // exchanges, from the first, that the relay's account leaves out

	StallAt int64         // the exchange, from 1, with which a stall begins; 0 for none
	Stall   time.Duration // for which nothing passes in either direction
}

// Turn is how long the bytes of one exchange are held on their ways.
type Turn struct{ Up, Down time.Duration }

// upShare is the way up's part of a delay. It is not half, so that a mistake of
// direction shows in a stall.
const upShare = 0.6

// Turn returns the delay of exchange n, from 1 in the order in which the relay
// sees them begin.
func (i Injection) Turn(n int64) Turn {
	whole := i.delay(n)
	up := time.Duration(upShare * float64(whole))
	return Turn{up, whole - up}
}

func (i Injection) delay(n int64) time.Duration {
	base := i.Common
	if i.RareEvery > 0 && n%i.RareEvery == 0 {
		base = i.Rare
	}
	// Multiples of the golden ratio fill an interval evenly, so that any run of
	// exchanges has the same distribution.
	// Source: Knuth, The Art of Computer Programming, vol. 3, section 6.4.
	_, even := math.Modf(float64(n) * (math.Sqrt(5) - 1) / 2)
	return time.Duration(float64(base) * (1 + i.Jitter*(2*even-1)))
}

// Percentile returns the delay at or below which the share q (0…1) of all
// exchanges lies.
func (i Injection) Percentile(q float64) time.Duration {
	const many = 20_000 // a multiple of every RareEvery in use
	all := make([]time.Duration, many)
	for n := range all {
		all[n] = i.delay(int64(n) + 1)
	}
	return percentile(all, q)
}

// percentile sorts all and returns its q-quantile: the least value with at
// least that share at or below it.
func percentile(all []time.Duration, q float64) time.Duration {
	slices.Sort(all)
	rank := int(math.Ceil(q * float64(len(all))))
	return all[max(rank, 1)-1]
}

// Shortest returns the least delay of any exchange.
func (i Injection) Shortest() time.Duration {
	least := i.Common
	if i.RareEvery > 0 {
		least = min(least, i.Rare)
	}
	return time.Duration(float64(least) * (1 - i.Jitter))
}
