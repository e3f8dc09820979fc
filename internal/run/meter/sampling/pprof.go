package sampling

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/google/pprof/profile"
)

// maxPprof bounds a profile so that a result with it fits a contract line.
const maxPprof = 256 << 10

// pprof returns the stacks as a gzipped profile of at most a number of bytes: of
// too many, the rarest become the functions that they executed.
func (s *stacks) pprof(limit int) ([]byte, error) {
	slices.SortStableFunc(s.list, func(a, b *stack) int { return int(b.samples - a.samples) })
	for whole := len(s.list); ; whole /= 2 {
		var b bytes.Buffer
		if err := s.profile(whole).Write(&b); err != nil {
			return nil, fmt.Errorf("write a profile: %w", err)
		}
		if b.Len() <= limit {
			return b.Bytes(), nil
		}
		if whole == 0 {
			return nil, fmt.Errorf("%d functions need %d bytes, at most %d are allowed", len(s.frames), b.Len(), limit)
		}
	}
}

// profile holds the first stacks as they are and the others by their functions.
func (s *stacks) profile(whole int) *profile.Profile {
	cpu := &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, cpu},
		PeriodType: cpu, Period: 1_000_000_000 / Hz,
	}
	b := &builder{p: p, locations: map[frame]*profile.Location{}, mappings: map[string]*profile.Mapping{}}
	rare := map[frame]*profile.Sample{}
	for i, one := range s.list {
		if i >= whole {
			f := s.frames[one.frames[0]]
			if rare[f] == nil {
				rare[f] = &profile.Sample{Location: []*profile.Location{b.location(f)}, Value: []int64{0, 0}}
				p.Sample = append(p.Sample, rare[f])
			}
			rare[f].Value[0] += one.samples
			rare[f].Value[1] += one.ns
			continue
		}
		sample := &profile.Sample{Value: []int64{one.samples, one.ns}, Label: map[string][]string{"thread": {one.thread}}}
		for _, n := range one.frames {
			sample.Location = append(sample.Location, b.location(s.frames[n]))
		}
		p.Sample = append(p.Sample, sample)
	}
	return p
}

// builder numbers the parts of a profile.
type builder struct {
	p         *profile.Profile
	locations map[frame]*profile.Location
	mappings  map[string]*profile.Mapping
}

func (b *builder) location(f frame) *profile.Location {
	if l := b.locations[f]; l != nil {
		return l
	}
	m := b.mappings[f.file]
	if m == nil {
		m = &profile.Mapping{ID: uint64(len(b.p.Mapping) + 1), File: f.file, HasFunctions: true}
		b.p.Mapping, b.mappings[f.file] = append(b.p.Mapping, m), m
	}
	function := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: f.name, SystemName: f.name}
	b.p.Function = append(b.p.Function, function)
	l := &profile.Location{ID: function.ID, Mapping: m, Line: []profile.Line{{Function: function}}}
	b.p.Location, b.locations[f] = append(b.p.Location, l), l
	return l
}
