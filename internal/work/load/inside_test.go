package load

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"netdyno/internal/contract"
)

// simulate drives every slot of a load on a clock of its own: warm-up from 0 to
// from, a window to to, and what is in flight is drained. takes draws service times
// in ns. It returns the result.
func simulate(t *testing.T, plan contract.Load, window span, seed uint64, takes func(*rand.Rand) int64) contract.Result {
	t.Helper()
	from, to := window.from, window.to
	setup := setupOf(plan)
	setup.Seed = seed
	l, err := New(setup, 1)
	if err != nil {
		t.Fatal(err)
	}
	const epoch = 1 << 40 // 0 is no instant
	l.startNs.Store(epoch)
	random := rand.New(rand.NewPCG(seed, 7))
	type flight struct {
		slot      *Slot
		sent, end int64
	}
	var agenda Agenda[flight]
	next := func(s *Slot, now int64) {
		if due, more := s.Next(now); more {
			sent := max(due, now)
			end := sent + takes(random)
			agenda.Push(end, flight{s, sent, end})
		}
	}
	for i := range l.slots {
		next(&l.slots[i], epoch)
	}
	opened, closed := false, false
	for agenda.Len() > 0 {
		at, f := agenda.Peek()
		if !opened && at > epoch+from {
			l.Open(epoch + from)
			opened = true
		}
		if !closed && at > epoch+to {
			l.End(epoch + to)
			closed = true
		}
		agenda.Pop()
		if closed && f.sent > epoch+to {
			if f.slot.pending.Load() > epoch+to {
				f.slot.Cancel() // it waited for its due time when the window closed
			} // else it was late
			continue
		}
		f.slot.Done(f.sent, at, 30)
		next(f.slot, at)
	}
	if !closed {
		l.End(epoch + to)
	}
	r, err := l.Result()
	if err != nil || r.Inside == nil {
		t.Fatalf("result %+v, %v; want what fell inside the window", r, err)
	}
	return r
}

const ms, second = int64(1e6), int64(1e9)

func constant(ns int64) func(*rand.Rand) int64 { return func(*rand.Rand) int64 { return ns } }

// Closed loops whose slots keep step: a count of completions is off by up to one
// exchange for each slot.
func TestARateOfConstantTimesHasNoError(t *testing.T) {
	for _, c := range []struct {
		service, window, think int64
		slots                  int
	}{
		{400 * ms, second, 0, 10}, {700 * ms, second, 0, 10}, {1200 * ms, second, 0, 10}, {1200 * ms, 500 * ms, 0, 3},
		{2000 * ms, 10 * second, 0, 1}, {ms, second, 0, 50}, {300 * ms, second, 400 * ms, 7}, {100 * ms, 4 * second, 3 * second, 2},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			for phase := range int64(10) {
				from := 3*second + phase*77*ms
				r := simulate(t, contract.Load{Connections: c.slots, ThinkNs: c.think}, span{from, from + c.window}, 1, constant(c.service))
				rate := r.Inside.Cycles / float64(c.window) * 1e9
				want := float64(c.slots) * 1e9 / float64(c.service+c.think)
				if math.Abs(rate/want-1) > 1e-4 { // a histogram's mean has three digits
					t.Errorf("from %d ms: %v/s, want %v", from/ms, rate, want)
				}
			}
		})
	}
}

// Open loops whose slots wait for their schedules, and one that cannot keep up.
func TestAnOpenLoopsRateIsItsSchedules(t *testing.T) {
	for _, c := range []struct {
		rate, want float64
		slots      int
		service    int64
	}{{1.5, 1.5, 1, ms}, {2.4, 2.4, 1, 90 * ms}, {10.5, 10.5, 1, 90 * ms}, {10.5, 10.5, 5, 90 * ms}, {2, 2, 100, 50 * ms}, {100, 25, 10, 400 * ms}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			for phase := range int64(10) {
				from := second + phase*77*ms
				r := simulate(t, contract.Load{Connections: c.slots, Rate: c.rate}, span{from, from + second}, 1, constant(c.service))
				if math.Abs(r.Inside.Cycles/c.want-1) > 2e-3 { // the first cycle's beginning is not known
					t.Errorf("from %d ms: %v/s, want %v", from/ms, r.Inside.Cycles, c.want)
				}
				if math.Abs(r.Inside.Due/c.rate-1) > 1e-9 {
					t.Errorf("from %d ms: %v fell due, want %v", from/ms, r.Inside.Due, c.rate)
				}
			}
		})
	}
}

// What fell due of a random schedule is what its clients were told to send, and not
// its mean.
func TestARandomScheduleIsComparedWithWhatItDrew(t *testing.T) {
	for seed := range uint64(20) {
		r := simulate(t, contract.Load{Connections: 8, Rate: 50, Arrival: contract.Poisson}, span{second, 3 * second}, seed, constant(ms))
		if math.Abs(r.Inside.Cycles-r.Inside.Due) > 0.5 {
			t.Errorf("seed %d: %v completed of %v that fell due", seed, r.Inside.Cycles, r.Inside.Due)
		}
	}
}

func TestInsideVectors(t *testing.T) {
	var vectors []struct {
		Name      string          `json:"name"`
		FromNs    int64           `json:"from_ns"`
		ToNs      int64           `json:"to_ns"`
		Exchanges [][3]int64      `json:"exchanges"`
		Inside    contract.Inside `json:"inside"`
	}
	if err := readVectors("inside.json", &vectors); err != nil || len(vectors) < 8 {
		t.Fatalf("%d vectors, %v; expected at least 8", len(vectors), err)
	}
	for _, v := range vectors {
		l := newLoad(t, contract.Load{Connections: len(v.Exchanges)})
		l.startNs.Store(1)
		l.Open(v.FromNs)
		for _, drained := range []bool{false, true} {
			if drained {
				l.End(v.ToNs)
			}
			for i, x := range v.Exchanges {
				if s := &l.Slots(i)[0]; x[2] > v.ToNs == drained {
					s.free = x[0]
					s.Done(x[1], x[2], 30)
				}
			}
		}
		r, err := l.Result()
		if err != nil || r.Inside == nil {
			t.Fatalf("%s: %+v, %v", v.Name, r, err)
		}
		if math.Abs(r.Inside.Exchanges-v.Inside.Exchanges) > 2e-9 || math.Abs(r.Inside.Cycles-v.Inside.Cycles) > 2e-9 || r.Inside.IdleNs != v.Inside.IdleNs {
			t.Errorf("%s: %+v, want %+v", v.Name, *r.Inside, v.Inside)
		}
	}
}

const runs = 20

// holds makes six blocks of twenty cycles a slot, of a mean service time of 400 ms, and
// tells whether the 95 % interval of their mean rate holds the truth.
func holds(t *testing.T, plan contract.Load, run uint64, takes func(*rand.Rand) int64) bool {
	const blocks, quantile = 6, 2.571 // of Student's t with 5 degrees of freedom
	cycle := 400*ms + plan.ThinkNs
	truth := 20 * float64(plan.Connections)
	sum, squares := 0.0, 0.0
	for block := range uint64(blocks) {
		from := 5*cycle + int64(run*37+block*11)*cycle/100
		r := simulate(t, plan, span{from, from + 20*cycle}, run*blocks+block, takes)
		sum += r.Inside.Cycles
		squares += r.Inside.Cycles * r.Inside.Cycles
	}
	mean := sum / blocks
	half := quantile * math.Sqrt(max(0, squares/blocks-mean*mean)/(blocks-1))
	return math.Abs(mean-truth) <= half+1e-6*truth
}

// Whatever the times, the rate has no bias. Times are simulated, so that their scale
// makes no difference.
func TestRatesHoldTheTruth(t *testing.T) {
	kinds := map[string]func(mean float64) func(*rand.Rand) int64{
		"constant": func(mean float64) func(*rand.Rand) int64 { return constant(int64(mean)) },
		"bimodal": func(mean float64) func(*rand.Rand) int64 {
			return func(r *rand.Rand) int64 {
				if r.IntN(10) == 0 {
					return int64(mean * 5.5)
				}
				return int64(mean / 2)
			}
		},
		"exponential": func(mean float64) func(*rand.Rand) int64 {
			return func(r *rand.Rand) int64 { return int64(r.ExpFloat64()*mean) + 1 }
		},
	}
	for kind, takes := range kinds {
		for _, slots := range []int{1, 10, 50} {
			for _, think := range []int64{0, 700 * ms} {
				if think > 0 && slots != 10 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%d", kind, slots, think/ms), func(t *testing.T) {
					t.Parallel()
					held := 0
					for run := range runs {
						if holds(t, contract.Load{Connections: slots, ThinkNs: think}, uint64(run), takes(float64(400*ms))) {
							held++
						}
					}
					if held < 15 { // of a true 95 %, chance gives fewer once in a thousand
						t.Errorf("%d of %d intervals hold the truth", held, runs)
					}
				})
			}
		}
	}
}

// An open loop cannot answer more than is due: however few exchanges fall on a slot, and
// however they come, what fell inside is on the mean what the rate asks for, and never more
// than was due by the end.
func TestAnOpenLoopAnswersWhatIsDue(t *testing.T) {
	for _, arrival := range []contract.Arrival{contract.Constant, contract.Poisson} {
		for _, perSlot := range []float64{0.1, 0.5, 1, 2} {
			const slots, rate, runs = 40, 200.0, 60
			plan := contract.Load{Connections: slots, Rate: rate, Arrival: arrival}
			window := span{second / 5, second/5 + int64(perSlot*slots/rate*1e9)}
			sum, squares := 0.0, 0.0
			for seed := range uint64(runs) {
				r := simulate(t, plan, window, seed, func(r *rand.Rand) int64 { return ms + r.Int64N(20*ms) })
				share := r.Inside.Exchanges / (rate * float64(window.to-window.from) / 1e9)
				sum, squares = sum+share, squares+share*share
			}
			mean := sum / runs
			if off := 5 * math.Sqrt(max(squares/runs-mean*mean, 1e-6)/runs); math.Abs(mean-1) > off+0.01 {
				t.Errorf("%s, %g for each slot: %.3f of what was due (± %.3f)", arrival, perSlot, mean, off)
			}
		}
	}
}
