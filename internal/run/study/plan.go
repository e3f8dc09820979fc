package study

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"netdyno/internal/record"
)

// MaxTrials bounds a plan, and with it the memory that planning takes.
const MaxTrials = 1_000_000

// seedBits keeps a trial's seed exact in any JSON reader, those that know
// only floating point included.
const seedBits = 53

// Plan unfolds the study into its trials in the order in which they run, with
// warnings about what the plan cannot tell. In every block each cell runs
// every arm once and the baseline twice; the whole block is shuffled by the
// study's seed. Trials of one cell and arm share their Levels map: it is not
// to be written. The error is never nil for a study that would be empty or
// above MaxTrials.
func (s *Study) Plan() ([]record.Trial, []record.Warning, error) {
	if err := s.checkSize(); err != nil {
		return nil, nil, err
	}
	block := s.oneBlock()
	trials := make([]record.Trial, 0, len(block)*s.Blocks)
	id := fmt.Sprintf("b%%0%dd-%%0%dd", max(2, digits(s.Blocks)), max(3, digits(len(block))))
	for b := 1; b <= s.Blocks; b++ {
		order := rand.New(rand.NewPCG(s.Seed, uint64(b)))
		seen := map[string]bool{}
		for i, at := range order.Perm(len(block)) {
			t := block[at]
			t.ID, t.Block, t.Order = fmt.Sprintf(id, b, i+1), b, len(trials)
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

// checkSize refuses a study whose cross product is out of bounds.
func (s *Study) checkSize() error {
	perBlock, arms := 1, 1
	for _, v := range s.Vary {
		perBlock *= len(v.Levels)
		if v.Factor == s.Compare.Factor {
			arms = len(v.Levels)
		}
		if perBlock > MaxTrials {
			break
		}
	}
	perBlock += perBlock / max(1, arms) // the baseline's second appearance
	if perBlock > MaxTrials || perBlock*s.Blocks > MaxTrials {
		return s.top.errorf("the study plans more than %d trials: %s; vary fewer levels or run fewer blocks", MaxTrials, s.product())
	}
	return nil
}

// product prints the factors of the cross product: "3 arm × 10 connections × 8 blocks".
func (s *Study) product() string {
	var parts []string
	for _, v := range s.Vary {
		parts = append(parts, fmt.Sprintf("%d %s", len(v.Levels), v.Factor))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d blocks", s.Blocks)), " × ")
}

// oneBlock returns the trials of a block, unshuffled and without place.
func (s *Study) oneBlock() []record.Trial {
	compared := s.compared()
	others := s.others()
	var trials []record.Trial
	cell := make([]Setting, len(others))
	var walk func(depth int)
	walk = func(depth int) {
		if depth < len(others) {
			for _, l := range others[depth].Levels {
				cell[depth] = Setting{others[depth].Factor, l}
				walk(depth + 1)
			}
			return
		}
		name := cellName(cell)
		for i, l := range compared.Levels {
			t := record.Trial{Cell: name, Arm: l.Text, Levels: s.unfold(cell, i)}
			trials = append(trials, t)
			if l.Text == s.Compare.Baseline {
				trials = append(trials, t)
			}
		}
	}
	walk(0)
	return trials
}

// others returns the varied factors that make up the cells.
func (s *Study) others() []Varied {
	var others []Varied
	for _, v := range s.Vary {
		if v.Factor != s.Compare.Factor {
			others = append(others, v)
		}
	}
	return others
}

// unfold returns every level of a trial in canonical text.
func (s *Study) unfold(cell []Setting, arm int) map[string]string {
	levels := defaults()
	for _, h := range s.Hold {
		set(levels, h.Factor, h.Level)
	}
	compared := s.compared()
	bundled := func(factor string, l Level) {
		if factor != armFactor {
			set(levels, factor, l)
			return
		}
		for _, a := range s.Arms {
			if a.Name == l.Text {
				for _, x := range a.Settings {
					set(levels, x.Factor, x.Level)
				}
			}
		}
	}
	for _, c := range cell {
		bundled(c.Factor, c.Level)
	}
	bundled(compared.Factor, compared.Levels[arm])
	settle(levels)
	texts := make(map[string]string, len(levels))
	for factor, l := range levels {
		texts[factor] = l.Text
	}
	return texts
}

// standardLevels are the levels of a trial that the study does not mention,
// read once: they are needed for every trial.
var standardLevels = sync.OnceValue(func() map[string]Level {
	levels := map[string]Level{}
	for _, f := range factors {
		if f.inTrial() {
			levels[f.Name] = f.standard()
		}
	}
	return levels
})

// defaults returns a trial's levels before the study has its say. The caller
// owns the map.
func defaults() map[string]Level { return maps.Clone(standardLevels()) }

// set gives a trial a level; a transport is both its ends.
func set(levels map[string]Level, factor string, l Level) {
	if factor == "transport" {
		levels["server"], levels["client"] = l, l
		return
	}
	levels[factor] = l
}

// settle takes the default window away from a trial that ends by its amount.
func settle(levels map[string]Level) {
	if levels["amount"].value > 0 {
		levels["window"] = Level{Text: "0s"}
	}
}

// cellName prints a cell as it would be typed: "connections=50 response=4MiB".
func cellName(cell []Setting) string {
	parts := make([]string, len(cell))
	for i, c := range cell {
		parts[i] = c.Factor + "=" + cellText(c.Level.Text)
	}
	return strings.Join(parts, " ")
}

func cellText(level string) string {
	if strings.ContainsAny(level, " \"\\") {
		return strconv.Quote(level)
	}
	return level
}

// scheduleSeed is the same for every arm of a block and cell, so that all of
// them meet the same schedule.
func scheduleSeed(seed uint64, block int, cell string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(cell))
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(block))).Uint64() >> (64 - seedBits)
}

func digits(n int) int { return len(strconv.Itoa(n)) }

// EstimatedTime returns how long trials take, with an overhead for each (start
// of the processes, connecting, draining). Trials of a fixed amount whose rate
// is not known beforehand are counted as their overhead and warm-up only, and
// in unknown.
func EstimatedTime(trials []record.Trial, overhead time.Duration) (total time.Duration, unknown int) {
	for _, t := range trials {
		w, err := Decode(t.Levels)
		if err != nil {
			continue
		}
		total += overhead + w.Warmup + w.Window
		if w.Load.Amount == 0 {
			continue
		}
		if w.Load.Rate > 0 {
			exchanges := float64(w.Load.Amount) * float64(w.Load.Connections) * w.Load.ActiveShare
			total += time.Duration(exchanges / w.Load.Rate * float64(time.Second))
		} else {
			unknown++
		}
	}
	return total, unknown
}
