package report

import (
	"fmt"
	"math"
	"slices"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/part"
	"netdyno/internal/read/profile"
	"netdyno/internal/record"
)

// sampleLadder leads from go-net to asio: a small step back that is not told apart
// from 1, one that changes two things, and one with probes. The first cell alone is
// divided.
func sampleLadder(f *finding.Findings) ladder.Ladder {
	arms := []string{"go-net", "go-epoll-shared", "go-epoll", "asio"}
	l := ladder.Ladder{Spec: record.Ladder{Title: "From goroutines to C++", Arms: arms, Steps: []record.Step{
		{Title: "an event loop", Changes: []string{"server"}},
		{Title: "a listener for each loop", Changes: []string{"opt.server.listener", "opt.server.instances"}},
		{Changes: []string{"server"}},
	}}}
	for i, c := range f.Cells {
		p := ladder.Split{Cell: c.Name, Metric: sampleCost, Arms: arms, Blocks: 6, Of: 8, Level: 0.05, Bound: 0.02, Divided: i == 0}
		if !p.Divided {
			p.Reason = "the whole is not told apart from 1"
		}
		values := make([]float64, len(arms))
		for _, a := range c.Arms {
			if s, ok := summaryOf(a, sampleCost); ok {
				values[slices.Index(arms, a.Name)] = s.Value
			}
		}
		last := len(arms) - 1
		p.Whole = sampleStep(arms[last], arms[0], values[last], values[0], 0)
		for k := range last {
			s := sampleStep(arms[k+1], arms[k], values[k+1], values[k], math.Log(p.Whole.Ratio))
			s.Title, s.Changes = l.Spec.Steps[k].Title, l.Spec.Steps[k].Changes
			if !p.Divided {
				s.Share = ladder.Part{}
			}
			p.Steps = append(p.Steps, s)
		}
		saved := profile.Change{Name: "scheduler", Arm: 1.1, Base: 4.2, Difference: -3.1, Low: -3.6, High: -2.6, Told: true}
		p.Steps[1].Cause = &ladder.Cause{Pairs: 3, Whole: profile.Change{Difference: -3.4}, Activities: []profile.Change{saved}}
		p.Steps[2].Cause = &ladder.Cause{Pairs: 1, Whole: profile.Change{Difference: -1.2}, Activities: []profile.Change{{Name: "copying", Difference: 0.2, Low: 0.2, High: 0.2}}}
		p.Sentence = fmt.Sprintf("At %s, asio has %s the server CPU per exchange of go-net.", c.Name, part.Times(p.Whole.Ratio))
		l.Splits = append(l.Splits, p)
	}
	return l
}

// sampleStep has an interval of 3 % of its ratio; of a whole whose logarithm is 0 it
// is the whole itself.
func sampleStep(arm, base string, value, under, whole float64) ladder.Step {
	s := ladder.Step{Arm: arm, Base: base, Value: value, BaseValue: under, Ratio: value / under, P: 0.03}
	s.Low, s.High = s.Ratio/1.03, s.Ratio*1.03
	s.Told = s.Low > 1 || s.High < 1
	s.Added = ladder.Part{Value: value - under, Low: value - under - 0.03*value, High: value - under + 0.03*value}
	s.Share = ladder.Part{Value: 1, Low: 1, High: 1}
	if whole != 0 {
		share, half := math.Log(s.Ratio)/whole, 0.03/math.Abs(whole)
		s.Share = ladder.Part{Value: share, Low: share - half, High: share + half}
	}
	return s
}
