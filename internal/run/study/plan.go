package study

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"

	"netdyno/internal/record"
)

// seedBits keeps a trial's seed exact in any JSON reader, those that know
// only floating point included.
const seedBits = 53

// Plan unfolds the study into its trials in the order in which they run, with
// warnings about what the plan cannot tell. In every block each cell runs its
// arms once, and the baseline twice where there is anything to compare; the whole block
// is shuffled by the study's seed. A mesh has one arm, once: its trials are noise enough
// to each other, and those of a round stand together (mesh.go). The blocks of further
// looks are planned with the others, so that what a run goes on to is known before its
// first trial; Before leaves them out. Probes follow in blocks of their own, which run
// every arm once. Trials of one cell and arm share their Levels map: it is not to be
// written. The error is never nil for a study that would be empty or above MaxTrials.
func (s *Study) Plan() ([]record.Trial, []record.Warning, error) {
	if err := s.CheckSize(); err != nil {
		return nil, nil, err
	}
	once := s.pairs()
	twice := once
	if s.compares() {
		twice = baselineTwice(once, s.Compare.Baseline)
	}
	trials := make([]record.Trial, 0, len(twice)*s.planned()+len(once)*s.Probes)
	id := fmt.Sprintf("b%%0%dd-%%0%dd", max(2, digits(s.planned()+s.Probes)), max(3, digits(len(twice))))
	for b := 1; b <= s.planned()+s.Probes; b++ {
		block, probe := twice, b > s.planned()
		if probe {
			block = once
		}
		order := rand.New(rand.NewPCG(s.Seed, uint64(b)))
		seen := map[string]bool{}
		for i, t := range s.inOrder(block, order) {
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

// compares tells whether noise has to be told apart from differences between arms. One
// arm whose costs are modelled is compared with nothing: cells tell more than repeats.
func (s *Study) compares() bool {
	return s.Settle == 0 && !s.Mesh && !s.Steered() && !(len(s.Costs) > 0 && len(s.Compared().Levels) < 2)
}

// inOrder returns the trials of a block in the order in which they run.
func (s *Study) inOrder(block []record.Trial, random *rand.Rand) []record.Trial {
	if s.Mesh {
		return inRounds(block, random)
	}
	ordered := make([]record.Trial, len(block))
	for i, at := range random.Perm(len(block)) {
		ordered[i] = block[at]
	}
	return ordered
}

// scheduleSeed is the same for every arm of a block and cell, so that all of
// them meet the same schedule.
func scheduleSeed(seed uint64, block int, cell string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(cell))
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(block))).Uint64() >> (64 - seedBits)
}

func digits(n int) int { return len(strconv.Itoa(n)) }
