package finding

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

const (
	maxProfile   = 16 << 20 // bytes of a profile, decompressed
	topFunctions = 20
)

// profiles reads the probes' CPU profiles by cell, arm and end. What cannot be
// read is left out and warned of.
func (s *dataset) profiles() ([]Profile, []record.Warning) {
	var all []Profile
	var warnings []record.Warning
	leaveOut := func(v *view, why string) {
		warnings = append(warnings, record.Warning{
			About: "profile", Text: fmt.Sprintf("the profile of probe %q is left out: %s", v.plan.ID, why),
			Advice: "the other figures do not depend on probes",
		})
	}
	probes := map[place][]*view{}
	for _, v := range s.probes {
		if v.record == nil {
			continue
		}
		if why := unfit(v); why != "" {
			leaveOut(v, why)
			continue
		}
		p := keyOf(v.plan.Cell, v.plan.Arm)
		probes[p] = append(probes[p], v)
	}
	for _, cell := range s.cells {
		for _, arm := range s.arms {
			for _, end := range []contract.Role{contract.Server, contract.Client, contract.Pair} {
				t := newSampled()
				for _, v := range probes[keyOf(cell, arm)] {
					if err := t.addTrial(v.record, end); err != nil {
						leaveOut(v, err.Error())
					}
				}
				if t.whole > 0 {
					all = append(all, t.profile(keyOf(cell, arm), end))
				}
			}
		}
	}
	return all, warnings
}

// unfit returns why a probe did other work than its arm's, "" when it did it.
// The counters of both ends are not compared: a profiler holds up the marks, and
// rates between marks that were held up differ.
func unfit(v *view) string {
	if status, reason := outcome(v); status != Valid {
		return status + ": " + reason
	}
	e := &trialAudit{window: record.NewWindow(v.record)}
	e.generators = e.window.Generators()
	for _, check := range []func(*trialAudit) string{(*trialAudit).complete, (*trialAudit).failures, (*trialAudit).clientBytes} {
		if reason := check(e); reason != "" {
			return StatusInvalid + ": " + reason
		}
	}
	return ""
}

// sampled is the CPU time of one end, summed over profiles, in ns.
type sampled struct {
	classifier
	probes           int
	whole            float64
	activity         []float64 // as activities
	flat, cumulative map[string]float64

	samples int
	last    map[string]int // by function, the number of the last sample it was on
}

func newSampled() *sampled {
	return &sampled{
		classifier: classifier{map[string]standing{}}, activity: make([]float64, len(activities)),
		flat: map[string]float64{}, cumulative: map[string]float64{}, last: map[string]int{},
	}
}

// addTrial adds the profiles of a trial's workers of one end.
func (t *sampled) addTrial(r *record.Record, end contract.Role) error {
	found := false
	var errs []error
	for _, w := range r.Workers {
		if w.Role != end || w.Result == nil || len(w.Result.Profile) == 0 {
			continue
		}
		p, err := parseProfile(w.Result.Profile)
		if err == nil {
			err = t.add(p)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", w.Name, err))
			continue
		}
		found = true
	}
	if found {
		t.probes++
	}
	return errors.Join(errs...)
}

// parseProfile reads a gzipped pprof of bounded size.
func parseProfile(data []byte) (*profile.Profile, error) {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(packed, maxProfile+1))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if len(raw) > maxProfile {
		return nil, fmt.Errorf("decompress: more than %d bytes", maxProfile)
	}
	p, err := profile.ParseUncompressed(raw)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		return nil, fmt.Errorf("parse as pprof: %w", err)
	}
	return p, nil
}

// add files every sample of a profile under its activity and its functions.
func (t *sampled) add(p *profile.Profile) error {
	value := slices.IndexFunc(p.SampleType, func(v *profile.ValueType) bool { return v.Type == "cpu" && v.Unit == "nanoseconds" })
	if value < 0 {
		return errors.New("find CPU time: no sample type is cpu in nanoseconds")
	}
	for _, sample := range p.Sample {
		ns := float64(sample.Value[value])
		if ns <= 0 {
			continue
		}
		stack := functions(sample)
		t.samples++
		t.whole += ns
		t.activity[t.rank(stack)] += ns
		for i, name := range stack {
			if i == 0 {
				t.flat[name] += ns
			}
			if t.last[name] != t.samples { // recursion counts once
				t.last[name] = t.samples
				t.cumulative[name] += ns
			}
		}
	}
	return nil
}

// functions returns the names on a sample's stack, the executing one first,
// inlined ones in their place; code without symbols by its mapping.
func functions(sample *profile.Sample) []string {
	var stack []string
	for _, location := range sample.Location {
		for _, line := range location.Line {
			if line.Function != nil && line.Function.Name != "" {
				stack = append(stack, line.Function.Name)
			}
		}
		if len(location.Line) == 0 && location.Mapping != nil && location.Mapping.File != "" {
			stack = append(stack, location.Mapping.File)
		}
	}
	return stack
}

func (t *sampled) profile(at place, end contract.Role) Profile {
	p := Profile{
		Cell: at.cell, Arm: at.arm, End: string(end), Probes: t.probes, Seconds: t.whole / 1e9,
		Flat: t.top(t.flat), Cumulative: t.top(t.cumulative),
	}
	for i, ns := range t.activity {
		p.Shares = append(p.Shares, Share{activities[i].Name, ns / t.whole})
	}
	return p
}

// top returns the functions that took most by one account.
func (t *sampled) top(by map[string]float64) []Function {
	names := make([]string, 0, len(by))
	for name := range by {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	var top []Function
	for _, name := range names[:min(len(names), topFunctions)] {
		top = append(top, Function{name, t.flat[name] / t.whole, t.cumulative[name] / t.whole})
	}
	return top
}
