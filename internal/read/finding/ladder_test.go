package finding_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// climbed reads a run of four arms, each a step from the one before, in one cell.
func climbed(t *testing.T, blocks int) string {
	t.Helper()
	o := synthetic.Options{Bare: true, Connections: []int{50}, Blocks: blocks, SD: 0.005, BlockSD: 0.1, Seed: 3, Rate: 20_000, Primary: []string{serverCPU}}
	o.Arms = []synthetic.Arm{{Name: "pooled"}, {Name: "framed"}, {Name: "copied", Cost: 2}, {Name: "encoded", Cost: 1.6}}
	h, trials, records := synthetic.Run(o)
	h.Study.Ladders = []record.Ladder{{Arms: h.Study.Vary[0].Levels, Steps: []record.Step{{Title: "frames"}, {Title: "a copy"}, {}}}}
	f := find(t, h, trials, records)
	if len(f.Ladders) != 1 || len(f.Ladders[0].Splits) != 1 {
		t.Fatalf("%+v", f.Ladders)
	}
	return f.Ladders[0].Splits[0].Sentence
}

// The sentence says what each step has, which goes the other way, and which is
// nothing; without shares it says why.
func TestALadderIsToldInWords(t *testing.T) {
	told := climbed(t, 8)
	for _, part := range []string{
		"At 50 connections, encoded has 1.60× the server CPU of pooled (", ", 8 blocks). Of that ratio, 148 % (", " is a copy. Against it: the step from copied to encoded, −47.",
		" Not told apart from 1: frames (0.99",
	} {
		if !strings.Contains(told, part) {
			t.Errorf("%q does not say %q", told, part)
		}
	}
	if few := climbed(t, 3); !strings.HasSuffix(few, "; the steps have no shares of it: all arms have valid figures in 3 of 3 blocks, too few to tell the whole apart from 1 at the level of 0.05.") {
		t.Errorf("%q", few)
	}
	if one := climbed(t, 1); one != "No steps at 50 connections: pooled and framed cannot be compared: blocks in which both arms have a valid value: 1, and at least 2 are needed." {
		t.Errorf("%q", one)
	}
}

// Probes of three rounds, in which one arm copies more, are in the sentence of its
// step, in the unit that the study judges.
func TestALadderNamesWhatItsProfilesShow(t *testing.T) {
	o := synthetic.Options{Bare: true, Connections: []int{50}, Blocks: 6, SD: 0.005, Seed: 3, Primary: []string{"server.cpu_s_per_gb"}}
	o.Arms = []synthetic.Arm{{Name: "pooled"}, {Name: "copied", Cost: 2}, {Name: "encoded", Cost: 2.2}}
	h, trials, records := synthetic.Run(o)
	h.Study.Ladders = []record.Ladder{{Arms: h.Study.Vary[0].Levels, Steps: []record.Step{{Title: "a copy"}, {}}}}
	for i := range records {
		r := records[i]
		if r.Trial.Block > 3 || r.Trial.Repeat {
			continue
		}
		copying := 100 * time.Millisecond
		if r.Trial.Arm != "pooled" {
			copying = 600 * time.Millisecond
		}
		profile := synthetic.Profile([]synthetic.Stack{
			{Functions: []string{"runtime.memmove"}, CPU: copying}, {Functions: []string{"syscall.Syscall"}, CPU: 500*time.Millisecond + time.Duration(r.Trial.Block)*time.Millisecond},
		})
		r.Workers = slices.Clone(r.Workers)
		for k := range r.Workers {
			result := *r.Workers[k].Result
			result.Profile = profile
			r.Workers[k].Result = &result
		}
		r.Trial.ID, r.Trial.Probe, r.Trial.Order = "p"+r.Trial.ID, true, len(trials)
		r.Trial.Block += 6
		trials, records = append(trials, r.Trial), append(records, r)
	}
	f := find(t, h, trials, records)
	told := f.Ladders[0].Splits[0].Sentence
	if !strings.Contains(told, "is a copy (the profiles show ") || !strings.Contains(told, " s/GB more in copying by the program)") {
		t.Errorf("%q", told)
	}
	for _, s := range f.Ladders[0].Splits[0].Steps {
		if s.Cause == nil || s.Cause.Pairs != 3 {
			t.Errorf("of 3 rounds %+v", s.Cause)
		}
	}
}
