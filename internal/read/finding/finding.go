// Package finding turns records into findings: what each arm did, how the
// arms compare, what limited them, and whether to believe it, with the sentences
// and warnings that say so. It is pure: the same records give the same findings.
package finding

import (
	"slices"
	"strings"

	"netdyno/internal/read/answer"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/course"
	"netdyno/internal/read/expect"
	"netdyno/internal/read/hops"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/mesh"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/search"
	"netdyno/internal/read/sizes"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// Schema is the version of findings.json: one more when a field goes or changes its
// meaning. New fields do not change it.
const Schema = 5

// Findings is everything that can be said about one run.
type Findings struct {
	Schema int `json:"schema"`
	compare.Run
	Answer       answer.Answer        `json:"answer"`                // to the study's question
	Answers      []string             `json:"answers"`               // sentences, one per primary comparison worth saying
	Look         *cells.Look          `json:"stage,omitempty"`       // at which the run is judged; nil when the study declares none
	Profiles     []profile.Profile    `json:"profiles,omitempty"`    // by cell and arm in the study's order, the server first
	Differences  []profile.Difference `json:"differences,omitempty"` // of the profiles of compared arms, in the same order
	Why          *profile.Why         `json:"why,omitempty"`         // the arms differ, by their profiles
	Flames       []profile.Flame      `json:"-"`                     // in the same order, for the page; the run's pprof files hold the stacks whole
	ProfileFiles *profile.Files       `json:"-"`                     // which a report writes beside itself; nil without probes
	Charts       view.Charts          `json:"charts,omitempty"`      // that the study asks for
	Costs        cost.Costs           `json:"costs,omitempty"`       // that the study asks for
	FlatOut      search.FlatOut       `json:"flat_out,omitempty"`    // what arms do flat out, where rates are shares of that
	Sizes        *sizes.Sizes         `json:"sizes,omitempty"`       // of exchanges that have several classes or sizes
	Expect       expect.Results       `json:"expect,omitempty"`      // what the study expects, as it came out
	Best         *best.Judged         `json:"best,omitempty"`        // which arms may be the best, and what to use by that; nil where figures chose what was run
	Ladders      ladder.Ladders       `json:"ladders,omitempty"`     // of the study
	Hops         hops.Hops            `json:"hops,omitempty"`        // what lies between clients and server, where trials have it
	Floors       []Floor              `json:"floors,omitempty"`      // of arms whose times are not much above what their path takes by itself
	Mesh         *mesh.Mesh           `json:"mesh,omitempty"`        // of a study whose cells are pairs of hosts
	Search       *search.Search       `json:"search,omitempty"`      // of a study that looks for the highest rate or the best arm
	Courses      []course.Course      `json:"courses,omitempty"`     // of loads that went on in turns: standstills, changes, two times
	Sent         *Sent                `json:"sent,omitempty"`        // requests to the servers in all; of a run by URL
	Seating      []Seated             `json:"seating"`               // who sat where, the server's seat first
	Warnings     []record.Warning     `json:"warnings"`
	Trials       []*trial.Judged      `json:"-"` // in the plan's order, with the caller's records: for what is said of one trial
}

// mostOfCourse bounds what an answer says of the loads' courses.
const mostOfCourse = 2

// Find says everything that can be said about a run from its header, its plan and its
// records. The plan decides which trial belongs where: a record that contradicts it is
// invalid, and a record of an unknown trial, or a second record of one trial, is left out
// with a warning. Find fails only for a study whose primary metric is not in the
// registry. It is pure: the same input gives the same findings. It does not change the
// records; Findings.Trials points to them.
func Find(header record.Header, trials []record.Trial, records []record.Record) (Findings, error) {
	return FindJudged(header, trials, records, nil)
}

// FindJudged is Find of records that were judged as they were read; early is nil where none was.
func FindJudged(header record.Header, trials []record.Trial, records []record.Record, early *trial.Early) (Findings, error) {
	s, err := cells.ReadJudged(header, trials, records, early)
	if err != nil {
		return Findings{}, err
	}
	noise := compare.MeasureNoise(s)
	comparisons, requirements := compared(s, noise)
	for i := range comparisons {
		if c := &comparisons[i]; c.Primary {
			c.Sentence = sentence(s, *c)
		}
	}
	f := Findings{
		Schema:  Schema,
		Run:     compare.Run{Header: header, Cells: s.Describe(), Noise: noise, Comparisons: comparisons, Requirements: requirements, Tally: s.CountTrials()},
		Look:    compare.Settle(s, comparisons, requirements),
		Seating: seating(s),
		Trials:  s.Trials,
		Sent:    sentBy(header, s.Trials),
		Courses: s.Courses,
	}
	f.Floors = floors(s, f.Cells)
	unread := f.profiled(s)
	for _, a := range f.scopeOf().analyses {
		a.read(s, &f)
	}
	f.Answer, f.Answers = f.answer()
	f.Answer.Course = course.Worst(s.Courses, func(c course.Course) string {
		return s.Names.WithinAt(c.Arm, c.Cell)
	}, mostOfCourse)
	f.Warnings = append(warn(s, f), unread...)
	return f, nil
}

// profiled adds what the probes show, and returns what could not be read of them.
func (f *Findings) profiled(s *cells.Dataset) []record.Warning {
	profiles, unread := profile.Profiles(s)
	f.Profiles, f.Differences, f.Flames = profiles, profile.Differences(s), profile.Flames(s)
	if len(profiles) > 0 {
		f.ProfileFiles = profile.FilesOf(s)
	}
	for i, p := range f.Profiles {
		f.Profiles[i].File = f.ProfileFiles.CPU(p.Cell, p.Arm, p.End)
	}
	return unread
}

// compared judges arms and requirements, as the kind of the run has it.
func compared(s *cells.Dataset, noise []compare.Noise) ([]compare.Comparison, []compare.Requirement) {
	var comparisons []compare.Comparison
	var requirements []compare.Requirement
	if s.Kind.Compares {
		comparisons = compare.Compare(s, noise)
	}
	if s.Kind.Requires {
		requirements = compare.Require(s, noise)
	}
	return comparisons, requirements
}

// Seated is one seat and who sat there.
type Seated struct {
	Seat    string   `json:"seat"`
	Workers []string `json:"workers"` // "server", "client-1", …, in order
	CPUs    []string `json:"cpus"`    // sets that they were pinned to over the run, as lists; empty for any
}

// seating reads from the records who sat where, by seat in the order of first
// use: the server's seat comes first.
func seating(s *cells.Dataset) []Seated {
	var all []Seated
	for _, w := range s.Workers() {
		at := slices.IndexFunc(all, func(known Seated) bool { return known.Seat == w.Seat })
		if at < 0 {
			at, all = len(all), append(all, Seated{Seat: w.Seat})
		}
		all[at].Workers = withOnce(all[at].Workers, w.Name)
		if standing := w.Ready != nil && w.Ready.Elsewhere; len(w.CPUSet) > 0 && !standing {
			all[at].CPUs = withOnce(all[at].CPUs, trial.CPUList(w.CPUSet))
		}
	}
	for i := range all {
		slices.SortFunc(all[i].Workers, byRole)
	}
	return all
}

// byRole puts servers before clients.
func byRole(a, b string) int {
	isServer := func(name string) bool { return strings.HasPrefix(name, "server") }
	switch {
	case isServer(a) == isServer(b):
		return strings.Compare(a, b)
	case isServer(a):
		return -1
	}
	return 1
}

func withOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
