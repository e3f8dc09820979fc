package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
)

// handicap is an arm that is 5 % worse than another by construction.
type handicap struct {
	what    string
	studies int
	args    []string
	arm     string // the handicapped
	link    bool   // on namespaces
}

var handicaps = []handicap{
	{"5 % planted in a service time (null, 1 ms, 10 blocks of 0.2 s)", 20, []string{
		"transport=null", "connections=4", "opt.service=1ms,1050us", "compare.primary=service_p50_us", "window=200ms", "warmup=50ms",
	}, "1050us", false},
	{"5 % planted in a link's rate (TCP, 42 Mbit/s, 10 blocks of 0.6 s)", 8, []string{
		"transport=go-net", "stream=down", "request=1KiB", "response=32KiB", "connections=2", "link.rate=42Mbit,40Mbit",
		"compare.primary=goodput_bytes_per_s", "window=600ms", "warmup=300ms",
	}, "40Mbit/s", true},
}

// planted looks for what was planted, and asks in how many studies it is found.
func planted(ctx context.Context, p *pipeline) ([]answer, error) {
	var answers []answer
	for _, h := range handicaps {
		found, opposite, err := p.look(ctx, h)
		if err != nil {
			return answers, err
		}
		answers = append(answers,
			answer{h.what + " found", share(found, h.studies), "≥ 90 %", found*10 >= h.studies*9},
			answer{"  the contrary said", share(opposite, h.studies), "0", opposite == 0})
	}
	return answers, nil
}

// look counts the studies in which a handicap is found, and those that say that
// there is none.
func (p *pipeline) look(ctx context.Context, h handicap) (found, opposite int, err error) {
	var on rig.Rig = rig.Loopback{}
	if h.link {
		spaces, failed := namespaces.Build(namespaces.Options{Hosts: 2})
		if failed != nil {
			return 0, 0, failed
		}
		defer func() { err = errors.Join(err, spaces.Close()) }()
		on = spaces
	}
	for i := range h.studies {
		f, err := p.on(on).study(ctx, append([]string{"blocks=10", fmt.Sprintf("seed=%d", i+1)}, h.args...)...)
		if err != nil {
			return found, opposite, err
		}
		for _, c := range f.Comparisons {
			switch {
			case !c.Primary || c.Arm != h.arm:
			case c.Verdict == compare.Worse:
				found++
			case c.Verdict == compare.Better || c.Verdict == compare.Equivalent:
				opposite++
			default:
				fmt.Fprintf(os.Stderr, "  %s: %s\n", h.what, c.Sentence)
			}
		}
	}
	return found, opposite, nil
}

// madeApart calibrates the machine, makes runs of one build one after the
// other, and compares every two of them.
func madeApart(ctx context.Context, p *pipeline) ([]answer, error) {
	const runs = 15
	noise, err := p.study(ctx, "calibrate-noise")
	if err != nil {
		return nil, err
	}
	calibration := history.Calibration(p.facts.Rig, []record.Calibrated{history.Calibrate(compare.Run{}, compare.Run{}, noise.Run)})
	work := append([]string{"transport=go-net,go-http1", "blocks=6"}, brief...)
	var all []finding.Findings
	for i := range runs {
		f, err := p.study(ctx, append([]string{fmt.Sprintf("seed=%d", i+1)}, work...)...)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	pairs, wolves := 0, 0
	for i := range all {
		for k := range i {
			pairs++
			if history.CompareRuns(all[k].Run, all[i].Run, calibration).Result == compare.IsWorse {
				wolves++
			}
		}
	}
	return []answer{
		{fmt.Sprintf("two runs of one build, of which one is called worse (every two of %d)", runs), share(wolves, pairs), "≤ 5 %", atMost(wolves, pairs, 0.05)},
	}, nil
}
