// Package synthetic makes the records of studies that were never run, from arms whose
// rates and costs are given. Tests, benchmarks and truth/ compare what readers find with
// what was given; no part of netdyno imports this package.
package synthetic

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Run returns the study's header, its plan and one valid record per trial.
// The same options give the same records.
func Run(o Options) (record.Header, []record.Trial, []record.Record) {
	o = o.withDefaults()
	rng := rand.New(rand.NewPCG(o.Seed, 0x6e657464))
	trials := plan(o, rng)
	drift := make([]float64, o.Blocks+1)
	for i := range drift {
		drift[i] = math.Exp(o.BlockSD * rng.NormFloat64())
	}
	records := make([]record.Record, len(trials))
	for i, t := range trials {
		arm := o.Arms[0]
		for _, a := range o.Arms {
			if a.Name == t.Arm {
				arm = a
			}
		}
		noise := drift[t.Block] * math.Exp(o.SD*rng.NormFloat64())
		s := truth(o, t, arm, noise)
		s.memory = o.memory(t, drift[t.Block])
		records[i] = trialRecord(o, t, s)
	}
	if o.Probes != nil {
		trials, records = probe(o, trials, records)
	}
	return header(o), trials, records
}

// probe adds one profiled trial of each arm in each cell, slower than the
// others: it must move no figure.
func probe(o Options, trials []record.Trial, records []record.Record) ([]record.Trial, []record.Record) {
	seen := map[string]bool{}
	for i, t := range trials {
		if seen[t.Cell+"/"+t.Arm] {
			continue
		}
		seen[t.Cell+"/"+t.Arm] = true
		r := trialRecord(o, t, truth(o, t, Arm{Cost: 7, Speed: 0.3}, 1))
		t.ID, t.Probe, t.Order = fmt.Sprintf("p01-%03d", i), true, len(trials)
		r.Trial = t
		for j := range r.Workers {
			r.Workers[j].Result.Profile = Profile(o.Probes)
		}
		trials, records = append(trials, t), append(records, r)
	}
	return trials, records
}

func header(o Options) record.Header {
	arms := record.Factor{Name: "arm"}
	for _, a := range o.Arms {
		arms.Levels = append(arms.Levels, a.Name)
	}
	connections := record.Factor{Name: "connections"}
	for _, n := range o.Connections {
		connections.Levels = append(connections.Levels, fmt.Sprint(n))
	}
	host := record.Host{Values: map[string]string{
		"cpu.model": "synthetic", "cpu.count": "4", "kernel.release": "6.1.0", "memory.total_bytes": "16000000000",
	}}
	tools := map[string]record.Binary{
		"netdyno-worker-net": {
			SHA256: "00", Version: "synthetic",
			Libraries: []contract.Library{{Name: "go", Version: "1.26"}},
		},
	}
	return record.Header{
		Schema: record.Schema, Netdyno: "synthetic", CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Command: []string{"netdyno", "run", "event-loops"},
		Study: record.Study{
			Name: "event-loops", Question: "Goroutine per connection, or raw epoll?",
			Hold: map[string]string{"request": "100B", "response": "100B", "window": o.Window.String()},
			Vary: []record.Factor{arms, connections},
			Compare: record.Compare{
				Factor: "arm", Baseline: o.Arms[0].Name, Primary: o.Primary, Margin: 0.02,
			},
			Blocks: o.Blocks, Seed: o.Seed,
		},
		Facts: record.Facts{Rig: "loopback", Seats: map[string]record.Host{"local": host}, Tools: tools},
	}
}

// plan makes the blocks: every arm once per cell, the baseline twice, shuffled.
func plan(o Options, rng *rand.Rand) []record.Trial {
	var trials []record.Trial
	for block := 1; block <= o.Blocks; block++ {
		first := len(trials)
		for _, n := range o.Connections {
			for i, a := range append([]Arm{o.Arms[0]}, o.Arms...) {
				server := a.Server
				if server == "" {
					server = a.Name
				}
				levels := map[string]string{
					"arm": a.Name, "connections": fmt.Sprint(n), "server": server, "client": "go-epoll",
					"request": "100B", "response": "100B", "window": o.Window.String(), "rate": fmt.Sprint(o.Rate),
				}
				maps.Copy(levels, a.Levels)
				trials = append(trials, record.Trial{
					Block: block, Cell: fmt.Sprintf("connections=%d", n), Arm: a.Name, Repeat: i == 1, Seed: uint64(block),
					Levels: levels,
				})
			}
		}
		part := trials[first:]
		rng.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		seen := map[string]bool{}
		for i := range part {
			key := part[i].Cell + "/" + part[i].Arm
			part[i].Repeat = seen[key] // whichever comes second repeats the baseline
			seen[key] = true
			part[i].ID = fmt.Sprintf("b%02d-%03d", block, i+1)
			part[i].Order = first + i
		}
	}
	return trials
}
