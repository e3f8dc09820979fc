package profile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// encoded is a profile of bytes allocated by function.
func encoded(t *testing.T, allocated map[string]int64) []byte {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "alloc_space", Unit: "bytes"}}}
	for name, n := range allocated {
		id := uint64(len(p.Function) + 1)
		f := &profile.Function{ID: id, Name: name}
		at := &profile.Location{ID: id, Address: uint64(name[0]), Line: []profile.Line{{Function: f}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, at)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{at}, Value: []int64{n}})
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatWasThereAsTheWindowOpenedIsSubtracted(t *testing.T) {
	after := encoded(t, map[string]int64{"grew": 70, "stood": 9, "new": 5})
	before := encoded(t, map[string]int64{"grew": 50, "stood": 9})
	of := named(contract.ProfileAllocations)
	for name, c := range map[string]struct {
		before []byte
		want   map[string]int64
		err    string
	}{
		"a worker that subtracts itself": {nil, map[string]int64{"grew": 70, "stood": 9, "new": 5}, ""},
		"one that does not":              {before, map[string]int64{"grew": 20, "new": 5}, ""},
		"torn":                           {before[:9], nil, "as the window opened: decompress: "},
	} {
		w := &record.Worker{Result: &contract.Result{
			Profiles: map[string][]byte{contract.ProfileAllocations: after}, ProfilesBefore: map[string][]byte{contract.ProfileAllocations: c.before},
		}}
		p, err := of(w)
		if err != nil || c.err != "" {
			if err == nil || c.err == "" || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", name, err, c.err)
			}
			continue
		}
		got := map[string]int64{}
		for _, s := range p.Sample {
			got[s.Location[0].Line[0].Function.Name] += s.Value[0]
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		for f, n := range c.want {
			if got[f] != n {
				t.Errorf("%s: %s has %d bytes, want %d", name, f, got[f], n)
			}
		}
	}
}
