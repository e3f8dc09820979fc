package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
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
		contents.Header.Directory = string(dir)
		look, err := compare.Look(contents.Header, p.all, contents.Records, stage)
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

// extent says how much of a plan is left: its trials, blocks and time, from the
// least to the most where the run may end at a stage.
func (p *plan) extent(left []record.Trial) string {
	most := p.time(left).Round(time.Second)
	whole := fmt.Sprintf("%s in %s, about %s", counted(len(left), "trial"), counted(blocksOf(left), "block"), most)
	for _, blocks := range p.study.Stages {
		if least := study.Before(left, blocks); blocksOf(least) > 0 && len(least) < len(left) {
			return fmt.Sprintf("%d to %d trials in %d to %d blocks, about %s to %s", len(least), len(left), blocksOf(least), blocksOf(left), p.time(least).Round(time.Second), most)
		}
	}
	return whole
}

// blocksOf counts the blocks of trials, probes apart.
func blocksOf(trials []record.Trial) int {
	seen := map[int]bool{}
	for _, t := range trials {
		if !t.Probe {
			seen[t.Block] = true
		}
	}
	return len(seen)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printStages says after which blocks a run may stop, when that is, and to which
// it can go on.
func (p *plan) printStages() {
	sum := study.Summary(p.study)
	looks := sum.Looks()
	if len(looks) == 1 {
		return
	}
	var said []string
	longest := p.time(p.trials)
	shortest := longest
	for i, level := range cells.StageLevels(sum) {
		if level == 0 {
			continue
		}
		said = append(said, fmt.Sprintf("after %s at level %.3g", counted(looks[i], "block"), level))
		if looks[i] < sum.Blocks {
			shortest = min(shortest, p.time(study.Before(p.trials, looks[i])))
		}
	}
	text := "about " + longest.Round(time.Second).String()
	if shortest < longest {
		text = fmt.Sprintf("from about %s to %s", shortest.Round(time.Second), text)
	}
	if len(sum.Further) > 0 {
		text += fmt.Sprintf("; --continue goes on to %s blocks", strings.Trim(strings.ReplaceAll(fmt.Sprint(sum.Further), " ", ", "), "[]"))
	}
	fmt.Fprintf(stdout, "stages: looks %s; %s\n", strings.Join(said, ", "), text)
}
