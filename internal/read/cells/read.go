package cells

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

func sortOut(header record.Header, trials []record.Trial, records []record.Record, early *trial.Early) *Dataset {
	s := &Dataset{Plan: PlanOf(header), Facts: header.Facts, Decided: header.Allocations, Again: header.Again, at: map[Key][]*trial.Judged{}}
	byID := map[string]*trial.Judged{}
	horizon := record.Horizon(header, trials, records)
	for _, t := range trials {
		if t.Block > horizon && !t.Probe {
			if t.Block <= s.Blocks {
				s.skipped++
			}
			continue
		}
		if byID[t.ID] != nil {
			s.strayed(t.ID, "is planned twice; the first place counts")
			continue
		}
		v := early.Of(t)
		byID[t.ID] = v
		if t.Probe {
			s.Probes = append(s.Probes, v)
			continue
		}
		if t.Unloaded {
			s.Unloaded = append(s.Unloaded, v)
			continue
		}
		if t.FlatOut {
			s.FlatOut = append(s.FlatOut, v)
			continue
		}
		s.Trials = append(s.Trials, v)
	}
	for i := range records {
		id := records[i].Trial.ID
		switch v := byID[id]; {
		case v == nil:
			s.strayed(id, "left a record but is not in the plan; it is left out")
		case v.Record != nil:
			s.strayed(id, "left two records; the first counts")
		default:
			v.Record = &records[i]
		}
	}
	s.arrange()
	s.Look = s.atLook()
	return s
}

// Read sorts a run's records into its plan and examines each.
func Read(header record.Header, trials []record.Trial, records []record.Record) (*Dataset, error) {
	return ReadJudged(header, trials, records, nil)
}

// ReadJudged is Read of records that were judged as they were read; early is nil where none was.
func ReadJudged(header record.Header, trials []record.Trial, records []record.Record, early *trial.Early) (*Dataset, error) {
	s := sortOut(header, trials, records, early)
	for _, name := range s.Compare.Primary {
		if _, err := metric.Named(name); err != nil {
			return nil, fmt.Errorf("read compare.primary: %w", err)
		}
	}
	if len(s.Unloaded) > 0 {
		trial.JudgeAll(s.Unloaded)
		unloaded := trial.UnloadedTimes(s.Unloaded)
		for _, v := range s.Trials {
			v.Unloaded = unloaded(v.Plan)
		}
	}
	trial.JudgeAll(s.FlatOut)
	trial.JudgeAll(s.Trials)
	trial.ShareLinks(header.Facts, s.Trials)
	trial.LimitByLink(s.Trials)
	trial.LimitByPool(s.Trials)
	trial.LateForRig(s.Trials)
	s.readCourses()
	trial.PaceOfTurns(s.Trials)
	return s, nil
}

// OfBlocks is the part of a run in some blocks, as a run of its own that declares one metric.
func (s *Dataset) OfBlocks(blocks map[int]bool, primary string) *Dataset {
	part := &Dataset{Plan: s.Plan, Facts: s.Facts, at: map[Key][]*trial.Judged{}}
	part.Compare.Primary, part.Compare.Also = []string{primary}, nil
	for _, v := range s.Trials {
		if blocks[v.Plan.Block] {
			part.Trials = append(part.Trials, v)
		}
	}
	part.arrange()
	return part
}
