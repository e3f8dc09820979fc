package study

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"

	"netdyno/internal/record"
)

// MaxTrials bounds a plan, and with it the memory that planning takes.
const MaxTrials = 1_000_000

// seedBits keeps a trial's seed exact in any JSON reader, those that know
// only floating point included.
const seedBits = 53

// Plan unfolds the study into its trials in the order in which they run, with
// warnings about what the plan cannot tell. In every block each cell runs its
// arms once and the baseline twice; the whole block is shuffled by the study's
// seed. The blocks of further looks are planned with the others, so that what a
// run goes on to is known before its first trial; Before leaves them out. Probes
// follow in blocks of their own, which run every arm once. Trials
// of one cell and arm share their Levels map: it is not to be written. The
// error is never nil for a study that would be empty or above MaxTrials.
func (s *Study) Plan() ([]record.Trial, []record.Warning, error) {
	if err := s.checkSize(); err != nil {
		return nil, nil, err
	}
	once := s.pairs()
	twice := s.baselineTwice(once)
	trials := make([]record.Trial, 0, len(twice)*s.planned()+len(once)*s.Probes)
	id := fmt.Sprintf("b%%0%dd-%%0%dd", max(2, digits(s.planned()+s.Probes)), max(3, digits(len(twice))))
	for b := 1; b <= s.planned()+s.Probes; b++ {
		block, probe := twice, b > s.planned()
		if probe {
			block = once
		}
		order := rand.New(rand.NewPCG(s.Seed, uint64(b)))
		seen := map[string]bool{}
		for i, at := range order.Perm(len(block)) {
			t := block[at]
			t.ID, t.Block, t.Order, t.Probe = fmt.Sprintf(id, b, i+1), b, len(trials), probe
			t.Seed = scheduleSeed(s.Seed, b, t.Cell)
			if t.Arm == s.Compare.Baseline {
				t.Repeat = seen[t.Cell]
				seen[t.Cell] = true
			}
			trials = append(trials, t)
		}
	}
	return trials, s.warnings(), nil
}

// pairs returns the study's pairs of cell and arm, each once, cell by cell, as
// trials without a place. The baseline is in every cell, also where a sweep
// names other arms only.
func (s *Study) pairs() []record.Trial {
	var trials []record.Trial
	var cells []visited
	byName := map[string]int{}
	others, arms := s.others(), s.compared().Levels
	for _, d := range s.designs() {
		nameOf, own := d.naming(others), d.compared().Levels
		d.eachCell(func(cell []Setting) {
			name := nameOf(cell)
			if _, known := byName[name]; !known {
				byName[name] = len(cells)
				cells = append(cells, visited{name: name, design: d, cell: append([]Setting(nil), cell...), runs: make([]bool, len(arms))})
			}
			v := &cells[byName[name]]
			for i, l := range arms {
				v.runs[i] = v.runs[i] || l.Text == s.Compare.Baseline || hasText(own, l.Text)
			}
		})
	}
	for _, v := range cells {
		for i, l := range arms {
			if v.runs[i] {
				trials = append(trials, record.Trial{Cell: v.name, Arm: l.Text, Levels: v.design.unfold(v.cell, s.Arms, l)})
			}
		}
	}
	return trials
}

// visited is a cell with the first design that has it, and which levels of the
// compared factor run in it. Designs that share a cell agree on all its levels,
// since those in which designs differ are in its name.
type visited struct {
	name   string
	design *Study
	cell   []Setting
	runs   []bool
}

// baselineTwice adds the baseline's second appearance in each cell.
func (s *Study) baselineTwice(once []record.Trial) []record.Trial {
	var twice []record.Trial
	for _, t := range once {
		twice = append(twice, t)
		if t.Arm == s.Compare.Baseline {
			twice = append(twice, t)
		}
	}
	return twice
}

// eachCell visits the cells of a design. The settings are valid during the
// call only.
func (s *Study) eachCell(visit func(cell []Setting)) {
	factors := s.crossed()
	cell := make([]Setting, len(factors))
	var walk func(depth int)
	walk = func(depth int) {
		if depth == len(factors) {
			visit(cell)
			return
		}
		for _, l := range factors[depth].Levels {
			cell[depth] = Setting{factors[depth].Factor, l}
			walk(depth + 1)
		}
	}
	walk(0)
}

// crossed returns the factors that a design varies beside the compared one.
func (s *Study) crossed() []Varied {
	var crossed []Varied
	for _, v := range s.Vary {
		if v.Factor != s.Compare.Factor {
			crossed = append(crossed, v)
		}
	}
	return crossed
}

// scheduleSeed is the same for every arm of a block and cell, so that all of
// them meet the same schedule.
func scheduleSeed(seed uint64, block int, cell string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(cell))
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(block))).Uint64() >> (64 - seedBits)
}

func digits(n int) int { return len(strconv.Itoa(n)) }
