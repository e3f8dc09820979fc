package workload

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/run/study"
	"netdyno/internal/traffic"
)

// begins is the stream of a seed that says at which moment a replay begins: none of those
// that workers draw from.
const begins = 1 << 32

// replay makes a trial's load the recorded traffic: from which moment on, and at which
// rate its requests come in the window.
func (w Workload) replay(work *study.Work, seed uint64) error {
	speed := work.Speed
	if speed == 0 {
		speed = 1
	}
	window, warmup := time.Duration(float64(work.Window)*speed), time.Duration(float64(work.Warmup)*speed)
	from, stretch, err := w.begin(seed, int64(warmup), int64(window))
	if err != nil {
		return err
	}
	rate := stretch.rate() * speed
	if rate > 1e9 {
		return fmt.Errorf("speed: the recorded traffic would come at %.3g/s; expected at most 1e9/s", rate)
	}
	work.Load.Rate, work.Load.Arrival, work.Load.GapsCV = rate, contract.Recorded, stretch.cv()
	work.Load.Trace = &contract.Trace{
		File: w.TraceFile, Begins: w.Trace.Begins, FromNs: from, Speed: speed, SpanNs: w.Trace.SpanNs, Recorded: w.Trace.Requests,
	}
	if work.Load.Trace.Times = work.Times != ""; !work.Load.Trace.Times {
		work.Exchange.UpMeanBytes, work.Exchange.DownMeanBytes = stretch.means(work.Exchange)
	}
	return nil
}

// EnterTimes makes a trial's exchanges come when the recorded traffic's requests came,
// whatever these were.
func (w Workload) EnterTimes(work *study.Work, seed uint64) error { return w.replay(work, seed) }

// begin draws from which moment on a trial replays, in ns of the recording, and reads what
// comes in its window. Where the window would be silent, which says nothing, it is drawn
// anew; of a recording that is mostly silent it is moved to the next request.
func (w Workload) begin(seed uint64, warmup, window int64) (from int64, stretch gaps, err error) {
	const draws = 16
	room := max(0, w.Trace.SpanNs-(warmup+window))
	for n := range uint64(draws) {
		if room > 0 {
			from = int64(draw.At(draw.At(seed, begins), n) % uint64(room))
		}
		stretch, err = w.gapsOf(from+warmup, from+warmup+window)
		if err != nil || room == 0 || stretch.n > 0 {
			return from, stretch, err
		}
	}
	r, err := w.Trace.From(from + warmup)
	if err != nil {
		return from, stretch, err
	}
	next, err := r.Next()
	if err != nil { // the last request is in every stretch that reaches the end
		return from, stretch, err
	}
	from = min(max(0, next.AtNs-warmup-window/2), room)
	stretch, err = w.gapsOf(from+warmup, from+warmup+window)
	return from, stretch, err
}

// gaps are the times between requests of a stretch, and their bytes.
type gaps struct {
	up, down     float64
	n            int64
	sum, squares float64 // ns
	lasts        float64 // the stretch, ns
	mean         float64 // of the whole trace, ns
}

// gapsOf reads the requests of a stretch; after the last one comes the first.
func (w Workload) gapsOf(from, to int64) (gaps, error) {
	g := gaps{lasts: float64(to - from), mean: float64(w.Trace.SpanNs) / float64(max(1, w.Trace.Requests-1))}
	const most = 1 << 20 // more say nothing new of a rate
	last, offset := int64(-1), int64(0)
	if from > w.Trace.SpanNs {
		offset = from / (w.Trace.SpanNs + int64(g.mean) + 1) * (w.Trace.SpanNs + int64(g.mean) + 1)
	}
	r, err := w.Trace.From(from - offset)
	for err == nil && g.n < most {
		var x traffic.Request
		x, err = r.Next()
		if errors.Is(err, io.EOF) {
			offset += w.Trace.SpanNs + max(1, int64(g.mean))
			r, err = w.Trace.From(0)
			continue
		}
		at := x.AtNs + offset
		if err != nil || at >= to {
			break
		}
		if last >= 0 {
			gap := float64(at - last)
			g.n, g.sum, g.squares = g.n+1, g.sum+gap, g.squares+gap*gap
		}
		last = at
		g.up, g.down = g.up+float64(x.Up), g.down+float64(x.Down)
	}
	if g.n == most {
		g.lasts = g.sum
	}
	return g, err
}

// rate is requests per second of the recording; that of the whole where the stretch has
// next to none.
func (g gaps) rate() float64 {
	if g.n < 2 || g.lasts <= 0 {
		return 1e9 / max(1, g.mean)
	}
	return float64(g.n+1) / g.lasts * 1e9
}

// means are the mean sizes in the stretch; those of the whole where it has next to none.
func (g gaps) means(whole contract.Exchange) (up, down float64) {
	if g.n < 2 {
		return whole.UpMeanBytes, whole.DownMeanBytes
	}
	return g.up / float64(g.n+1), g.down / float64(g.n+1)
}

// cv is the gaps' coefficient of variation; 0 where there are too few to tell.
func (g gaps) cv() float64 {
	if g.n < 2 || g.sum == 0 {
		return 0
	}
	mean := g.sum / float64(g.n)
	return math.Sqrt(max(0, g.squares/float64(g.n)-mean*mean)) / mean
}
