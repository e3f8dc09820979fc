// Package study holds a study and plans it: the trials of every block in their
// random order. It is pure: it reads no clock, no network and no file. Package
// source makes a Study of a file or of a command line.
//
// A study holds or varies factors (factors.go) at levels (level.go). Its sweeps
// make it the union of factorial designs (design.go, sweep.go); every
// combination of a design is a cell (cell.go) in which the compared arms run.
// Complete adds what is implied and refuses contradictions. Plan unfolds the
// trials, with warnings about what they cannot tell; Decode turns a trial's
// levels back into typed values for the bench. Scope says what charts,
// costs and conditions may ask of the trials.
package study

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// Study is a study as it will be run. A value that package source returns is
// complete and free of contradictions; nothing may change it. The fields with a tag are
// the keys of a study file: what package source reads, writes, completes and explains
// follows from the tags, here and in package record.
type Study struct {
	Name      string                       `key:"study" typed:"study" must:"yes" is:"name" doc:"name of the study, and of its directory"`
	Question  string                       `key:"question" typed:"question" is:"sentence" doc:"what the study asks"`
	Hold      []Setting                    `key:"hold" is:"setting" doc:"factors at one level each, for every trial"`
	Vary      []Varied                     `key:"vary" is:"varied" doc:"factors at several levels each, every combination of which runs; under arm the bundles, each with its levels"`
	Labels    map[string]map[string]string `key:"labels" is:"labels" doc:"what levels are called in sentences and charts; an arm or a sweep has its own label"`
	Sweeps    []Sweep                      `key:"sweeps" min:"1" max:"100" doc:"parts of the study with levels of their own; the plan is the union of them"` // none: Hold and Vary are the whole design
	Compare   record.Compare               `key:"compare" doc:"what is compared with what"`
	Recommend []string                     `key:"recommend" typed:"recommend" is:"metrics" doc:"primary metrics in the order in which they weigh in what to use: the next decides among the best of the one before; all alike unless given"`
	Reference []string                     `key:"reference" typed:"reference" is:"arms" doc:"arms that are measured and compared as all others, and never what to use: an echo as the bound of what runs over it"`
	Blocks    int                          `key:"blocks" typed:"blocks" is:"number" min:"1" max:"1000" doc:"how often every arm runs in every cell; unless given 8, 16 or 32 times, until everything is settled"` // that a run does by itself, at most
	Seed      uint64                       `key:"seed" typed:"seed" is:"number" max:"9007199254740992" doc:"seed of the trials' order and of every schedule; 1 unless given"`                                     // up to 2^53
	Mesh      bool                         `key:"mesh" typed:"mesh" is:"flag" doc:"yes: every ordered pair of hosts of server.host and client.host, else of the rig, is a cell; pairs without a host in common run at the same time"`
	Settle    float64                      `key:"settle" typed:"settle" is:"precision" doc:"the time within which comparisons may settle, 2m; of one arm the share within which every rate is to be known, 5%, or both, 5%/2m"` // 0 for no share
	SettleS   float64                      // seconds that the trials after the first block may take until then; 0 for no bound
	Race      *record.Race                 `key:"race" doc:"look for the best arm in far fewer trials than every arm in every block takes"`
	Capacity  *record.Capacity             `key:"capacity" typed:"capacity" doc:"yes: look for the highest rate at which each arm meets an objective"` // declared by at most one of these two, a run decides before each block what it runs
	Probes    int                          `key:"probes" typed:"probes" is:"number" max:"100" doc:"profiled trials per arm and cell, run after the blocks and not compared"`
	Charts    []record.Chart               `key:"charts" doc:"charts of the report"`
	Costs     []record.Cost                `key:"costs" doc:"models of what an exchange or a process costs"`
	Ladders   []record.Ladder              `key:"ladder" doc:"arms in an order in which each differs from the one before in one thing"`
	Expect    []record.Expectation         `key:"expect" typed:"require" is:"expectations" max:"1000" doc:"what is expected of the results: lines are bounds that must hold, such as 'response_p99_us of go-net <= 5ms', mappings are statements that are put to the test"`
	Requires  []record.Require             // the lines of Expect

	Arms     []Arm    // the bundles of the factor "arm", when it varies
	Fixed    bool     // the study gives its blocks
	OwnLooks []int    // blocks after which the run may stop, the last of them Blocks; nil for one look
	Further  []int    // blocks after Blocks to which it goes on when it is told to; nil for none
	At       Position // where it begins

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
	Name  string    `key:"name" must:"yes" is:"name" doc:"name of the sweep"`
	Label string    `key:"label" is:"label" doc:"what its cells are called; its name where there is one cell, and it is of no other sweep"`
	Hold  []Setting `key:"hold" is:"setting" doc:"as hold of the study, which it goes before"`
	Vary  []Varied  `key:"vary" is:"varied" doc:"factors that this sweep varies, two that vary together as request+response; of those that the study varies, some of their levels; under arm names, or a mapping from these to levels that the arms have in this sweep beside their own"`
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
	type named struct {
		factor string
		level  *Level
	}
	var all []named
	add := func(hold []Setting, vary []Varied) {
		for i := range hold {
			all = append(all, named{hold[i].Factor, &hold[i].Level})
		}
		for _, v := range vary {
			for i := range v.Levels {
				all = append(all, named{v.Factor, &v.Levels[i]})
			}
		}
	}
	add(s.Hold, s.Vary)
	for _, a := range s.Arms {
		add(a.Settings, nil)
	}
	for _, w := range s.Sweeps {
		add(w.Hold, w.Vary)
		for _, a := range w.Arms {
			add(a.Settings, nil)
		}
	}
	return func(yield func(string, *Level) bool) {
		for _, one := range all {
			if !yield(one.factor, one.level) {
				return
			}
		}
	}
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
