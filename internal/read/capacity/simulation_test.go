package capacity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

type server func(r *rand.Rand, rate float64, window float64) bool

func simulate(r *rand.Rand, most float64, s server, within float64, long, budget float64) (tries []Try, used float64) {
	for used < budget {
		rate, more := next(tries, most)
		if !more {
			return tries, used
		}
		window := long / 4
		if near(tries) {
			window = long
		}
		used += 1.2*window + .15
		tries = append(tries, Try{Rate: rate, Met: s(r, rate, window), Window: window})
		tries = inParts(tries)
		if settled(tries, within) {
			break
		}
	}
	return tries, used
}

func logistic(theta, sd float64) server {
	return func(r *rand.Rand, rate, window float64) bool {
		return r.Float64() < 1/(1+math.Exp((math.Log(rate)-math.Log(theta))*math.Pi/math.Sqrt(3)/sd))
	}
}

// mm1 simulates windows of an M/M/1 queue with mu, p99<=T.
func mm1(mu, T float64) server {
	return func(r *rand.Rand, rate, window float64) bool {
		warm := window * .2
		var t, free float64
		var resp []float64
		for t < warm+window {
			t += r.ExpFloat64() / rate
			start := max(t, free)
			free = start + r.ExpFloat64()/mu
			if t >= warm {
				resp = append(resp, free-t)
			}
		}
		slices.Sort(resp)
		return len(resp) > 0 && resp[int(.99*float64(len(resp)))] <= T
	}
}

func TestTune(t *testing.T) {
	if os.Getenv("TUNE") == "" {
		t.SkipNow()
	}
	cases := []struct {
		name  string
		truth float64
		most  float64
		s     server
		long  float64
	}{
		{"logistic 0.5 %", 1000, 1300, logistic(1000, .005), 2},
		{"logistic 2 %", 1000, 1300, logistic(1000, .02), 2},
		{"logistic 5 %", 1000, 1300, logistic(1000, .05), 2},
		{"logistic 8 %", 1000, 1300, logistic(1000, .08), 2},
		{"logistic 8 % far", 1000, 30000, logistic(1000, .08), 2},
		{"mm1 10000, 5ms", 10000 - math.Log(100)/.005, 10000, mm1(10000, .005), 2},
		{"mm1 5000, 10ms", 5000 - math.Log(100)/.01, 5000, mm1(5000, .01), 4},
		{"mm1 10000, 10ms", 10000 - math.Log(100)/.01, 10000, mm1(10000, .01), 2.5},
		{"mm1 10000, 2ms", 10000 - math.Log(100)/.002, 10000, mm1(10000, .002), 1},
	}
	for _, c := range cases {
		n, in, bias, tries, secs := 150, 0, 0.0, []float64{}, []float64{}
		wide := 0.
		for i := range n {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			all, used := simulate(r, c.most, c.s, .1, c.long, 60)
			p, k := known(all)
			if !k {
				continue
			}
			e := p.capacityOf()
			if e.Low <= c.truth && c.truth <= e.High {
				in++
			}
			bias += math.Log(e.Point/c.truth) / float64(n)
			wide += (e.High - e.Low) / e.Point / float64(n)
			tries = append(tries, float64(len(all)))
			secs = append(secs, used)
		}
		slices.Sort(tries)
		slices.Sort(secs)
		m, h := len(tries)/2, len(tries)*9/10
		fmt.Printf("%-22s in %d/%d bias %+.3f width %.3f tries median %v p90 %v s %.0f %.0f\n", c.name, in, n, bias, wide, tries[m], tries[h], secs[m], secs[h])
	}
}
