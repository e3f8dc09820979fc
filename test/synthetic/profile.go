package synthetic

import (
	"bytes"
	"time"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
)

// Stack is where a share of an end's CPU time goes: the functions on the stack,
// the executing one first.
type Stack struct {
	Functions []string
	Kernel    int // of Functions, the kernel's
	CPU       time.Duration
}

// Profile returns a gzipped pprof with one sample for each stack, as Go's
// profiler writes it, or as the meter does where stacks have the kernel's functions.
func Profile(stacks []Stack) []byte {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000,
	}
	known := map[string]*profile.Location{}
	kernel := &profile.Mapping{ID: 1, File: contract.KernelMapping, HasFunctions: true}
	for _, stack := range stacks {
		sample := &profile.Sample{Value: []int64{int64(stack.CPU / (10 * time.Millisecond)), int64(stack.CPU)}}
		for i, name := range stack.Functions {
			if known[name] == nil {
				id := uint64(len(known) + 1)
				f := &profile.Function{ID: id, Name: name, SystemName: name}
				known[name] = &profile.Location{ID: id, Address: 0x1000 * id, Line: []profile.Line{{Function: f, Line: 1}}}
				if i < stack.Kernel {
					known[name].Mapping, p.Mapping = kernel, []*profile.Mapping{kernel}
				}
				p.Function, p.Location = append(p.Function, f), append(p.Location, known[name])
			}
			sample.Location = append(sample.Location, known[name])
		}
		p.Sample = append(p.Sample, sample)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		panic(err) // a profile made here always encodes
	}
	return b.Bytes()
}
