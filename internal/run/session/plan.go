package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// Plan is a study unfolded into trials, and what was found out about them.
type Plan struct {
	Study    *study.Study
	All      []record.Trial // of every look
	Trials   []record.Trial // of the looks that this session goes to
	Kinds    []Kind
	Messages map[string]contract.Structure // by level of factor message
	Warnings []record.Warning

	workloads *workloads
}

// Kind is one sort of trial: the levels of an arm in a cell.
type Kind struct {
	Arm string
	study.Work
}

// newPlan unfolds a study and resolves its messages.
func newPlan(ctx context.Context, s *study.Study, w *workloads) (*Plan, error) {
	p := &Plan{Study: s, workloads: w}
	var err error
	if p.All, p.Warnings, err = s.Plan(); err != nil {
		return nil, err
	}
	p.Trials = study.Before(p.All, s.Blocks)
	if err := w.resolve(ctx, p.All); err != nil {
		return nil, err
	}
	if p.Kinds, err = p.kindsOf(p.Trials); err != nil {
		return nil, err
	}
	p.Messages, err = resolveMessages(ctx, p.Trials)
	return p, err
}

// kindsOf decodes each sort of trial once.
func (p *Plan) kindsOf(trials []record.Trial) ([]Kind, error) {
	var kinds []Kind
	seen := map[[2]string]bool{}
	for _, t := range trials {
		key := [2]string{t.Arm, t.Cell}
		if seen[key] || t.Unloaded || t.FlatOut {
			continue
		}
		seen[key] = true
		work, err := study.Decode(t.Levels)
		if err == nil {
			work, err = p.workloads.enter(work, t.Seed)
		}
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, Kind{t.Arm, work})
	}
	return kinds, nil
}

// readStudy parses the study that a request names, or the one that the directory
// of a run to continue holds.
func readStudy(ctx context.Context, r Request, choice arrange.Choice) (*study.Study, error) {
	read := input.Within(ctx, source.MaxFile)
	if !r.Continue {
		return readArguments(r, choice, read)
	}
	text, err := read(r.Out.Study())
	if err != nil {
		return nil, fmt.Errorf("continue: %w", err)
	}
	return source.ParseFile(r.Out.Study(), text)
}

func readArguments(r Request, choice arrange.Choice, read func(string) ([]byte, error)) (*study.Study, error) {
	a, err := source.ReadArguments(r.Args)
	if err != nil {
		return nil, err
	}
	for _, set := range r.Set {
		if err := a.Set(set.By, set.Key, set.Value); err != nil {
			return nil, err
		}
	}
	for _, arm := range r.Arms {
		if err := a.AddArm(arm.Given, arm.Name, arm.Levels); err != nil {
			return nil, err
		}
	}
	option := "--rig " + choice.String()
	if err := holdLink(a, option, choice); err != nil {
		return nil, err
	}
	if choice.External() {
		if err := nameServer(a, option); err != nil {
			return nil, err
		}
	}
	return a.Study(read)
}

// checkTransports checks each kind of trial: its transports exist, can be
// paired and take its options. In a built-in study an absent worker leaves its
// cells empty, and the plan is warned. A name that the user typed must exist.
func (p *Plan) checkTransports(catalog *bench.Catalog, builtIn, external bool) error {
	absent := map[string]error{}
	possible := 0
	pairs, takes := catalog.Pairs, catalog.Takes
	if external {
		c := &clientsOnly{catalog: catalog}
		pairs, takes = c.pairs, c.takes
	}
	for _, k := range p.Kinds {
		if err := pairs(k.Work); err != nil {
			absent[k.Arm] = err
			continue
		}
		if err := takes(k.Work); err != nil {
			return fmt.Errorf("arm %s: %w", k.Arm, err)
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
		advice := "`netdyno transports` lists what the workers here have"
		if known := (*bench.AbsentError)(nil); errors.As(absent[arm], &known) && known.Advice != "" {
			advice = known.Advice
			reason = (&bench.AbsentError{Transport: known.Transport, Reason: known.Reason}).Error()
		}
		p.Warnings = append(p.Warnings, record.Warning{About: "absent", Text: "arm " + arm + ": its cells stay empty: " + reason, Advice: advice})
	}
	return errors.Join(all...)
}

// tools identifies the workers that the plan's trials start.
func (p *Plan) tools(catalog *bench.Catalog) (map[string]record.Binary, error) {
	programs := p.programs(catalog)
	return catalog.Binaries(func(b bench.Program) bool { return slices.Contains(programs, b.Path) })
}

// programs returns the paths of the workers that the plan's trials start.
func (p *Plan) programs(catalog *bench.Catalog) []string {
	var paths []string
	for _, k := range p.Kinds {
		for _, offer := range catalog.Ends(k.Work) {
			if !slices.Contains(paths, offer.Program.Path) {
				paths = append(paths, offer.Program.Path)
			}
		}
	}
	return paths
}
