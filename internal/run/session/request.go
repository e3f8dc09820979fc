package session

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/record"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// Request says what to run, where, and from where on.
type Request struct {
	Args       []string        // a study or a file, with keys and levels; of Continue the directory
	Set        []Set           // keys and levels besides Args, which the command says by itself
	Recordings *Recordings     // that may have been made already; nil for none
	Arms       []Arm           // besides Args, which then name no study or file
	Workers    *Workers        // that may have been asked already; nil for none
	Watch      *doctor.Watched // of this host, begun before; nil for none
	Command    string          // that was typed, for the header; "": run
	Typed      []string        // what was typed, for the header; nil: Args
	Rig        string          // as users write it
	Out        Directory       // empty: a new one under results/, or the latest to resume
	Resume     bool            // go on with the run in Out, by the command that began it
	Continue   bool            // go on with the run in Out, by its own study, to its next look at most; implies Resume
	DryRun     bool            // only plan: workers for messages are not built

	Hide    func(text string) string // takes secrets out of what is said of a trial; nil for none
	Version string                   // of this program, for the header

	PinServer bool // hold servers that others started on the CPUs that the placement gives to servers

	Judge Judge
	Say   func(text string) // told of what takes long, such as a build; may be nil
	Hold  func()            // called before the first thing is made that Close gives back; may be nil

	begunAs string // the study that the continued run began with
	begunBy string // its command
}

// directory is where files lie that the study names: beside its own file.
func (r Request) directory() string {
	switch {
	case r.Continue:
		return string(r.Out)
	case r.named() != "":
		return filepath.Dir(r.named())
	}
	return "."
}

// named is the study or the file that is typed; "" for none.
func (r Request) named() string {
	if len(r.Args) > 0 && !strings.Contains(r.Args[0], "=") {
		return r.Args[0]
	}
	return ""
}

// builtIn tells whether the study is one of netdyno's own, also of a run that goes on.
func (r Request) builtIn() bool {
	return slices.Contains(source.List(), cmp.Or(r.begunAs, r.named()))
}

// sets tells whether the command line or the command gives a key its value.
func (r Request) sets(key string) bool {
	return slices.ContainsFunc(r.Set, func(s Set) bool { return s.Key == key }) ||
		slices.ContainsFunc(r.Args, func(arg string) bool { return strings.HasPrefix(arg, key+"=") })
}

// studyName is what the command calls its study; "" where it does not.
func (r Request) studyName() string {
	for _, set := range r.Set {
		if set.Key == "study" {
			return set.Value
		}
	}
	for _, arg := range r.Args {
		if name, is := strings.CutPrefix(arg, "study="); is {
			return name
		}
	}
	return ""
}

// Set is a key or a factor with its value, in the words in which it would be typed.
type Set struct {
	By    string // what says it, such as --connections, for errors
	Key   string
	Value string
}

// Arm is an arm that the command made of what was typed, such as a URL.
type Arm struct {
	Given  string // what was typed
	Name   string
	Levels map[string]string        // by factor
	Texts  map[string]study.Carried // by factor, in place of levels
	Asked  record.Asked             // of its server meanwhile
}

// Judge is what a session asks of who reads records.
type Judge struct {
	// Look judges the blocks up to a look, counted from 1: whether all that the
	// study asks is settled, and that in words.
	Look func(header record.Header, trials []record.Trial, records []record.Record, look int) (settled bool, words string, err error)

	// Allocate decides before a block of a steered study what of it runs, from the
	// records so far. trials are the plan's as they were allocated so far.
	Allocate func(header record.Header, trials []record.Trial, records []record.Record, block int) (record.Allocation, string, error)

	// Disturbed says what of the machine disturbed a trial, so that it is to be made again.
	// It must ask nothing of what the trial measured. Nil for never.
	Disturbed func(record.Record) record.Disturbance

	// Calibration returns what is known of the machines with these facts; nil for
	// nothing. A run can do without: an error becomes a warning.
	Calibration func(record.Facts) (*record.Calibration, error)
}
