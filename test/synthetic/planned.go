package synthetic

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// The planned machine: what bounds a closed loop, and how figures spread.
const (
	plannedBytes   = 2e9   // per second
	plannedSD      = 0.004 // of a trial's logarithm
	plannedBlockSD = 0.05  // of a block's
)

// Truths of arms that differ from the baseline, in turn: cheaper, alike, dearer.
var truths = []Arm{
	{Cost: 0.66, Speed: 1.25}, {Cost: 1, Speed: 1}, {Cost: 1.4, Speed: 0.85}, {Cost: 0.9, Speed: 1.04}, {Cost: 2.5, Speed: 0.5},
}

// Planned returns the records of a study's own plan, all valid: the arms differ in
// turn as truths say, the same in every cell.
func Planned(study record.Study, trials []record.Trial) (record.Header, []record.Record, error) {
	h := header(Options{}.withDefaults())
	h.Study, h.Command = study, []string{"netdyno", "run", study.Name}
	rng := rand.New(rand.NewPCG(study.Seed, 0x706c616e))
	drift := map[int]float64{}
	records := make([]record.Record, len(trials))
	for i, t := range trials {
		if drift[t.Block] == 0 {
			drift[t.Block] = math.Exp(plannedBlockSD * rng.NormFloat64())
		}
		o, s, err := planned(t, truthOf(study, trials, t.Arm), drift[t.Block]*math.Exp(plannedSD*rng.NormFloat64()))
		if err != nil {
			return h, nil, fmt.Errorf("trial %s: %w", t.ID, err)
		}
		o.Bare = !slices.ContainsFunc(study.Compare.Primary, func(name string) bool {
			return strings.HasPrefix(name, "service_") || strings.HasPrefix(name, "response_")
		})
		records[i] = plannedRecord(o, t, s)
	}
	return h, records, nil
}

// truthOf is the baseline's for the baseline and for an arm of the same levels, and
// else one of truths.
func truthOf(study record.Study, trials []record.Trial, arm string) Arm {
	if alike(trials, study.Compare.Baseline, arm) {
		return Arm{Cost: 1, Speed: 1}
	}
	for _, f := range study.Vary {
		if at := slices.Index(f.Levels, arm); f.Name == study.Compare.Factor && at > 0 && arm != study.Compare.Baseline {
			return truths[(at-1)%len(truths)]
		}
	}
	return Arm{Cost: 1, Speed: 1}
}

// alike tells whether two arms differ in their names alone.
func alike(trials []record.Trial, a, b string) bool {
	levels := func(arm string) map[string]string {
		i := slices.IndexFunc(trials, func(t record.Trial) bool { return t.Arm == arm })
		if i < 0 {
			return nil
		}
		own := maps.Clone(trials[i].Levels)
		delete(own, "arm")
		return own
	}
	return maps.Equal(levels(a), levels(b))
}

// planned reads a trial's levels.
func planned(t record.Trial, arm Arm, noise float64) (o Options, s state, err error) {
	number := func(factor string, unless float64) float64 {
		n, bad := quantity.ParseCount(t.Levels[factor])
		if bad != nil {
			return unless
		}
		return float64(n)
	}
	size := func(factor string, unless int64) int64 {
		n, bad := quantity.ParseBytes(t.Levels[factor])
		if bad != nil { // the content of a message decides it
			return unless
		}
		return n
	}
	o = Options{Clients: int(number("clients", 1)), Window: 2 * time.Second}
	s = state{connections: int(number("connections", 50)), up: size("request", 40), down: size("response", 400)}
	slots := float64(s.connections) * number("inflight", 1)
	s.rate = min(closedRate, plannedBytes/float64(s.up+s.down)) * arm.Speed / noise
	s.serviceS = 0.985 * slots / s.rate
	if service, bad := quantity.ParseDuration(t.Levels["opt.service"]); bad == nil { // of the null transport, its median
		s.serviceS = max(service.Seconds()*math.Exp(0.125), 2e-6*noise)
		s.rate = 0.985 * slots / s.serviceS
	}
	if text := t.Levels["rate"]; text != "" && text != "max" {
		if strings.HasSuffix(text, "%") { // of what was planted flat out
			share, bad := quantity.ParseShare(text)
			o.Rate, err = share*s.rate, bad
		} else {
			o.Rate, err = quantity.ParseRate(text)
		}
		if err != nil {
			return o, s, err
		}
		s.rate, s.serviceS = o.Rate, min(60e-6, 0.5*slots/o.Rate)/arm.Speed*noise
	}
	if text := t.Levels["window"]; text != "" {
		if o.Window, err = quantity.ParseDuration(text); err != nil {
			return o, s, err
		}
	}
	if amount := number("amount", 0); amount > 0 {
		o.Window = time.Duration(amount * float64(s.connections) / s.rate * 1e9)
	}
	cpu := 0.8 / s.rate * min(1, s.rate/closedRate*8) // of an exchange, so that no CPU is full
	s.serverCores, s.clientCores = s.rate*cpu*arm.Cost*0.3*noise, s.rate*cpu*arm.Cost*0.25*noise
	s.memory = 16 << 20 * arm.Cost
	return o, s, nil
}

// plannedRecord is the record of a trial by its levels.
func plannedRecord(o Options, t record.Trial, s state) record.Record {
	r := trialRecord(o, t, s)
	inflight := max(1, int(math.Round(s.serviceS*s.rate/float64(s.connections))))
	if n, err := quantity.ParseCount(t.Levels["inflight"]); err == nil {
		inflight = int(n)
	}
	amount, err := quantity.ParseCount(t.Levels["amount"])
	if err != nil {
		amount = 0
	}
	var workers []record.Worker
	for _, w := range r.Workers {
		if stream := t.Levels["stream"]; stream != "no" {
			w.Setup.Exchange.Stream = contract.Stream(stream)
		}
		if w.Role == contract.Client {
			w.Setup.Load.InFlight, w.Setup.Load.Amount = inflight, amount
			if every, err := quantity.ParseDuration(t.Levels["every"]); err == nil {
				w.Result.Stages = &contract.Stages{FirstByte: lognormal(s.serviceS*0.4, w.Result.Counts.Exchanges+drained)}
				w.Result.Events = events(s, every.Seconds(), w.Result.Counts.Exchanges)
			}
		}
		if t.Levels["transport"] == "null" {
			if w.Role == contract.Server {
				continue
			}
			w.Name, w.Role = "pair", contract.Pair
		}
		workers = append(workers, w)
	}
	r.Workers = workers
	if cost := hopCosts[t.Levels["path"]]; cost > 0 {
		Hop(&r, t.Levels["path"], cost, 8192)
	}
	return r
}

// events are those of replies of five each, whose first comes within half the service time.
func events(s state, every float64, exchanges int64) *contract.Events {
	const each = 5
	n := exchanges + drained
	return &contract.Events{
		Count: each * exchanges, First: lognormal(s.serviceS*0.5, n), Gaps: lognormal(every, (each-1)*n),
	}
}
