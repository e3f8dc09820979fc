// Package study holds a study and plans it: the trials of every block in their
// random order. It is pure: it reads no clock, no network and no file. Package
// source makes a Study of a file or of a command line.
//
// A study holds or varies factors (factors.go) at levels (level.go). Its sweeps
// make it the union of factorial designs (design.go, sweep.go); every
// combination of a design is a cell (cell.go) in which the compared arms run.
// Complete adds what is implied and refuses contradictions. Plan unfolds the
// trials, with warnings about what they cannot tell; Decode turns a trial's
// levels back into typed values for the bench. Scope says what charts, fits,
// reaches, claims and requirements may ask of the trials.
package study

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// Study is a study as it will be run. A value that package source returns is
// complete and free of contradictions; nothing may change it.
type Study struct {
	Name      string
	Question  string
	Hold      []Setting
	Vary      []Varied // in the order written
	Arms      []Arm    // the bundles of the factor "arm", when it varies
	Sweeps    []Sweep  // none: Hold and Vary are the whole design
	Compare   record.Compare
	Recommend []string // as record.Study's
	Reference []string // likewise
	Blocks    int      // that a run does by itself, at most
	Fixed     bool     // the study gives its blocks
	OwnLooks  []int    // blocks after which the run may stop, the last of them Blocks; nil for one look
	Further   []int    // blocks after Blocks to which it goes on when it is told to; nil for none
	Mesh      bool     // its cells are ordered pairs of hosts, and disjoint ones run at the same time
	SettleS   float64  // seconds that the trials after the first block may take until then; 0 for no bound
	Settle    float64  // share of its rate within which every cell's interval must lie for the run to end; 0 for none; of one arm only
	Probes    int      // per arm and cell
	Seed      uint64
	Charts    []record.Chart
	Costs     []record.Cost
	Labels    map[string]map[string]string // what levels are in plain words, by factor
	Ladders   []record.Ladder
	Expect    []record.Expectation
	Requires  []record.Require
	Capacity  *record.Capacity // declared by at most one of these two, a run decides before each block what it runs
	Race      *record.Race
	At        Position // where it begins

	drawn    *sample  // the ways of a mesh of many hosts
	dropped  []string // requirements of a file whose arms or levels an override left out
	replaced []string // primary metrics of a file that an override left without an open loop
}

// Setting is a factor at one level.
type Setting struct {
	Factor string
	Level  Level
	At     Position // of the factor's name
}

// Varied is a factor at several levels; those of "arm" are the arms' names.
type Varied struct {
	Factor string
	Levels []Level
	At     Position // of the factor's name
}

// Arm is a named bundle of levels.
type Arm struct {
	Name     string
	Label    string // in plain words; "" for none
	Settings []Setting
	At       Position
}

// Sweep is a named part of a study that has levels of its own. The plan is the
// union of its sweeps' cells and arms.
type Sweep struct {
	Name  string
	Label string    // in plain words; "" for none
	Hold  []Setting // in the place of what the study holds
	Vary  []Varied  // beside what the study varies; of a factor in both, some of its levels
	Arms  []Arm     // levels that arms have here beside their own; none, or every arm of this sweep
	At    Position
}

// ArmFactor is the factor whose levels are named bundles of others.
const ArmFactor = "arm"

// Find returns the level of a factor among settings.
func Find(settings []Setting, factor string) (Level, bool) {
	for _, s := range settings {
		if s.Factor == factor {
			return s.Level, true
		}
	}
	return Level{}, false
}

// FindVaried returns the varied factor of a name, or nil.
func FindVaried(all []Varied, factor string) *Varied {
	for i := range all {
		if all[i].Factor == factor {
			return &all[i]
		}
	}
	return nil
}

// Sets tells whether the sweep itself holds or varies a factor.
func (w *Sweep) Sets(factor string) bool {
	_, held := Find(w.Hold, factor)
	return held || FindVaried(w.Vary, factor) != nil
}

// Varies tells whether the whole study varies a factor.
func (s *Study) Varies(factor string) bool { return FindVaried(s.Vary, factor) != nil }

// Steered tells whether a run decides before each block what of it runs.
func (s *Study) Steered() bool { return s.Capacity != nil || s.Race != nil }

// planned is the number of blocks that the plan holds, those of further looks
// included.
func (s *Study) planned() int { return slices.Max(append([]int{s.Blocks}, s.Further...)) }

// Levels visits every level that the study itself names, with its factor: held, varied,
// of arms, then of sweeps.
func (s *Study) Levels() iter.Seq2[string, *Level] {
	return func(yield func(string, *Level) bool) {
		both := func(hold []Setting, vary []Varied) bool {
			for i := range hold {
				if !yield(hold[i].Factor, &hold[i].Level) {
					return false
				}
			}
			for _, v := range vary {
				for i := range v.Levels {
					if !yield(v.Factor, &v.Levels[i]) {
						return false
					}
				}
			}
			return true
		}
		goesOn := both(s.Hold, s.Vary)
		for i := 0; i < len(s.Arms) && goesOn; i++ {
			goesOn = both(s.Arms[i].Settings, nil)
		}
		for i := 0; i < len(s.Sweeps) && goesOn; i++ {
			goesOn = both(s.Sweeps[i].Hold, s.Sweeps[i].Vary)
			for k := 0; k < len(s.Sweeps[i].Arms) && goesOn; k++ {
				goesOn = both(s.Sweeps[i].Arms[k].Settings, nil)
			}
		}
	}
}

// Renamed tells which names that the user typed have changed, each once; nil for
// a study in today's names.
func (s *Study) Renamed() []string {
	var all []string
	for _, l := range s.Levels() {
		if l.Renamed != "" && !slices.Contains(all, l.Renamed) {
			all = append(all, l.Renamed)
		}
	}
	return all
}

// Position is where the user wrote something: in a line of a file, or in an
// argument of the command line. Package source knows both; nil stands for what
// nobody wrote, a default.
type Position interface {
	String() string  // "blocks.yaml:12:9" or `argument 3 ("rate=20K")`
	Excerpt() string // the line with a caret under it; "" on the command line
}

// Error is a mistake in a study. It names the position, what was found and what
// was expected, and shows the line.
type Error struct {
	Position string
	Text     string
	Excerpt  string
}

func (e *Error) Error() string {
	if e.Excerpt == "" {
		return e.Position + ": " + e.Text
	}
	return e.Position + ": " + e.Text + "\n" + e.Excerpt
}

// Lines are what Error consists of: text and place, then the line itself with its caret.
func (e *Error) Lines() []string {
	return append([]string{e.Position + ": " + e.Text}, strings.Split(e.Excerpt, "\n")...)
}

// Errorf returns an *Error at a position, which may be nil.
func Errorf(at Position, format string, values ...any) error {
	e := &Error{Position: where(at), Text: fmt.Sprintf(format, values...)}
	if at != nil {
		e.Excerpt = at.Excerpt()
	}
	return e
}

func where(at Position) string {
	if at == nil {
		return "the default"
	}
	return at.String()
}

// Summary returns what readers need of the study. Hold has every level that
// all trials share, defaults included; Vary begins with the compared factor and
// has what sweeps hold differently too. The planner's warnings are the caller's
// to add.
func Summary(s *Study) record.Study {
	out := record.Study{
		Name: s.Name, Question: s.Question, Hold: map[string]string{}, Compare: s.Compare, Recommend: slices.Clone(s.Recommend), Reference: slices.Clone(s.Reference),
		Blocks: s.Blocks, OwnLooks: slices.Clone(s.OwnLooks), Further: slices.Clone(s.Further), Settle: s.Settle, SettleS: s.SettleS, Mesh: s.Mesh, Partners: s.partnersDrawn(), Seed: s.Seed, Capacity: s.Capacity, Race: s.Race,
		Requires: slices.Clone(s.Requires),
		Charts:   slices.Clone(s.Charts), Costs: slices.Clone(s.Costs), Expect: slices.Clone(s.Expect), Ladders: slices.Clone(s.Ladders),
	}
	others := s.others()
	shared, designs := defaults(), s.designs()
	for _, h := range designs[0].hold {
		set(shared, h.Factor, h.Level)
	}
	settle(shared)
	for factor, level := range shared {
		if !s.differs(factor, designs, others) {
			out.Hold[factor] = level.Text
		}
	}
	out.Labels = s.labels()
	out.Vary = append(out.Vary, factorOf(s.Compared()))
	for _, v := range others {
		out.Vary = append(out.Vary, factorOf(v))
	}
	return out
}

// differs reports whether a trial's factor is not the study's to hold: it is
// compared or names cells, is bundled in an arm, or follows from one that is.
func (s *Study) differs(factor string, designs []*design, others []Varied) bool {
	for _, source := range append([]string{factor}, follows[factor]...) {
		if s.Varies(source) || FindVaried(others, source) != nil {
			return true
		}
		for _, d := range designs {
			if slices.ContainsFunc(d.bundles, func(a Arm) bool { _, ok := Find(a.Settings, source); return ok }) {
				return true
			}
		}
	}
	return false
}
