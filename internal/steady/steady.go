// Package steady tells whether a load has come to rest: whether its rate, and the CPU
// time that an exchange takes at either end, still change. Rates alone do not tell, since
// an open loop keeps its rate whatever the server's code costs while it is being compiled.
//
// A span of time is cut into equal parts, and a line is fitted to what each of them
// brought. Two questions are asked of its slope, as a share of the mean a second. At the
// end of the declared warm-up: does it show that the load gets faster, or an exchange
// cheaper? Only then the warm-up goes on, so that an arm that is steady at once pays
// nothing. Later, and from the first look on where a study gives a bound: is a change that
// matters, either way, excluded? Nothing less ends a warm-up that was needed.
//
// Source: A. Georges, D. Buytaert and L. Eeckhout, Statistically Rigorous Java Performance
// Evaluation (2007), from whose coefficient of variation it departs: a slow climb has a
// small one (E. Barrett et al., Virtual Machine Warmup Blows Hot and Cold, 2017). That two
// one-sided tests show an equality: D. Schuirmann (1987).
package steady

import (
	"math"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Bound is the change of a rate or a cost, as a share a second, that is none: over a
// window of a second it moves a mean by the 2.5 %.
const Bound = 0.05

// The parts of a span, and Student's t with two degrees of freedom fewer.
const (
	parts = 10
	shows = 3.833 // 99.75 %, as there are three series, and neighbouring parts are somewhat alike
	rests = 3.355 // 99.5 %, as there are up to nine looks
)

// The fewest readings and exchanges of a span from which anything follows.
const (
	leastReadings  = parts
	leastExchanges = 2 * parts
)

// Least is the shortest warm-up that is watched: in a shorter one the scheduler's slices
// are all that there is to see.
const Least = 400 * time.Millisecond

// Times says how long a warm-up takes.
type Times struct {
	Least, Most time.Duration
	Proof       bool // it ends before Most only where the load is shown to rest
}

// Standard is the bound of a warm-up, as a multiple of its declared length, where none is
// given.
const Standard = 10

// Next returns when, after the load's start, to look again after a look, and how far apart
// the readings until then lie.
func (t Times) Next(look time.Duration) (next, step time.Duration) {
	next = min(t.Most, look+look*2/5)
	if look == 0 {
		next = t.Least
	}
	return next, next / 25
}

// Load is what has been read of a load since its start.
type Load struct {
	done []curve                   // exchanges of each client
	cpu  map[contract.Role][]curve // of each worker's processes
}

// curve is an amount that only grows, over ns since the start.
type curve []point

type point struct{ atNs, sum float64 }

// Of returns the load that workers were read under.
func Of(workers []record.Worker) Load {
	l := Load{cpu: map[contract.Role][]curve{}}
	for i := range workers {
		w := &workers[i]
		if !w.Role.Serves() {
			l.done = append(l.done, curveOf(w.Warming, func(r record.Warming) (at, sum int64) { return r.AtNs, r.Exchanges }))
		}
		l.cpu[w.Role] = append(l.cpu[w.Role], curveOf(w.Warming, func(r record.Warming) (at, sum int64) { return r.MeterNs, r.CPUNs }))
	}
	return l
}

// curveOf counts times and amounts from the first reading, at the load's start. A reading
// without a time is left out.
func curveOf(readings []record.Warming, of func(record.Warming) (at, sum int64)) curve {
	var c curve
	var begin, before int64
	for _, r := range readings {
		at, sum := of(r)
		if at == 0 {
			continue
		}
		if len(c) == 0 {
			begin, before = at, sum
		}
		c = append(c, point{float64(at - begin), float64(sum - before)})
	}
	return c
}

// until returns the amount at an instant, straight between readings; false outside them.
func (c curve) until(ns float64) (float64, bool) {
	for i := 1; i < len(c); i++ {
		if from, to := c[i-1], c[i]; ns >= from.atNs && ns <= to.atNs && to.atNs > from.atNs {
			return from.sum + (to.sum-from.sum)*(ns-from.atNs)/(to.atNs-from.atNs), true
		}
	}
	return 0, false
}

// grown returns what curves together grew by in each of n equal parts of a span; false
// where one of them does not cover it.
func grown(curves []curve, fromNs, toNs float64, n int) ([]float64, bool) {
	if len(curves) == 0 {
		return nil, false
	}
	sums := make([]float64, n)
	for _, c := range curves {
		before, ok := c.until(fromNs)
		for i := range sums {
			sum, covered := c.until(fromNs + (toNs-fromNs)*float64(i+1)/float64(n))
			ok = ok && covered
			sums[i] += sum - before
			before = sum
		}
		if !ok {
			return nil, false
		}
	}
	return sums, true
}

// endNs is the last instant, in ns since the start, up to which every client was read.
func (l Load) endNs() float64 {
	end := math.Inf(1)
	for _, c := range l.done {
		if len(c) == 0 {
			return 0
		}
		end = min(end, c[len(c)-1].atNs)
	}
	for _, of := range l.cpu {
		for _, c := range of {
			if len(c) > 0 {
				end = min(end, c[len(c)-1].atNs)
			}
		}
	}
	return end
}

const rate = "rate"

// Change is the slope of a series as a share of its mean a second, and its standard error.
type Change struct {
	Of          string // "rate", "server CPU per exchange", …
	PerS, Error float64
}

// The spans that are looked at: at the first look all but the beginning, in which
// connections, caches and the CPUs' clocks come up, later the second half.
const (
	firstFrom = 0.2
	laterFrom = 0.5
)

// changes returns those of the rate and of what an exchange costs each end, from a share
// of the time on; false where too little was read.
func (l Load) changes(share float64) ([]Change, bool) {
	to := l.endNs()
	from := share * to
	exchanges, ok := grown(l.done, from, to, parts)
	if !ok || !(to > from) || l.readings(from) < leastReadings || total(exchanges) < leastExchanges {
		return nil, false
	}
	partS := (to - from) / parts / 1e9
	all := []Change{changeOf(rate, exchanges, partS)}
	for _, role := range []contract.Role{contract.Server, contract.Hop, contract.Client, contract.Pair} {
		cpu, known := grown(l.cpu[role], from, to, parts)
		costs := make([]float64, len(cpu))
		for i := range costs {
			costs[i] = cpu[i] / exchanges[i]
			known = known && exchanges[i] >= 1
		}
		if known && total(cpu) > 0 {
			all = append(all, changeOf(string(role)+" CPU per exchange", costs, partS))
		}
	}
	return all, true
}

// readings counts those of the client that was read least after an instant.
func (l Load) readings(fromNs float64) int {
	least := math.MaxInt
	for _, c := range l.done {
		n := 0
		for _, p := range c {
			if p.atNs >= fromNs {
				n++
			}
		}
		least = min(least, n)
	}
	return least
}

func total(ys []float64) float64 {
	sum := 0.0
	for _, y := range ys {
		sum += y
	}
	return sum
}

// changeOf fits a line by least squares (Draper and Smith, Applied Regression Analysis,
// section 1.4). The mean must be above 0.
func changeOf(name string, ys []float64, partS float64) Change {
	n := float64(len(ys))
	mean, middle := total(ys)/n, (n-1)/2
	var sxy, sxx, residual float64
	for i, y := range ys {
		dx := float64(i) - middle
		sxy, sxx = sxy+dx*(y-mean), sxx+dx*dx
	}
	slope := sxy / sxx
	for i, y := range ys {
		e := y - mean - slope*(float64(i)-middle)
		residual += e * e
	}
	return Change{name, slope / mean / partS, math.Sqrt(residual/(n-2)/sxx) / mean / partS}
}

// Shows tells whether it shows, at the end of the declared warm-up, that the rate rises or a
// cost falls; told is false
// where too little was read to say.
func (l Load) Shows() (shown, told bool) {
	all, told := l.changes(firstFrom)
	for _, c := range all {
		warming := c.PerS
		if c.Of != rate {
			warming = -c.PerS
		}
		shown = shown || warming > Bound/2 && warming > shows*c.Error
	}
	return shown, told
}

// Rests tells whether a change of Bound and more is excluded, from a share of the time on,
// of the rate and of every cost.
func (l Load) Rests(from float64) bool {
	all, told := l.changes(from)
	for _, c := range all {
		told = told && math.Abs(c.PerS)+rests*c.Error < Bound
	}
	return told
}

// Look decides at a look, the how manieth from 1 on, whether the warm-up is over, and how
// it ended.
func (l Load) Look(t Times, at time.Duration, looks int) (ended record.Steady, over bool) {
	shown, told := l.Shows()
	switch {
	case looks > 1 && l.Rests(laterFrom):
		return record.SteadyLater, true
	case looks == 1 && !t.Proof && !told:
		return record.SteadyUntold, true
	case looks == 1 && !shown && (!t.Proof || l.Rests(firstFrom)):
		return record.SteadyAtOnce, true
	}
	if at < t.Most {
		return "", false
	}
	if l.changing() {
		return record.NeverSteady, true
	}
	return record.SteadyUntold, true
}

// Changes returns those in the second half of the time, of the rate and of every cost;
// false where too little was read.
func (l Load) Changes() ([]Change, bool) { return l.changes(laterFrom) }

// changing tells whether a change is shown whose best estimate is above Bound. One that is
// large by its noise alone is none: a quiet server at a low rate has little else.
func (l Load) changing() bool {
	all, _ := l.changes(laterFrom)
	return slices.ContainsFunc(all, func(c Change) bool { return math.Abs(c.PerS) > max(Bound, rests*c.Error) })
}
