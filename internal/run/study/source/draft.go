// Package source reads a study from a file or from a command line, and writes it
// as a file. What was typed or written becomes a study's values once, each with
// its position; package study completes and checks them.
//
// A file is parsed into nodes (yaml.go, node.go), which become a draft: every
// level read, nothing checked against another (draft.go, settings.go, sweeps.go,
// looks.go, compare.go, require.go). Arguments become a draft of their own
// (arguments.go), which changes the file's (override.go). A complete draft is a
// study (complete.go); what its file wants to see of the results is read last
// (views.go).
package source

import (
	"slices"
	"strings"

	"netdyno/internal/run/study"
)

const maxQuestion = 1000

// topKeys are the keys of a study file.
var topKeys = []string{"study", "question", "hold", "vary", "sweeps", "compare", "blocks", "continue", "mesh", "settle", "race", "capacity", "probes", "seed", "published", "charts", "fits", "reaches", "choose", "pays", "costs", "claims", "ladder", "require"}

// draft is a study as it was written: every level is read, nothing is checked
// against another. What was not written is empty or nil.
type draft struct {
	at             position
	name, question string
	hold           []study.Setting
	vary           []study.Varied
	arms           []study.Arm
	sweeps         []study.Sweep
	compare        comparison
	blocks         *looks
	further        *looks
	mesh           *mesh
	settle         *share
	race           *raced
	capacity       *search
	probes, seed   *study.Level
	requires       []requirement
	views          *node // the file with the sections viewKeys; nil for none
}

// readDraft reads a file's tree.
func readDraft(tree *node) (draft, error) {
	d := draft{at: tree.at}
	if err := tree.mappingOf(topKeys); err != nil {
		return d, err
	}
	if tree.get("study") == nil {
		return d, tree.at.errorf(`the key "study" is missing; expected the study's name`)
	}
	for _, key := range topKeys {
		e := tree.get(key)
		switch {
		case e == nil:
		case slices.Contains(viewKeys, key):
			d.views = tree
		default:
			if err := d.take(*e); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

// take reads one key of a file, or of a command line.
func (d *draft) take(e entry) (err error) {
	switch e.key {
	case "study":
		d.name, err = e.nameOf()
	case "question":
		d.question, err = readQuestion(e)
	case "hold":
		d.hold, err = readSettings(e.value, "hold")
	case "vary":
		d.vary, err = readVaried(e.value, func(f study.Factor, n *node) (levels []study.Level, err error) {
			if f.Kind == study.Bundle {
				d.arms, levels, err = readArms(n)
				return levels, err
			}
			return readLevels(f, n)
		})
	case "sweeps":
		d.sweeps, err = readSweeps(e, d.vary)
	case "compare":
		err = d.takeCompare(e.value)
	case "blocks":
		d.blocks, err = readLooks(e)
	case "continue":
		d.further, err = readLooks(e)
	case "mesh":
		d.mesh, err = readMesh(e)
	case "settle":
		d.settle, err = readSettle(e)
	case "race":
		d.race, err = readRace(e)
	case "capacity":
		d.capacity, err = readCapacity(e)
	case "probes":
		d.probes, err = readNumber(e)
	case "seed":
		d.seed, err = readNumber(e)
	case "require":
		d.requires, err = readRequires(e)
	}
	return err
}

func (d *draft) takeCompare(n *node) error {
	if err := n.mappingOf(compareKeys); err != nil {
		return err
	}
	for _, e := range n.entries {
		if err := d.compare.take(e); err != nil {
			return err
		}
	}
	return nil
}

func readQuestion(e entry) (string, error) {
	text, err := e.scalarOf("a sentence")
	if err == nil && len(text) > maxQuestion {
		err = e.value.at.errorf("question: the text has %d bytes; expected at most %d", len(text), maxQuestion)
	}
	return strings.Join(strings.Fields(text), " "), err
}

// readNumber reads a number of the whole study.
func readNumber(e entry) (*study.Level, error) {
	f, err := study.FactorNamed(e.key)
	if err != nil {
		return nil, err
	}
	text, err := e.scalarOf("one number")
	if err != nil {
		return nil, err
	}
	level, err := f.Level(text)
	if err != nil {
		return nil, e.value.at.errorf("%s", err)
	}
	return &level, nil
}
