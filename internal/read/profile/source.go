// Package profile reads the profiles that probes leave, in pprof's format.
package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

const maxProfile = 16 << 20 // bytes of a profile, decompressed

// Parse reads a gzipped pprof of bounded size.
func Parse(data []byte) (*profile.Profile, error) {
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

// Source is how CPU profiles were taken, which decides what they show.
type Source string

// The sources of profiles.
const (
	Perf     Source = "perf"                    // from outside: the program's code and the kernel's
	Runtime  Source = "runtime"                 // by the program's own runtime: its code, in which the kernel's time is counted
	NoKernel Source = "perf without the kernel" // from outside, but only while the program's own code ran
	Mixed    Source = "perf and runtime"
)

// and is the source of profiles of both kinds together.
func (s Source) and(other Source) Source {
	switch {
	case s == "" || s == other:
		return other
	case other == "":
		return s
	case s == NoKernel || other == NoKernel:
		return NoKernel
	}
	return Mixed
}

// taken is a CPU profile of one worker.
type taken struct {
	*profile.Profile
	source Source
}

// cpuOf reads the CPU profile of a worker that left a result; false when the worker left no
// profile. The meter's profile, which has frames of the kernel and of any program, comes
// before the runtime's own, unless the meter was not permitted to see the kernel.
func cpuOf(w *record.Worker) (of taken, there bool, err error) {
	own := w.Result.Profile
	if w.AtResult != nil && w.AtResult.Sampled != nil && len(w.AtResult.Sampled.Pprof) > 0 {
		of.Profile, err = Parse(w.AtResult.Sampled.Pprof)
		if err != nil {
			return of, true, err
		}
		of.source = NoKernel
		if slices.ContainsFunc(of.Location, inKernel) {
			of.source = Perf
		}
		if of.source == Perf || len(own) == 0 {
			return of, true, nil
		}
	}
	if len(own) == 0 {
		return of, false, nil
	}
	of.source = Runtime
	of.Profile, err = Parse(own)
	return of, true, err
}

// probe is what one end of a trial left: the CPU profiles of its workers.
type probe struct {
	*trial.Judged
	of      []taken
	partial bool // the profile of a worker could not be read
}

// readProfiles parses the CPU profiles of an end, and says how they were taken. Probes that left
// none are left out; what cannot be read is named.
func readProfiles(probes []*trial.Judged, end contract.Role) (all []probe, source Source, unread []Unread) {
	for _, v := range probes {
		p := probe{Judged: v}
		var bad []error
		for i := range v.Record.Workers {
			w := &v.Record.Workers[i]
			if w.Role != end || w.Result == nil {
				continue
			}
			one, there, err := cpuOf(w)
			if err == nil && there {
				_, err = cpuTime(one.Profile)
			}
			switch {
			case err != nil:
				bad = append(bad, fmt.Errorf("%s: %w", w.Name, err))
			case there:
				p.of = append(p.of, one)
				source = source.and(one.source)
			}
		}
		if len(bad) > 0 {
			p.partial = true
			unread = append(unread, Unread{v.Plan.ID, errors.Join(bad...).Error()})
		}
		if len(p.of) > 0 {
			all = append(all, p)
		}
	}
	return all, source, unread
}

// cpuTime is the place of a profile's CPU time among its values.
func cpuTime(p *profile.Profile) (int, error) {
	at := slices.IndexFunc(p.SampleType, func(v *profile.ValueType) bool { return v.Type == "cpu" && v.Unit == "nanoseconds" })
	if at < 0 {
		return 0, errors.New("find CPU time: no sample type is cpu in nanoseconds")
	}
	return at, nil
}
