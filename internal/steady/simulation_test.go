package steady

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// arm is a load that warms up, or does not: of what a part of 40 ms brings, noise by which
// rate and costs differ.
type arm struct {
	rate  func(s float64) float64 // 1/s, without noise, at s seconds after the start
	cost  func(s float64) float64 // ns of the server's CPU for an exchange
	noise float64                 // standard deviation of 40 ms, as a share
	after float64                 // correlation of neighbouring readings' noise
	open  bool                    // the rate is declared and has no noise
	late  float64                 // probability that a reading comes 30 ms late
}

func constant(y float64) func(float64) float64 { return func(float64) float64 { return y } }

func climbing(y, perS float64) func(float64) float64 {
	return func(s float64) float64 { return y * math.Exp(perS*s) }
}

// compiled is a rate that a compiler brings up from a share of what it comes to.
func compiled(y, share, overS float64) func(float64) float64 {
	return func(s float64) float64 { return y * (1 - (1-share)*math.Exp(-s/overS)) }
}

// warmUp runs a warm-up as the bench does, on simulated time, and returns when it ended
// and how.
func (a arm) warmUp(t Times, random *rand.Rand) (took time.Duration, ended record.Steady) {
	workers := []record.Worker{{Role: contract.Server}, {Role: contract.Client}}
	var now, done, server, client, rateNoise, costNoise float64
	read := func() {
		at := int64(now*1e9) + 1
		workers[0].Warming = append(workers[0].Warming, record.Warming{AtNs: at, Exchanges: int64(done), MeterNs: at, CPUNs: int64(server)})
		workers[1].Warming = append(workers[1].Warming, record.Warming{AtNs: at, Exchanges: int64(done), MeterNs: at, CPUNs: int64(client)})
	}
	advance := func(to float64) {
		const stepS = 0.002
		for now < to {
			scale := a.noise * math.Sqrt(0.04/stepS)
			keep := math.Pow(a.after, stepS/0.02)
			fresh := math.Sqrt(1-keep*keep) / math.Sqrt(max(1, (1+keep)/(1-keep))) * scale
			rateNoise = keep*rateNoise + fresh*random.NormFloat64()
			costNoise = keep*costNoise + fresh*random.NormFloat64()
			exchanges := a.rate(now) * stepS
			if !a.open {
				exchanges *= max(0, 1+rateNoise)
			}
			done += exchanges
			server += exchanges * a.cost(now) * max(0, 1+costNoise)
			client += exchanges * 3000 * max(0, 1+scale*random.NormFloat64())
			now += stepS
		}
	}
	read()
	look := time.Duration(0)
	for looks := 1; ; looks++ {
		next, step := t.Next(look)
		for at := now + step.Seconds(); at < next.Seconds(); at += step.Seconds() {
			if random.Float64() < a.late {
				at += 0.03
			}
			advance(min(at, next.Seconds()))
			read()
		}
		advance(next.Seconds())
		read()
		look = next
		if steadiness, over := Of(workers).Look(t, look, looks); over {
			return look, steadiness
		}
	}
}

// outcomes are those of n warm-ups of one kind.
type outcomes struct {
	ended map[record.Steady]int
	meanS float64
	hot   int // called steady with a true change of Bound and more a second
}

func warmUps(a arm, t Times, n int) outcomes {
	random := rand.New(rand.NewPCG(37, uint64(n)))
	o := outcomes{ended: map[record.Steady]int{}}
	for range n {
		took, ended := a.warmUp(t, random)
		o.ended[ended]++
		o.meanS += took.Seconds() / float64(n)
		if at := took.Seconds(); ended == record.SteadyAtOnce || ended == record.SteadyLater {
			change := func(y func(float64) float64) float64 { return math.Abs(y(at+0.01)/y(at-0.01)-1) / 0.02 }
			if change(a.rate) >= 0.999*Bound || change(a.cost) >= 0.999*Bound {
				o.hot++
			}
		}
	}
	return o
}

// rounds is how many warm-ups are simulated; fewer of a quick test.
func rounds() int {
	if testing.Short() {
		return 60
	}
	return 400
}

var (
	ordinary = Times{Least: 500 * time.Millisecond, Most: 5 * time.Second}
	proven   = Times{Least: 500 * time.Millisecond, Most: 10 * time.Second, Proof: true}
)

// Noise is of 40 ms: neighbours that are alike, readings that come late, and few exchanges
// are what a busy machine has.
func TestALoadThatIsSteadyAtOnceIsCalledSo(t *testing.T) {
	n := rounds()
	for _, noise := range []float64{0.005, 0.02, 0.05, 0.1} {
		for name, a := range map[string]arm{
			"closed loop":              {rate: constant(2e4), cost: constant(2e4), noise: noise},
			"open loop":                {rate: constant(2e4), cost: constant(2e4), noise: noise, open: true},
			"neighbours that are like": {rate: constant(2e4), cost: constant(2e4), noise: noise, after: 0.4},
			"readings that come late":  {rate: constant(2e4), cost: constant(2e4), noise: noise, late: 0.1},
			"few exchanges":            {rate: constant(300), cost: constant(2e4), noise: noise},
		} {
			o := warmUps(a, ordinary, n)
			t.Logf("%s, noise %.1f %%: %v in %.2f s", name, 100*noise, o.ended, o.meanS)
			if at := float64(o.ended[record.SteadyAtOnce]) / float64(n); at < 0.95-1.64*math.Sqrt(0.95*0.05/float64(n)) {
				t.Errorf("%s, noise %.1f %%: %.1f %% are called steady at once, want 95 %%", name, 100*noise, 100*at)
			}
			if never := float64(o.ended[record.NeverSteady]) / float64(n); never > 0.02 {
				t.Errorf("%s, noise %.1f %%: %.1f %% are flagged, want at most 2 %%", name, 100*noise, 100*never)
			}
		}
	}
}

// A change of 5 % a second stays one for ever; of a load that is compiled what matters is
// the change that is left when the window opens.
func TestALoadThatWarmsUpIsNotCalledSteady(t *testing.T) {
	n := rounds()
	cost := func(s float64) float64 { return 2e4 / compiled(1, 0.3, 1)(s) }
	for _, noise := range []float64{0.005, 0.02, 0.05, 0.1} {
		for name, a := range map[string]arm{
			"a rate that climbs 5 % a second":    {rate: climbing(2e4, 0.05), cost: constant(2e4), noise: noise},
			"a rate that climbs 10 % a second":   {rate: climbing(2e4, 0.1), cost: constant(2e4), noise: noise},
			"a cost that falls 5 % a second":     {rate: constant(2e4), cost: climbing(2e4, -0.05), noise: noise, open: true},
			"a compiled client and server":       {rate: compiled(2e4, 0.3, 1), cost: cost, noise: noise},
			"a compiled server at a low rate":    {rate: constant(2e4), cost: cost, noise: noise, open: true},
			"a server compiled within 300 ms":    {rate: compiled(2e4, 0.3, 0.3), cost: constant(2e4), noise: noise},
			"a rate that falls, as memory fills": {rate: climbing(2e4, -0.08), cost: constant(2e4), noise: noise},
		} {
			o := warmUps(a, proven, n)
			t.Logf("%s, noise %.1f %%: %v in %.2f s", name, 100*noise, o.ended, o.meanS)
			if hot := float64(o.hot) / float64(n); hot > 0.05+1.64*math.Sqrt(0.95*0.05/float64(n)) {
				t.Errorf("%s, noise %.1f %%: %.1f %% are called steady while they still change, want at most 5 %%", name, 100*noise, 100*hot)
			}
		}
	}
}

// Without a bound of its own a study pays for no proof, so that only what shows within the
// declared warm-up is found.
func TestACompiledLoadShowsWithinTheDeclaredWarmUp(t *testing.T) {
	n := rounds()
	cost := func(s float64) float64 { return 2e4 / compiled(1, 0.3, 1)(s) }
	for name, a := range map[string]arm{
		"closed loop": {rate: compiled(2e4, 0.3, 1), cost: cost, noise: 0.03},
		"open loop":   {rate: constant(2e4), cost: cost, noise: 0.03, open: true},
	} {
		o := warmUps(a, ordinary, n)
		t.Logf("%s: %v in %.2f s", name, o.ended, o.meanS)
		if missed := float64(o.ended[record.SteadyAtOnce]) / float64(n); missed > 0.05 {
			t.Errorf("%s: %.1f %% are called steady at once, want at most 5 %%", name, 100*missed)
		}
	}
}

func TestNothingFollowsFromTooLittle(t *testing.T) {
	few := []record.Worker{{Role: contract.Client}}
	for i := range int64(5) {
		few[0].Warming = append(few[0].Warming, record.Warming{AtNs: 1 + i*100e6, Exchanges: 1000 * i})
	}
	silent := []record.Worker{{Role: contract.Client}}
	for i := range int64(50) {
		silent[0].Warming = append(silent[0].Warming, record.Warming{AtNs: 1 + i*10e6})
	}
	for name, workers := range map[string][]record.Worker{"nothing": nil, "five readings": few, "no exchange": silent} {
		if ended, over := Of(workers).Look(ordinary, ordinary.Least, 1); ended != record.SteadyUntold || !over {
			t.Errorf("%s: %q, over %v; want %q", name, ended, over, record.SteadyUntold)
		}
	}
}
