package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// plantedUs is the CPU time that the relay burns for each exchange, in µs.
const plantedUs = 20

// relayed puts a relay of ours between the ends, which burns a known CPU time for every
// exchange and runs in a control group of its own: the first is to be found, and the
// group's account to be that of the hop.
func relayed(ctx context.Context, p *pipeline) ([]answer, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	hop := func(us int) string { return fmt.Sprintf("exec:%s relay %d {port} {upstream}", own, us) }
	header, trials, records, err := p.records(ctx, "server=go-net", "client=go-epoll", "connections=1", "rate=2000", "window=2s", "warmup=300ms",
		"blocks=6", "path="+hop(0)+","+hop(plantedUs))
	if err != nil {
		return nil, err
	}
	f, err := readable(header, trials, records)
	if err != nil {
		return nil, err
	}
	byBlock := map[int]map[bool][]float64{}
	for _, v := range f.Trials {
		us, ok := v.Trial.Values.Of(metric.HopCPU)
		if !ok || v.Trial.Status != trial.Valid {
			continue
		}
		if byBlock[v.Plan.Block] == nil {
			byBlock[v.Plan.Block] = map[bool][]float64{}
		}
		planted := v.Plan.Levels[record.PathFactor] == hop(plantedUs)
		byBlock[v.Plan.Block][planted] = append(byBlock[v.Plan.Block][planted], us)
	}
	var added []float64
	for _, b := range byBlock {
		if len(b[true]) > 0 && len(b[false]) > 0 {
			added = append(added, stat.Mean(b[true])-stat.Mean(b[false]))
		}
	}
	e, ok := stat.MeanAt(added, 1-stat.Confidence)
	answers := []answer{{
		fmt.Sprintf("%d µs of CPU an exchange planted in a relay, found in %d blocks", plantedUs, len(added)),
		fmt.Sprintf("%.2f µs (%.2f–%.2f)", e.Point, e.Low, e.High), "± 1 µs", ok && math.Abs(e.Point-plantedUs) <= 1,
	}}
	return append(answers, grouped(records)), nil
}

var groupSaid = regexp.MustCompile(`control group used (\d+) ns`)

// grouped compares the accounts of the relays with those of their control groups: the
// latter has the relay's end too, which comes after the last reading.
func grouped(records []record.Record) answer {
	var metered, group float64
	without := 0
	for _, r := range records {
		for _, w := range r.Workers {
			if w.Role != contract.Hop || w.AtResult == nil {
				continue
			}
			said := groupSaid.FindStringSubmatch(w.Stderr)
			if said == nil {
				without++
				continue
			}
			ns, _ := strconv.ParseFloat(said[1], 64)
			metered += float64(w.AtResult.Process.CPUNs)
			group += ns
		}
	}
	a := answer{what: "CPU of a hop, metered ÷ its control group's own account", asked: "1 ± 2 %"}
	if group == 0 {
		a.measured = fmt.Sprintf("no control group could be made for %d relays", without)
		return a
	}
	a.measured = fmt.Sprintf("%.4f (%d ms in all)", metered/group, int(group/1e6))
	a.met = math.Abs(metered/group-1) <= 0.02 && without == 0
	return a
}

// isRelay tells whether the program was called to be the relay of question hops.
func isRelay(args []string) bool {
	return len(args) == 5 && args[1] == "relay" && !strings.HasPrefix(args[2], "-")
}
