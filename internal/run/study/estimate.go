package study

import (
	"math"
	"time"

	"netdyno/internal/record"
)

// Pace is how fast trials of a fixed amount of work are taken to go: how long
// they last depends on what they measure.
type Pace struct {
	Overhead  time.Duration // of each trial: starting, connecting, verifying, ending
	BytesPerS float64       // payload, both directions together; 0 is DefaultBytesPerS
}

// The pace of an amount of work where nothing better is known. They are round
// numbers of a small machine's loopback: a slower transport takes longer.
const (
	DefaultBytesPerS = 1e9
	exchangesPerS    = 50_000                // all connections together
	exchangeTime     = 50 * time.Microsecond // one after the other on one slot
)

// Estimate says how long trials take.
type Estimate struct {
	Total     time.Duration
	Guessed   int     // trials of a fixed amount in a closed loop, whose time is a guess from what they move
	Exchanges float64 // that those make
	Bytes     float64 // payload that those move, where no codec decides the sizes
}

// EstimateTime returns how long trials take. The trials of one round run at the same time
// and are counted once: 4 trials of 10 s in 2 rounds take 20 s. Machines and links are
// taken to bear a round. A trial that does not decode takes no time: the bench says why
// it cannot run.
func EstimateTime(trials []record.Trial, pace Pace) Estimate {
	if pace.BytesPerS <= 0 {
		pace.BytesPerS = DefaultBytesPerS
	}
	var e Estimate
	seconds := 0.0
	for i, t := range trials {
		if i > 0 && AtOnce(trials[i-1], t) {
			continue
		}
		w, err := Decode(t.Levels)
		if err != nil {
			continue
		}
		seconds += (pace.Overhead + w.Warmup + w.Window).Seconds()
		if w.Load.Amount == 0 {
			if w.WarmupBound { // a study that gives a bound has loads that take it
				seconds += (w.WarmupMost - w.Warmup).Seconds()
			}
			continue
		}
		exchanges := float64(w.Load.Amount) * math.Max(1, w.Load.ActiveShare*float64(w.Load.Connections))
		if w.Load.Rate > 0 {
			seconds += exchanges / w.Load.Rate
			continue
		}
		bytes := exchanges * w.bytesPerExchange()
		e.Guessed++
		e.Exchanges += exchanges
		e.Bytes += bytes
		seconds += w.amountSeconds(exchanges, bytes, pace.BytesPerS)
	}
	// A plan may hold more work than a Duration has nanoseconds for.
	e.Total = time.Duration(math.Min(seconds, math.MaxInt64/2/float64(time.Second)) * float64(time.Second))
	return e
}

// bytesPerExchange is the payload of an exchange, both ways, on average.
func (w Work) bytesPerExchange() float64 {
	up, down := float64(w.Exchange.UpBytes), float64(w.Exchange.DownBytes)
	if len(w.Exchange.UpSizes) > 0 {
		up = w.Exchange.UpMeanBytes
	}
	if len(w.Exchange.DownSizes) > 0 {
		down = w.Exchange.DownMeanBytes
	}
	return up + down
}

// amountSeconds is the longest of what a fixed amount of work takes: to move its
// bytes, to make its exchanges, and on each connection one after the other with
// round trips and think times.
func (w Work) amountSeconds(exchanges, bytes, bytesPerS float64) float64 {
	if rate := w.Link.RateBitsPerS / 8; rate > 0 {
		bytesPerS = math.Min(bytesPerS, rate)
	}
	turns := float64(w.Load.Amount) / math.Max(1, float64(w.Load.InFlight))
	turn := (exchangeTime + 2*w.Link.Delay).Seconds() + float64(w.Load.ThinkNs)/1e9
	return max(bytes/bytesPerS, exchanges/exchangesPerS, turns*turn)
}
