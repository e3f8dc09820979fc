package main

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// trialOverhead is what starting, connecting, verifying and ending a trial
// takes, for estimates.
const trialOverhead = 200 * time.Millisecond

func (p *plan) time(trials []record.Trial) time.Duration { return p.estimate(trials).Total }

func (p *plan) estimate(trials []record.Trial) study.Estimate {
	return study.EstimateTime(trials, p.pace())
}

// pace is how fast fixed amounts of work are taken to go here: as the best
// stream of this machine's calibration, where there is one.
func (p *plan) pace() study.Pace {
	pace := study.Pace{Overhead: trialOverhead + bench.Rest(p.rig), BytesPerS: study.DefaultBytesPerS}
	if c := p.facts.Calibration; c != nil && c.LinkBytesPerS > 0 {
		pace.BytesPerS = c.LinkBytesPerS
	}
	return pace
}

// printAmounts says what an estimate of fixed amounts rests on.
func (p *plan) printAmounts() {
	e := p.estimate(p.trials)
	if e.Guessed == 0 {
		return
	}
	fmt.Fprintf(stdout, "fixed amounts: %d trials of %s exchanges in all", e.Guessed, quantity.FormatCount(e.Exchanges))
	if e.Bytes > 0 {
		whose := ""
		if p.facts.Calibration != nil {
			whose = "this machine's calibrated "
		}
		fmt.Fprintf(stdout, " and %s, taken to move at %s%s", quantity.FormatBytes(e.Bytes), whose, quantity.FormatByteRate(p.pace().BytesPerS))
	}
	fmt.Fprintln(stdout, "; slower arms take longer")
}

// kind is one sort of trial of the plan, the levels of an arm in a cell.
type kind struct {
	arm string
	study.Work
}

// kindsOf decodes each sort of trial once.
func kindsOf(trials []record.Trial) ([]kind, error) {
	var kinds []kind
	seen := map[[2]string]bool{}
	for _, t := range trials {
		if armAndCell := [2]string{t.Arm, t.Cell}; !seen[armAndCell] {
			seen[armAndCell] = true
			work, err := study.Decode(t.Levels)
			if err != nil {
				return nil, err
			}
			kinds = append(kinds, kind{t.Arm, work})
		}
	}
	return kinds, nil
}

// checkEnds looks at each kind of trial: its levels decode, its transports
// exist, can meet and take its options. In a built-in study an absent worker leaves its cells
// empty, with the reason; a name that the user typed must exist.
func (p *plan) checkEnds(named string) error {
	builtIn := slices.Contains(study.List(), named)
	absent := map[string]error{}
	possible := 0
	pairs, takes := p.catalog.Pairs, p.catalog.Takes
	if p.external {
		l := &clientsOnly{catalog: p.catalog}
		pairs, takes = l.pairs, l.takes
	}
	for _, k := range p.kinds {
		if err := pairs(k.Work); err != nil {
			absent[k.arm] = err
			continue
		}
		if err := takes(k.Work); err != nil {
			return fmt.Errorf("arm %s: %w", k.arm, err)
		}
		possible++
	}
	var all []error
	for _, arm := range slices.Sorted(maps.Keys(absent)) {
		reason := strings.TrimPrefix(absent[arm].Error(), "unsupported: ")
		if !builtIn || possible == 0 {
			all = append(all, fmt.Errorf("arm %s: %s", arm, reason))
			continue
		}
		p.warnings = append(p.warnings, record.Warning{
			About: "arm " + arm, Text: "its cells stay empty: " + reason,
			Advice: "`make build` says which packages a worker needs",
		})
	}
	return errors.Join(all...)
}

// programs are the paths of the workers that the plan's trials start.
func (p *plan) programs() []string {
	var paths []string
	for _, k := range p.kinds {
		for _, offer := range p.catalog.Ends(k.Work) {
			if !slices.Contains(paths, offer.Program.Path) {
				paths = append(paths, offer.Program.Path)
			}
		}
	}
	return paths
}

// checkLink refuses a link that the rig cannot shape, before anything runs.
func (p *plan) checkLink() error {
	if _, able := p.rig.(rig.Shaper); able {
		return nil
	}
	for _, k := range p.kinds {
		if k.Link != (record.Link{}) {
			return rig.Unshaped(p.rig)
		}
	}
	return nil
}

// placements says which CPUs each end gets, for each placement of the plan.
func (p *plan) placements() string {
	var said []string
	for _, k := range p.kinds {
		work := k.Work
		server, clients, err := p.seat(work)
		if err != nil || len(clients) == 0 {
			continue
		}
		text := fmt.Sprintf("placement %s: server %s, clients %s", work.Placement, p.seated(server), p.seated(clients...))
		if away, ok := p.rig.(rig.External); ok {
			text = p.drives(away, work.Placement, clients)
		} else if len(p.hosts) == 1 && len(server.CPUs) == 0 {
			text = "placement free: the scheduler chooses CPUs"
		}
		if !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	return strings.Join(said, "; ")
}

// seated says where workers of one role sit: "on CPU 1" where there is one
// host, else "at node2 and node3 on CPU 1".
func (p *plan) seated(seats ...rig.Seat) string {
	var where []string
	for _, s := range seats {
		text := "on any CPU"
		if len(s.CPUs) > 0 {
			text = "on CPU " + cpuset.Format(s.CPUs)
		}
		if len(p.hosts) > 1 {
			text = "at " + s.Name + " " + text
		}
		if !slices.Contains(where, text) {
			where = append(where, text)
		}
	}
	return strings.Join(where, ", ")
}

// print is the dry run: the plan, its time and its warnings.
func (p *plan) print() error {
	fmt.Fprintf(stdout, "%s: %s\n", p.study.Name, p.study.Question)
	perBlock, probes := p.counts()
	fmt.Fprintf(stdout, "%d trials: %d blocks of %d, the baseline %q twice in each", len(p.trials), p.study.Blocks, perBlock, p.study.Compare.Baseline)
	if probes > 0 {
		fmt.Fprintf(stdout, ", and %d probes", probes)
	}
	fmt.Fprintf(stdout, "; about %s\n", p.time(p.trials).Round(time.Second))
	p.printAmounts()
	p.printStages()
	fmt.Fprintf(stdout, "primary: %s; margin %s\n", strings.Join(p.study.Compare.Primary, ", "), quantity.FormatShare(p.study.Compare.Margin))
	fmt.Fprintln(stdout, p.placements())
	for _, w := range p.warnings {
		fmt.Fprintf(stdout, "! %s: %s\n", w.About, w.Text)
		if w.Advice != "" {
			fmt.Fprintf(stdout, "  %s\n", w.Advice)
		}
	}
	fmt.Fprintln(stdout, "\nfirst block, in its order:")
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, t := range p.trials[:perBlock] {
		again := ""
		if t.Repeat {
			again = "(again)"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", t.ID, t.Cell, t.Arm, again)
	}
	return w.Flush()
}

// counts returns the trials of a block, which come first in the plan, and the
// probes after all blocks.
func (p *plan) counts() (perBlock, probes int) {
	for _, t := range p.trials {
		switch {
		case t.Probe:
			probes++
		case t.Block == 1:
			perBlock++
		}
	}
	return perBlock, probes
}

// remaining are the trials without a record.
func remaining(trials []record.Trial, done []record.Record) []record.Trial {
	has := map[string]bool{}
	for _, r := range done {
		has[r.Trial.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return has[t.ID] })
}

func sameTrials(a, b []record.Trial) bool {
	return slices.EqualFunc(a, b, func(x, y record.Trial) bool { return reflect.DeepEqual(x, y) })
}
