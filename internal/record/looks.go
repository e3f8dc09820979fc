package record

import (
	"maps"
	"slices"
)

// NextLook returns the blocks of the study's first look beyond some blocks; 0
// when there is none.
func (s Study) NextLook(blocks int) int {
	for _, look := range s.Looks() {
		if look > blocks {
			return look
		}
	}
	return 0
}

// StoppedAt returns where a run stopped; nil when it did not, or at no look of
// its study.
func (h Header) StoppedAt() *Stop {
	at, looks := h.Stopped, h.Study.Looks()
	if at == nil || len(looks) < 2 || at.Look < 1 || at.Look > len(looks) || looks[at.Look-1] != at.Blocks {
		return nil
	}
	return at
}

// Horizon returns the last block that a run carries out, its probes apart: the block at
// which the run stopped; else that of the look to which, by its records, the run was told
// to go on; else that of its study's last look without --continue. With looks at 6, 10,
// 16 and then 26: 10 when it stopped there, 26 with a record of block 17, else 16.
func Horizon(header Header, trials []Trial, records []Record) int {
	if stopped := header.StoppedAt(); stopped != nil {
		return stopped.Blocks
	}
	begun := 0
	block := map[string]int{}
	for _, t := range trials {
		if !t.Probe {
			block[t.ID] = t.Block
		}
	}
	for i := range records {
		begun = max(begun, block[records[i].Trial.ID])
	}
	for _, blocks := range header.Study.Looks() {
		if blocks >= max(begun, header.Study.Blocks) {
			return blocks
		}
	}
	return max(begun, header.Study.Blocks)
}

// Allocation is what a steered run decided before a block, from the records of the
// blocks before it: which of the planned trials run, and at which levels. It is a line
// before the block's first record, so that a run that goes on repeats it.
type Allocation struct {
	Block  int                          `json:"block"`
	Levels map[string]map[string]string `json:"levels,omitempty"` // by trial ID: canonical text by factor, in the place of the plan's
	Left   []string                     `json:"left,omitempty"`   // IDs of the block's trials that are not run
	Ended  bool                         `json:"ended,omitempty"`  // neither this block nor a later one runs; probes do
	// Confirms is of a race whose winner is known: the arm that this block compares with
	// the baseline, by figures that chose nothing.
	Confirms string `json:"confirms,omitempty"`
	Why      string `json:"why,omitempty"` // in a sentence
}

// Capacity declares a search for the highest offered rate that meets an objective.
type Capacity struct {
	Objective []Bound `json:"objective" key:"objective" typed:"capacity.objective" is:"bounds" doc:"conditions of that search, separated by commas; 'response_p99 <= 10ms' unless given"`
	Within    float64 `json:"within" key:"within" typed:"capacity.within" is:"share" min:"2%" doc:"how wide the interval of that rate may be; 10% unless given"` // no interval is narrower than the least
	TimeS     float64 `json:"time_s" key:"time" typed:"capacity.time" is:"time" doc:"how long the trials of each arm may take in that search; 60s unless given"`
}

// Race declares a race of arms: the worse ones are left out as soon as they are known,
// and the winner is compared with the baseline in blocks of its own.
type Race struct {
	Best    string  `json:"best" key:"best" typed:"race.best" is:"metric" doc:"metric that decides, better in its own direction; exchanges_per_s unless given"`
	Within  []Bound `json:"within,omitempty" key:"within" typed:"race.within" is:"bounds" doc:"conditions that the winner keeps, separated by commas, such as 'server.rss_bytes <= 2GB'"`
	Confirm int     `json:"confirm"` // blocks that compare the winner with the baseline, the last ones of the run; fewer where TimeS is spent
	TimeS   float64 `json:"time_s,omitempty" key:"time" typed:"race.time" is:"time" doc:"about what its trials may take; no bound unless given"`
}

// Steered tells whether a run of the study decides before each block what it runs.
func (s Study) Steered() bool { return s.Capacity != nil || s.Race != nil }

// Allocated returns a plan as it is run: with the levels that were decided since it was
// written, and without the trials and blocks that were left out. For a run that is not
// steered it is the plan itself. The trials share their Levels with the plan's trials;
// nobody may write to either.
func Allocated(plan []Trial, decided []Allocation) []Trial {
	if len(decided) == 0 {
		return plan
	}
	byBlock := map[int]Allocation{}
	left := map[string]bool{}
	for _, a := range decided {
		byBlock[a.Block] = a
		for _, id := range a.Left {
			left[id] = true
		}
	}
	ended := func(t Trial) bool {
		return !t.Probe && slices.ContainsFunc(decided, func(a Allocation) bool { return a.Ended && t.Block >= a.Block })
	}
	run := make([]Trial, 0, len(plan))
	for _, t := range plan {
		if left[t.ID] || ended(t) {
			continue
		}
		if levels := byBlock[t.Block].Levels[t.ID]; len(levels) > 0 {
			t.Levels = maps.Clone(t.Levels)
			maps.Copy(t.Levels, levels)
		}
		run = append(run, t)
	}
	return run
}
