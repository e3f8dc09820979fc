package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/test/synthetic"
)

// shaky is a machine that stands still now and then, whatever runs on it, in bunches. Arms in
// a closed loop have random rates there, and lose what a standstill takes of their window.
type shaky struct {
	rng      *rand.Rand
	now      float64 // seconds
	from, to float64 // of the standstill that comes next, or goes on
}

const (
	shakyWindow = 1.0  // seconds
	shakyBeside = 0.55 // of a trial, outside its window
	shakySD     = 0.03 // of the logarithm of a trial's rate
)

// next draws the standstill after one: from 30 to 400 ms, 2.5 s later in the mean.
func (m *shaky) next() {
	apart := 0.5
	if m.rng.IntN(2) == 0 {
		apart = 4.5
	}
	m.from = m.to + apart*m.rng.ExpFloat64()
	m.to = m.from + 0.03 + 0.37*m.rng.Float64()
}

// attempt carries out a trial once, on an end of which a standstill of the machine is seen.
func (m *shaky) attempt(t record.Trial) record.Record {
	opened := m.now + shakyBeside
	var stood []contract.Standstill
	lost := 0.0
	for ; m.from < opened+shakyWindow; m.next() {
		from, to := m.from-opened, m.to-opened
		stood = append(stood, contract.Standstill{FromNs: int64(1e9 * from), ToNs: int64(1e9 * to)})
		lost += max(0, min(to, shakyWindow)-max(from, 0))
		if to > shakyWindow {
			break // it goes on
		}
	}
	m.now = opened + shakyWindow
	_, _, records := synthetic.Run(synthetic.Options{
		Arms:        []synthetic.Arm{{Name: t.Arm, Server: "go-net", Speed: math.Exp(shakySD*m.rng.NormFloat64()) * (1 - lost/shakyWindow)}},
		Connections: []int{50}, Blocks: 1, Bare: true, Window: time.Duration(shakyWindow * 1e9),
	})
	r := records[0]
	r.Trial = t
	w := &r.Workers[m.rng.IntN(len(r.Workers))]
	for i := range stood {
		stood[i].FromNs += w.Open.Meter.AtNs
		stood[i].ToNs += w.Open.Meter.AtNs
	}
	w.AtResult = &contract.Meter{AtNs: w.Close.Meter.AtNs, Beat: &contract.Beat{Stood: stood}}
	return r
}

// shakyStudies carries out studies of two arms that are alike on such machines. It returns
// the logarithms of the rates that count, how many of the trials that is, how many attempts
// were made in vain for each trial, and in how many studies the baseline differs from its own
// repeat at p = 0.05.
func shakyStudies(t *testing.T, studies int, disturbed func(record.Record) record.Disturbance) (rates []float64, valid, vain, different float64) {
	t.Helper()
	planned, compared := 0.0, 0.0
	for seed := range studies {
		o := synthetic.Options{
			Arms: []synthetic.Arm{{Name: "a", Server: "go-net"}, {Name: "b", Server: "go-net"}}, Connections: []int{50}, Blocks: 8, Seed: uint64(seed),
			Primary: []string{metric.ExchangesPerS}, Bare: true, Window: time.Duration(shakyWindow * 1e9),
		}
		header, trials, _ := synthetic.Run(o)
		m := shaky{rng: rand.New(rand.NewPCG(uint64(seed), 0x6167))}
		m.next()
		again := session.Again{Disturbed: disturbed}
		var records []record.Record
		for _, one := range trials {
			r := m.attempt(one)
			for again.Ask(r).Why != "" {
				vain++
				r = m.attempt(one)
			}
			records = append(records, r)
		}
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		planned += float64(len(trials))
		for _, v := range f.Trials {
			if rate, has := v.Trial.Values.Of(metric.ExchangesPerS); has && v.Trial.Status == trial.Valid {
				rates = append(rates, math.Log(rate))
			}
		}
		for _, c := range f.Comparisons {
			if c.Verdict == compare.Better || c.Verdict == compare.Worse {
				t.Errorf("study %d: identical arms are called %s", seed, c.Verdict)
			}
		}
		for _, n := range f.Noise {
			if n.Metric == metric.ExchangesPerS {
				compared++
				if n.P <= 0.05 {
					different++
				}
			}
		}
	}
	return rates, float64(len(rates)) / planned, vain / planned, different / compared
}

// What a repetition leaves has the mean of what nothing disturbed, though a standstill takes
// of a closed loop's rate, and tells arms that are alike apart no more often. The same
// simulation shows at once the bias of a rule that looks at the rate.
func TestMakingTrialsAgainChoosesNoResults(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: hundreds of simulated studies")
	}
	_, _, records := synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Connections: []int{50}, Blocks: 1, Bare: true, Window: time.Second})
	rate, err := metric.Named(metric.ExchangesPerS)
	if err != nil {
		t.Fatal(err)
	}
	undisturbed, _ := rate.Value(&records[0])
	never := func(record.Record) (by record.Disturbance) { return by }
	peeking := func(r record.Record) record.Disturbance {
		if got, has := rate.Value(&r); has && got < undisturbed {
			return record.Disturbance{Why: "it was slow"}
		}
		return trial.Disturbed(r)
	}
	const studies = 200
	shares := map[string]float64{}
	for _, c := range []struct {
		name      string
		disturbed func(record.Record) record.Disturbance
		biased    bool
	}{{"never", never, false}, {"by the beats", trial.Disturbed, false}, {"by the rate", peeking, true}} {
		rates, valid, vain, different := shakyStudies(t, studies, c.disturbed)
		sum, squares, n := 0.0, 0.0, float64(len(rates))
		for _, r := range rates {
			off := r - math.Log(undisturbed)
			sum, squares = sum+off, squares+off*off
		}
		mean := sum / n
		se := math.Sqrt((squares/n - mean*mean) / n)
		t.Logf("made again %-13s: %.1f %% of the trials valid, %.3f attempts in vain a trial, mean %+.3f %% ± %.3f %% (standard error), %.1f %% of the studies have p ≤ 0.05 between an arm and itself",
			c.name, 100*valid, vain, 100*mean, 100*se, 100*different)
		if biased := math.Abs(mean) > 4*se; biased != c.biased {
			t.Errorf("%s: the mean is off by %.2f standard errors", c.name, mean/se)
		}
		if different > 0.05+3*math.Sqrt(0.05*0.95/studies) {
			t.Errorf("%s: in %.3f of the studies an arm differs from itself", c.name, different)
		}
		shares[c.name] = valid
	}
	if before, after := shares["never"], shares["by the beats"]; after-before < 0.05 {
		t.Errorf("%.3f of the trials are valid, %.3f were without repetition", after, before)
	}
}
