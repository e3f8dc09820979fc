package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// looks returns what the bench asks between blocks: after a declared stage but
// the last, whether what was measured settles the study. If so the run's file
// says that it stopped there. What each look found is said. Nil for a study without stages.
func (p *plan) looks(dir directory, file *record.File, say func(string)) func(blocks int) (bool, error) {
	stages := p.study.Stages
	if len(stages) == 0 {
		return nil
	}
	return func(blocks int) (bool, error) {
		stage := slices.Index(stages, blocks) + 1
		if stage == 0 || stage == len(stages) {
			return false, nil
		}
		contents, err := record.Read(dir.records())
		if err != nil {
			return false, err
		}
		look, err := finding.Look(contents.Header, p.trials, contents.Records, stage)
		if err != nil {
			return false, err
		}
		say(look.Sentence)
		if !look.Settled {
			return false, nil
		}
		return true, file.Stop(record.Stop{Stage: stage, Blocks: blocks})
	}
}

// sameQuestions refuses to go on with a run under other stages or requirements:
// what is asked of figures is declared before they are seen.
func (p *plan) sameQuestions(header record.Header) error {
	now, was := study.Summary(p.study), header.Study
	if !slices.Equal(now.Stages, was.Stages) {
		return fmt.Errorf("resume: the run began with the stages %v, this command has %v; stages are declared before the first trial", was.Stages, now.Stages)
	}
	same := func(a, b record.Require) bool { return reflect.DeepEqual(a, b) }
	if !slices.EqualFunc(now.Requires, was.Requires, same) {
		return fmt.Errorf("resume: the run began with other requirements; expected %q", texts(was.Requires))
	}
	return nil
}

func texts(requires []record.Require) []string {
	var all []string
	for _, r := range requires {
		all = append(all, r.Text)
	}
	return all
}

// stopEarly leaves out what a run that stopped at a stage does not run.
func (p *plan) stopEarly(at *record.Stop) {
	if at == nil {
		return
	}
	p.trials = study.Before(p.trials, at.Blocks)
	fmt.Fprintf(stdout, "%s stopped after stage %d of %d (%d blocks), where everything was settled: it is done but for its probes\n",
		p.study.Name, at.Stage, len(p.study.Stages), at.Blocks)
}

// printStages says after which blocks a run may stop, and when that is.
func (p *plan) printStages() {
	stages := p.study.Stages
	if len(stages) == 0 {
		return
	}
	var looks []string
	shortest := p.time(p.trials)
	for i, level := range finding.StageLevels(study.Summary(p.study)) {
		if level == 0 {
			continue
		}
		looks = append(looks, fmt.Sprintf("after %d blocks at level %.3g", stages[i], level))
		shortest = min(shortest, p.time(study.Before(p.trials, stages[i])))
	}
	fmt.Fprintf(stdout, "stages: looks %s; from about %s to about %s\n", strings.Join(looks, ", "), shortest.Round(time.Second), p.time(p.trials).Round(time.Second))
}
