package study

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/record"
)

// seedBits keeps a trial's seed exact in any JSON reader, those that know
// only floating point included.
const seedBits = 53

// Plan unfolds the study into its trials in the order of running, with warnings about
// what the plan cannot tell. In every block each cell runs its arms once, and the
// baseline twice where there is anything to compare: 3 arms in 2 cells are 2 × (3 + 1) =
// 8 trials a block. The whole block is shuffled by the study's seed. A mesh has one arm,
// which runs once: its trials are noise enough to each other, and the trials of one round
// stand together (mesh.go). Blocks of further looks are planned with the others, so that
// what a run goes on to is known before its first trial; Before leaves them out. Trials
// without load, u01-001, are in every block of a study that asks for a slowdown. Probes
// follow in blocks of their own, which run every arm once, and have numbers of their own:
// p01-001. Trials flat out, of which rates are shares, are all of block 0: f00-001. Trials of one cell and arm share their Levels map, which nobody may write. The
// error is never nil for a study that would be empty or above MaxTrials.
func (s *Study) Plan() ([]record.Trial, []record.Warning, error) {
	if err := s.CheckSize(); err != nil {
		return nil, nil, err
	}
	once := s.pairs()
	twice := once
	if s.compares() {
		twice = baselineTwice(once, s.Compare.Baseline)
	}
	unloaded, err := s.unloaded(once)
	if err != nil {
		return nil, nil, err
	}
	twice = append(twice[:len(twice):len(twice)], unloaded...)
	flatOut, err := s.flatOut(once)
	if err != nil {
		return nil, nil, err
	}
	trials := make([]record.Trial, 0, len(flatOut)*flatOutRounds+len(twice)*s.planned()+len(once)*s.Probes)
	for round := range flatOutRounds {
		for _, t := range s.inOrder(flatOut, rand.New(rand.NewPCG(s.Seed, math.MaxUint64-uint64(round)))) {
			t.ID, t.Order = fmt.Sprintf("f00-%03d", len(trials)+1), len(trials)
			t.Seed = scheduleSeed(s.Seed, -round, t.Cell)
			trials = append(trials, t)
		}
	}
	id := fmt.Sprintf("%%s%%0%dd-%%0%dd", max(2, digits(s.planned()+s.Probes)), max(3, digits(len(twice))))
	for b := 1; b <= s.planned()+s.Probes; b++ {
		block, probe, kind, number := twice, b > s.planned(), "b", b
		if probe {
			block, kind, number = once, "p", b-s.planned()
		}
		order := rand.New(rand.NewPCG(s.Seed, uint64(b)))
		seen := map[string]bool{}
		for i, t := range s.inOrder(block, order) {
			t.ID, t.Block, t.Order, t.Probe = fmt.Sprintf(id, kind, number, i+1), b, len(trials), probe
			t.Seed = scheduleSeed(s.Seed, b, t.Cell)
			if t.Unloaded {
				t.ID = fmt.Sprintf(id, "u", number, i+1)
			} else if t.Arm == s.Compare.Baseline {
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
		return inRounds(block, s.sample(), random)
	}
	return each.Of(random.Perm(len(block)), func(at int) record.Trial { return block[at] })
}

// scheduleSeed is the same for every arm of a block and cell, so that all of
// them meet the same schedule.
func scheduleSeed(seed uint64, block int, cell string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(cell))
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(block))).Uint64() >> (64 - seedBits)
}

func digits(n int) int { return len(strconv.Itoa(n)) }

// Before returns the trials that are run when a run stops after some blocks:
// all of those, and the probes.
func Before(trials []record.Trial, blocks int) []record.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return t.Block > blocks && !t.Probe })
}

// MaxTrials bounds a plan, and with it the memory that planning takes.
const MaxTrials = 1_000_000

// CheckSize refuses a study whose plan is out of bounds. Pairs that several
// sweeps share count for each: the bound is on the work of planning too.
func (s *Study) CheckSize() error {
	perBlock, perProbe, flatOut := 0, 0, 0
	asksSlowdown, asksFlatOut := s.asksSlowdown(), s.asksFlatOut()
	var products []string
	for _, d := range s.designs() {
		arms := d.comparedLevels().Levels
		cells, n := d.number(MaxTrials), max(1, len(arms))
		if len(s.Sweeps) > 0 && !hasText(arms, s.Compare.Baseline) {
			n++
		}
		again := cells // of the baseline
		if s.Mesh {
			again = 0
		}
		perBlock, perProbe = perBlock+cells*n+again, perProbe+cells*n
		if asksSlowdown {
			perBlock += cells * n
		}
		if asksFlatOut {
			flatOut += cells * n * flatOutRounds
		}
		products = append(products, d.product())
		if perBlock > MaxTrials || perBlock*s.planned()+perProbe*s.Probes+flatOut > MaxTrials {
			return Errorf(s.At, "the study plans more than %d trials: %s; vary fewer levels or run fewer blocks",
				MaxTrials, s.repeated(strings.Join(products, " + ")))
		}
	}
	return nil
}

// repeated prints a sum of products with what repeats it.
func (s *Study) repeated(sum string) string {
	if len(s.Sweeps) > 1 {
		sum = "(" + sum + ")"
	}
	text := fmt.Sprintf("%s × %d blocks", sum, s.planned())
	if s.Probes > 0 {
		text += fmt.Sprintf(" and %d probes", s.Probes)
	}
	return text
}
