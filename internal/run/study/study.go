// Package study turns a study, from a file or from the command line, into a
// plan: the trials of every block in their random order. It is pure: it reads
// no clock, no network and no file but those handed to it.
//
// A file and a command line become the same tree of nodes with places (tree.go,
// args.go); parse.go gives the tree its meaning by the table in factors.go;
// contradictions.go refuses what cannot be meant; sweep.go takes a study apart
// into the factorial designs that it is the union of; plan.go unfolds their
// trials; work.go turns a trial's levels back into typed values for the bench.
// Charts, fits, searches and requirements (chart.go, fit.go, reach.go, view.go, require.go) are checked
// against the plan here and drawn, or judged, by readers.
package study

import (
	"slices"

	"netdyno/internal/record"
)

// Study is a study as it will be run. A value returned by ParseFile or
// ParseArgs is complete and free of contradictions; nothing may change it.
type Study struct {
	Name      string
	Question  string
	Hold      []Setting
	Vary      []Varied // in the order written
	Arms      []Arm    // the bundles of the factor "arm", when it varies
	Sweeps    []Sweep  // none: Hold and Vary are the whole design
	Compare   record.Compare
	Blocks    int   // that a run does by itself, at most
	Stages    []int // blocks after which the run may stop, the last of them Blocks; nil for one stage
	Further   []int // blocks after Blocks to which it goes on when it is told to; nil for none
	Probes    int   // per arm and cell
	Seed      uint64
	Published []record.Published
	Charts    []record.Chart
	Fits      []record.Fit
	Reaches   []record.Reach
	Claims    []record.Claim
	Requires  []record.Require

	top      place
	dropped  []string // requirements of a file whose arms or levels an override left out
	replaced []string // primary metrics of a file that an override left without an open loop
}

// Setting is a factor at one level.
type Setting struct {
	Factor string
	Level  Level
}

// Varied is a factor at several levels; those of "arm" are the arms' names.
type Varied struct {
	Factor string
	Levels []Level
	at     place
}

// Arm is a named bundle of levels.
type Arm struct {
	Name     string
	Settings []Setting
	at       place
}

const armFactor = "arm"

func find(settings []Setting, factor string) (Level, bool) {
	for _, s := range settings {
		if s.Factor == factor {
			return s.Level, true
		}
	}
	return Level{}, false
}

// varied returns the varied factor of that name, or nil.
func (s *Study) varied(factor string) *Varied {
	for i := range s.Vary {
		if s.Vary[i].Factor == factor {
			return &s.Vary[i]
		}
	}
	return nil
}

// choices returns every level that a factor can have in the trials of one
// arm; nil for a factor without level. The arm is nil when none is bundled.
func (s *Study) choices(arm *Arm, factor string) []Level {
	if arm != nil {
		if l, ok := find(arm.Settings, factor); ok {
			return []Level{l}
		}
	}
	if v := s.varied(factor); v != nil {
		return v.Levels
	}
	if l, ok := find(s.Hold, factor); ok {
		return []Level{l}
	}
	if f, err := factorNamed(factor); err == nil && f.inTrial() {
		return []Level{f.standard()}
	}
	return nil
}

// standard is the factor's default level; its text in the table is canonical,
// which a test holds it to.
func (f Factor) standard() Level {
	l, err := f.level(f.Default)
	if err != nil {
		return Level{Text: f.Default}
	}
	return l
}

// armsOrNone returns every bundled arm, or one nil when none is bundled.
func (s *Study) armsOrNone() []*Arm {
	if len(s.Arms) == 0 {
		return []*Arm{nil}
	}
	arms := make([]*Arm, len(s.Arms))
	for i := range s.Arms {
		arms[i] = &s.Arms[i]
	}
	return arms
}

// compared returns the compared factor with its levels; one that is only held
// has one level, so that a study of a single arm has a baseline too.
func (s *Study) compared() Varied {
	if v := s.varied(s.Compare.Factor); v != nil {
		return *v
	}
	return Varied{Factor: s.Compare.Factor, Levels: s.choices(nil, s.Compare.Factor)}
}

// Summary returns what readers need of the study. Hold has every level that
// all trials share, defaults included; Vary begins with the compared factor and
// has what sweeps hold differently too. The planner's warnings are the caller's
// to add.
func Summary(s *Study) record.Study {
	out := record.Study{
		Name: s.Name, Question: s.Question, Hold: map[string]string{}, Compare: s.Compare,
		Blocks: s.Blocks, Stages: slices.Clone(s.Stages), Further: slices.Clone(s.Further), Seed: s.Seed, Requires: slices.Clone(s.Requires), Published: slices.Clone(s.Published),
		Charts: slices.Clone(s.Charts), Fits: slices.Clone(s.Fits), Reaches: slices.Clone(s.Reaches), Claims: slices.Clone(s.Claims),
	}
	others := s.others()
	shared := defaults()
	for _, h := range s.designs()[0].Hold {
		set(shared, h.Factor, h.Level)
	}
	settle(shared)
	for factor, level := range shared {
		if !s.differs(factor, others) {
			out.Hold[factor] = level.Text
		}
	}
	out.Vary = append(out.Vary, factorOf(s.compared()))
	for _, v := range others {
		out.Vary = append(out.Vary, factorOf(v))
	}
	return out
}

func factorOf(v Varied) record.Factor {
	f := record.Factor{Name: v.Factor}
	for _, l := range v.Levels {
		f.Levels = append(f.Levels, l.Text)
	}
	return f
}

// follows are the factors that settle decides by others.
var follows = map[string][]string{
	"server": {"transport"}, "client": {"transport"}, "window": {"amount"},
	"request": {"codec"}, "response": {"codec"}, "chunk": {"stream"},
}

// differs reports whether a trial's factor is not the study's to hold: it is
// compared or names cells, is bundled in an arm, or follows from one that is.
func (s *Study) differs(factor string, others []Varied) bool {
	for _, source := range append([]string{factor}, follows[factor]...) {
		if s.varied(source) != nil || slices.ContainsFunc(others, func(v Varied) bool { return v.Factor == source }) {
			return true
		}
		for i := range s.Arms {
			if _, ok := find(s.Arms[i].Settings, source); ok {
				return true
			}
		}
	}
	return false
}
