package study

import (
	"slices"

	"netdyno/internal/record"
)

const (
	// MaxLooks bounds the looks of a study, the further ones included: each costs
	// the others a part of the level (specification §6.10).
	MaxLooks = 5
	// LeastLook is the first number of blocks that gives an interval at all.
	LeastLook = 2
)

// StandardLooks returns the looks of a study that names none, in blocks. It ends
// at the first of its stages at which every primary comparison is settled, and
// goes on to the further ones when it is told to. Why these:
// docs/decisions/0020-looks-that-go-on.md.
func StandardLooks() (stages, further []int) { return []int{6, 10, 16}, []int{26, 42} }

// Before returns the trials that are run when a run stops after some blocks:
// all of those, and the probes.
func Before(trials []record.Trial, blocks int) []record.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return t.Block > blocks && !t.Probe })
}
