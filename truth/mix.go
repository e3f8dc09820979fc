package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/arrivals"
	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/sizes"
	"netdyno/internal/work/load"
	"netdyno/test/synthetic"
)

// mixed asks of workloads that vary whether what is sent is what was declared, and whether
// each class has the times that its queue makes.
func mixed(ctx context.Context, p *pipeline) ([]answer, error) {
	answers, err := asDeclared(200_000)
	if err != nil {
		return answers, err
	}
	for _, by := range []contract.WorkBy{contract.WorkSleep, contract.WorkCPU} {
		more, err := queued(ctx, p.bin, by)
		if answers = append(answers, more...); err != nil {
			return answers, err
		}
	}
	return answers, nil
}

// tailed asks whether tails so heavy that they have hardly a variance make identical arms
// look different.
func tailed(context.Context, *pipeline) ([]answer, error) { return heavyTails(1000) }

// declared are loads of 50,000 exchanges/s.
var declared = []struct{ sizes, arrival string }{
	{"lognormal:median=1KiB,sigma=1.6,max=1MiB", "gamma:cv=0.5"},
	{"homa-w3", "gamma:cv=1"},
}

// lateNs is from when on an exchange counts as late here: a twentieth of the mean gap.
const lateNs = 1000

// asDeclared sends n exchanges at 50,000/s, to nowhere, and sets the sizes and the gaps
// between them beside their distributions: those that were due, and those between exchanges
// that were not late. While its thread stands still, as another takes its CPU, a sender
// sends nothing and then what was due meanwhile, so that all gaps lie no nearer than the
// share that was late.
func asDeclared(n int) ([]answer, error) {
	const rate, most = 50_000, 0.02
	var answers []answer
	for _, c := range declared {
		s, err := sizes.Parse(c.sizes)
		if err != nil {
			return answers, err
		}
		a, err := arrivals.Parse(c.arrival)
		if err != nil {
			return answers, err
		}
		setup := contract.Setup{
			Role: contract.Client, Seed: 36, Load: contract.Load{Connections: 1, InFlight: 16, Rate: rate},
			Exchange: contract.Exchange{UpBytes: s.Largest(), DownBytes: 1, UpSizes: s.Table},
		}
		a.Enter(&setup.Load)
		all, err := sentOf(setup, n)
		if err != nil {
			return answers, err
		}
		gapUnit, late := 1e9/rate/draw.GapUnit, all.lateShare()
		for _, of := range []struct {
			what, note string
			got        []float64
			table      contract.Table
			unit, most float64
		}{
			{c.sizes + ", as %d exchanges were sent at %d/s", "", all.bytes, s.Table, 1, most},
			{c.arrival + ", as %d exchanges were due at %d/s", "", all.gaps(false, true), setup.Load.Gaps, gapUnit, most},
			{c.arrival + ", of %d at %d/s those sent within 1 µs", "", all.gaps(true, false), setup.Load.Gaps, gapUnit, most},
			{c.arrival + ", as %d exchanges were sent at %d/s", fmt.Sprintf(", %.2f %% late", 100*late), all.gaps(false, false), setup.Load.Gaps, gapUnit, most + late},
		} {
			d := kolmogorov(of.got, of.table, of.unit)
			answers = append(answers, answer{
				fmt.Sprintf(of.what, n, rate) + ": Kolmogorov distance", fmt.Sprintf("%.4f%s", d, of.note), fmt.Sprintf("≤ %.4g", of.most), d <= of.most,
			})
		}
	}
	return answers, nil
}

// sends are exchanges in the order of sending: how many bytes, when due and when sent, in ns.
type sends struct {
	bytes     []float64
	due, sent []int64
}

func (s sends) late(i int) bool { return s.sent[i]-s.due[i] > lateNs }

func (s sends) lateShare() float64 {
	n := 0
	for i := range s.sent {
		n += oneIf(s.late(i))
	}
	return float64(n) / float64(len(s.sent))
}

// gaps are those between exchanges as they were sent, or due; all, or those with neither end
// late.
func (s sends) gaps(onTime, due bool) []float64 {
	at := s.sent
	if due {
		at = s.due
	}
	var gaps []float64
	for i := 1; i < len(at); i++ {
		if !onTime || !s.late(i) && !s.late(i-1) {
			gaps = append(gaps, float64(at[i]-at[i-1]))
		}
	}
	return gaps
}

// sentOf carries out a load whose exchanges complete at once. Its thread goes before others,
// where it may, but for the 5 % that the kernel keeps for these of a thread that never
// sleeps (sched_rt_runtime_us).
func sentOf(setup contract.Setup, n int) (all sends, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if goFirst(0) == nil {
		defer func() { err = cmp.Or(err, goAsOthers(0)) }()
	}
	l, err := load.New(setup, 1)
	if err != nil {
		return all, err
	}
	l.Start()
	var agenda load.Agenda[*load.Slot]
	ask := func(s *load.Slot) {
		if due, more := s.Next(load.Now()); more {
			agenda.Push(due, s)
		}
	}
	for i := range l.Slots(0) {
		ask(&l.Slots(0)[i])
	}
	for len(all.bytes) < n {
		due, s := agenda.Peek()
		agenda.Pop()
		now := load.Now()
		for now < due {
			now = load.Now()
		}
		all.bytes, all.due, all.sent = append(all.bytes, float64(s.Draw().Up)), append(all.due, due), append(all.sent, now)
		s.Done(now, now, s.Draw().Down)
		ask(s)
	}
	return all, nil
}

// goFirst lets a thread, with those that it starts, run before all that have no real-time
// priority: the truth of a clock cannot be told by one that others stop. It needs the right
// to do so.
func goFirst(thread int) error { return schedule(thread, unix.SCHED_FIFO, 10) }

func goAsOthers(thread int) error { return schedule(thread, unix.SCHED_NORMAL, 0) }

func schedule(thread int, policy, priority uint32) error {
	return unix.SchedSetAttr(thread, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: policy, Priority: priority}, 0)
}

// kolmogorov is the largest difference between the shares of what was seen up to any
// number, in units of a table's, and those of the table.
func kolmogorov(seen []float64, t contract.Table, unit float64) float64 {
	slices.Sort(seen)
	worst := 0.0
	off := func(x float64, upTo int) {
		worst = max(worst, math.Abs(float64(upTo)/float64(len(seen))-shareUpTo(t, x/unit)))
	}
	for i := 0; i < len(seen); {
		j := i
		for j < len(seen) && seen[j] == seen[i] {
			j++
		}
		off(math.Nextafter(seen[i], 0), i)
		off(seen[i], j)
		i = j
	}
	return worst
}

// shareUpTo is the probability of a table's numbers up to x.
func shareUpTo(t contract.Table, x float64) float64 {
	last := 0.0
	for _, s := range t {
		end, low, high := float64(s[0])/contract.TableEnd, float64(s[1]), float64(s[2])
		switch {
		case x < low:
			return last
		case x < high:
			return last + (end-last)*(math.Floor(x)-low+1)/(high-low+1)
		}
		last = end
	}
	return 1
}

// tails are laws of response times, in µs: of the last the variance is not finite, of the one
// before the fourth moment.
var tails = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"lognormal, σ 2", func(r *rand.Rand) float64 { return 100 * math.Exp(2*r.NormFloat64()) }},
	{"Pareto, α 2.5", func(r *rand.Rand) float64 { return 100 * math.Pow(1-r.Float64(), -1/2.5) }},
	{"Pareto, α 1.2", func(r *rand.Rand) float64 { return 100 * math.Pow(1-r.Float64(), -1/1.2) }},
}

// heavyTails judges n studies of two identical arms for each law, whole, from records to
// verdicts, in which the times of every trial are drawn afresh.
func heavyTails(n int) ([]answer, error) {
	const each = 2000 // exchanges of a trial
	var answers []answer
	for i, law := range tails {
		wrong, all := 0, 0
		for seed := range n {
			header, trials, records := synthetic.Run(synthetic.Options{
				Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}}, Connections: []int{50}, Rate: 20_000, Blocks: 6, SD: 0.01,
				Seed: uint64(seed), Primary: []string{metric.ResponseP50, metric.ResponseP99},
			})
			r := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
			for k := range records {
				if err := redraw(&records[k], func() float64 { return law.draw(r) }, each); err != nil {
					return answers, err
				}
			}
			f, err := finding.Find(header, trials, records)
			if err != nil {
				return answers, err
			}
			all++
			wrong += oneIf(different(f))
		}
		answers = append(answers, answer{
			fmt.Sprintf("studies of identical arms whose times are %s that call any of p50 and p99 different", law.name),
			share(wrong, all), "≤ 5 %", atMost(wrong, all, 0.05),
		})
		fmt.Fprintf(os.Stderr, "  %s: %s\n", law.name, share(wrong, all))
	}
	return answers, nil
}

// redraw gives the clients of a trial other times, as many as they had, of n that are drawn.
func redraw(r *record.Record, draw func() float64, n int64) error {
	for i := range r.Workers {
		w := &r.Workers[i]
		if w.Role != contract.Client || w.Result == nil {
			continue
		}
		was, err := hist.Decode(cmp.Or(w.Result.Response, w.Result.Service))
		if err != nil {
			return err
		}
		times := hist.New()
		per := max(1, was.Count()/n)
		for left := was.Count(); left > 0; left -= per {
			times.Record(int64(draw()*float64(time.Microsecond)), min(per, left))
		}
		text, err := times.Encode()
		if err != nil {
			return err
		}
		w.Result.Service = text
		if w.Result.Response != "" {
			w.Result.Response = text
		}
	}
	return nil
}
