package cells

import (
	"iter"

	"netdyno/internal/hist"
	"netdyno/internal/quantity"
	"netdyno/internal/read/trial"
)

// Figures by block: a block is what arms have in common, so differences are
// taken there, and of logarithms, as what disturbs a machine multiplies.

// All returns the arm's trials.
func (a Arm) All() iter.Seq[*trial.Trial] {
	return func(yield func(*trial.Trial) bool) {
		for i := range a.Trials {
			if !yield(&a.Trials[i]) {
				return
			}
		}
	}
}

// Cell is one combination of the varied levels other than the compared one.
type Cell struct {
	Name   string            `json:"name"` // "connections=50"; "" when nothing else varies
	Levels map[string]string `json:"levels"`
	Arms   []Arm             `json:"arms"` // in the study's order
}

// Arm is one treatment within a cell, over its blocks.
type Arm struct {
	Name       string            `json:"name"`
	Baseline   bool              `json:"baseline,omitempty"`
	Trials     []trial.Trial     `json:"trials"`                // by block; the baseline's repeats included
	Metrics    []Summary         `json:"metrics"`               // in registry order, those that exist
	Limit      trial.Limit       `json:"limit"`                 // of most trials
	LimitProof string            `json:"limit_proof,omitempty"` // of the first such trial, which it names
	Settings   map[string]string `json:"settings,omitempty"`    // "server.buffer": "4096", as the workers reported them
	Service    []hist.Point      `json:"service,omitempty"`     // times by percentile, each averaged over blocks as Figure.Value is
	Response   []hist.Point      `json:"response,omitempty"`
	Delivery   string            `json:"delivery,omitempty"`
	Unfinished float64           `json:"unfinished,omitempty"` // share of its exchanges that were never completed, mean of the valid trials
	Clients    []Client          `json:"clients,omitempty"`    // each by itself, where there are several
	Totals     *Totals           `json:"totals,omitempty"`     // what its clients counted in all windows; of a server that is not netdyno's
}

// ArmOf names an arm in its cell.
func ArmOf(cell Cell, arm Arm) string {
	if cell.Name == "" {
		return arm.Name
	}
	return arm.Name + InCell(cell.Name)
}

// InCell completes a name by its cell: " at 50 connections"; "" for the only cell.
func InCell(cell string) string {
	if cell == "" {
		return ""
	}
	return " at " + Spoken(cell)
}

// InCells says where of several cells, and counts most of many; nothing of the only one.
func InCells(of []string) string {
	if len(of) == 1 {
		return InCell(of[0])
	}
	spoken := make([]string, len(of))
	for i, cell := range of {
		spoken[i] = Spoken(cell)
	}
	return " at " + quantity.Names(spoken)
}

// Client is one client process of an arm that has several. A sum over clients
// hides one that did most of the work, or needed most of the memory.
type Client struct {
	Name    string    `json:"name"` // "client-1", as in the records
	Metrics []Summary `json:"metrics"`
}
