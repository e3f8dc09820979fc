package mesh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// law is how the noise of one trial is distributed.
type law struct {
	name string
	draw func(*rand.Rand) float64
}

var laws = []law{
	{"normal", func(r *rand.Rand) float64 { return r.NormFloat64() }},
	{"long-tailed", func(r *rand.Rand) float64 { return (r.ExpFloat64() - r.ExpFloat64()) / math.Sqrt2 }},
	{"one in twenty disturbed", func(r *rand.Rand) float64 {
		x := r.NormFloat64()
		if r.IntN(20) == 0 {
			x -= 10 * r.ExpFloat64()
		}
		return x
	}},
}

// planted is what is wrong with a simulated mesh: the logarithm that it adds to a
// metric of the pair from one host to another.
type planted func(metric string, from, to int) float64

func equal(string, int, int) float64 { return 0 }

const rtt = "response_p50_us"

// size is how large a simulated mesh is.
type size struct {
	hosts, blocks int
	partners      int // each host meets so many others, drawn by lot; 0 for all
}

// simulated reads a mesh of hosts with noise of 3 % and what was planted.
func simulated(r *rand.Rand, of size, noise law, margin float64, what planted) *Mesh {
	return scattered(r, of, noise, spread{0.03, margin}, what)
}

// spread is the noise of a figure, and the margin within which a difference is none.
type spread struct{ sd, margin float64 }

// scattered is the same with another noise.
func scattered(r *rand.Rand, of size, noise law, s spread, what planted) *Mesh {
	sd, margin := s.sd, s.margin
	hosts, blocks := of.hosts, of.blocks
	names := make([]string, hosts)
	for i := range names {
		names[i] = fmt.Sprintf("node%d", i+1)
	}
	reading := &reading{names: names, blocks: blocks, latency: rtt, grids: map[string]*Grid{}, effects: map[string]Effects{}, at: map[string]int{}, lost: make([]map[int]lost, hosts)}
	for i, name := range names {
		reading.hosts, reading.at[name] = append(reading.hosts, Host{Name: name}), i
	}
	measured := drawnWays(r, of)
	for _, metric := range []string{Goodput, rtt, SendCPU, ReceiveCPU} {
		g := NewGrid(hosts, blocks)
		worse := -1.0 // a disturbance makes it worse
		if metric == Goodput {
			worse = 1
		}
		for b := range blocks {
			drift := 0.1 * r.NormFloat64()
			for i := range hosts {
				for j := range hosts {
					if i != j && measured(i, j) {
						g.Set(i, j, b, 3+drift+worse*sd*noise.draw(r)+what(metric, i, j))
					}
				}
			}
		}
		reading.grids[metric] = g
	}
	m := &Mesh{Level: Level, Margin: margin, Blocks: blocks, Latency: rtt, Partners: of.partners}
	reading.judge(m)
	m.Outliers = reading.diagnose(m, nil)
	m.Hidden = reading.hidden(m)
	return m
}

// drawnWays draws, as a run does, some days of a tournament: on each every host meets one
// other, both ways.
func drawnWays(r *rand.Rand, of size) func(from, to int) bool {
	if of.partners == 0 {
		return func(int, int) bool { return true }
	}
	places, n := r.Perm(of.hosts), of.hosts-1 // an even number of hosts; one stays, the others turn
	met := map[[2]int]bool{}
	for _, day := range r.Perm(n)[:of.partners] {
		at := func(i int) int {
			if i == 0 {
				return places[0]
			}
			return places[1+(i-1+day)%n]
		}
		for i := range of.hosts / 2 {
			a, b := at(i), at(n-i)
			met[[2]int{a, b}], met[[2]int{b, a}] = true, true
		}
	}
	return func(from, to int) bool { return met[[2]int{from, to}] }
}

// said lists what a mesh names: "host node3; cable node5".
func said(m *Mesh) string {
	var all []string
	for _, o := range m.Outliers {
		all = append(all, string(o.Kind)+" "+strings.Join(o.Hosts, ","))
	}
	return strings.Join(all, "; ")
}

// runs is how often a simulation is repeated: often in make soak.
func runs(n int) int {
	if os.Getenv("NETDYNO_SOAK") != "" {
		return 20 * n
	}
	return n
}

// Equal hosts: nobody is named in at least 95 of 100 meshes, whatever the noise is
// like. No margin helps: noise alone decides.
func TestEqualHostsAreNotNamed(t *testing.T) {
	for _, c := range []struct {
		size
		runs int
	}{{size{4, 3, 0}, 200}, {size{5, 3, 0}, 200}, {size{8, 4, 0}, 100}, {size{16, 3, 0}, 40}, {size{32, 3, 0}, 10}, {size{64, 3, 8}, 10}} {
		for _, noise := range laws {
			r := rand.New(rand.NewPCG(7, uint64(c.hosts)))
			n, wrong := runs(c.runs), 0
			for range n {
				if said(simulated(r, c.size, noise, 1e-9, equal)) != "" {
					wrong++
				}
			}
			t.Logf("%d hosts, %d blocks, %s noise: somebody was named in %d of %d", c.hosts, c.blocks, noise.name, wrong, n)
			if most := atMost(n, Level); wrong > most {
				t.Errorf("%d hosts, %d blocks, %s noise: somebody was named in %d of %d meshes of equal hosts, at most %d are chance", c.hosts, c.blocks, noise.name, wrong, n, most)
			}
		}
	}
}

// atMost is what a binomial variable exceeds in one of a thousand cases.
func atMost(n int, p float64) int {
	above := 1.0
	for k := 0; k <= n; k++ {
		above -= math.Exp(logFactorial(n) - logFactorial(k) - logFactorial(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		if above < 1e-3 {
			return k
		}
	}
	return n
}

// slowHost costs more CPU and answers late; slowCable halves the rate both ways.
func slowHost(host int) planted {
	return func(metric string, from, to int) float64 {
		switch {
		case metric == rtt && (from == host || to == host):
			return math.Log(1.5)
		case metric == SendCPU && from == host, metric == ReceiveCPU && to == host:
			return math.Log(1.3)
		}
		return 0
	}
}

func slowCable(host int) planted {
	return func(metric string, from, to int) float64 {
		if from != host && to != host {
			return 0
		}
		switch metric {
		case Goodput:
			return math.Log(0.5)
		case SendCPU, ReceiveCPU:
			return math.Log(1.2) // of the fixed costs fewer bytes have a share
		}
		return 0
	}
}

func both(a, b planted) planted {
	return func(metric string, from, to int) float64 { return a(metric, from, to) + b(metric, from, to) }
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		size
		what planted
		want string
	}{
		{"a slow host and a slow cable", size{32, 3, 0}, both(slowHost(6), slowCable(18)), "host node7; cable node19"},
		{"the same of few hosts", size{8, 3, 0}, both(slowHost(6), slowCable(1)), "cable node2; host node7"},
		{"one pair", size{16, 5, 0}, func(metric string, from, to int) float64 {
			if metric == Goodput && from == 2 && to == 9 {
				return math.Log(0.5)
			}
			return 0
		}, "pair node3,node10"},
		{"one direction of a cable", size{8, 3, 0}, func(metric string, _, to int) float64 {
			if metric == Goodput && to == 4 {
				return math.Log(0.7)
			}
			return 0
		}, "cable node5"},
		{"two halves", size{8, 3, 0}, func(metric string, from, to int) float64 {
			if metric == Goodput && from < 4 != (to < 4) {
				return math.Log(0.6)
			}
			return 0
		}, "leaf node5,node6,node7,node8"},
		{"a small leaf", size{12, 3, 0}, func(metric string, from, to int) float64 {
			if metric == Goodput && from < 3 != (to < 3) {
				return math.Log(0.6)
			}
			return 0
		}, "leaf node1,node2,node3"},
	} {
		for _, noise := range laws {
			r := rand.New(rand.NewPCG(11, uint64(c.hosts)))
			n, right := runs(20), 0
			got := map[string]int{}
			for range n {
				text := said(simulated(r, c.size, noise, standardMargin, c.what))
				got[text]++
				if text == c.want {
					right++
				}
			}
			if 20*right < 19*n {
				t.Errorf("%s, %s noise: named in %d of %d: %v", c.name, noise.name, right, n, got)
			}
		}
	}
}
