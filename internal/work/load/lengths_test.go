package load

import (
	"slices"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

func TestLengthVectors(t *testing.T) {
	var vectors []struct {
		Name      string     `json:"name"`
		DownBytes int64      `json:"down_bytes"`
		Before    []int64    `json:"before"`
		Window    []int64    `json:"window"`
		Drained   []int64    `json:"drained"`
		Values    [][2]int64 `json:"values"`
	}
	if err := readVectors("lengths.json", &vectors); err != nil || len(vectors) < 9 {
		t.Fatalf("%d vectors, %v; expected at least 9", len(vectors), err)
	}
	for _, v := range vectors {
		setup := setupOf(contract.Load{Connections: 4})
		setup.Exchange.DownBytes = v.DownBytes
		l, err := New(setup, 2)
		if err != nil {
			t.Fatal(err)
		}
		l.Start()
		answer(l, v.Before)
		l.Open(Now())
		answer(l, v.Window)
		var late []*Slot
		for i := range v.Drained {
			s := &l.Slots(i)[0]
			_, _ = s.Next(Now())
			late = append(late, s)
		}
		l.End(Now())
		for i, s := range late {
			s.Done(Now(), Now(), v.Drained[i])
		}
		r := resultOf(t, l, Now())
		want := hist.New()
		for _, pair := range v.Values {
			want.Record(pair[0], pair[1])
		}
		got, err := hist.Decode(r.Lengths)
		if err != nil || !slices.Equal(got.Steps(), want.Steps()) || (r.Lengths == "") != (v.Values == nil) {
			t.Errorf("%s: %v, %v; want %v", v.Name, got.Steps(), err, want.Steps())
		}
		if n := r.Counts.Exchanges + r.Drained; r.Lengths != "" && got.Count() != n {
			t.Errorf("%s: %d lengths of %d replies", v.Name, got.Count(), n)
		}
	}
}

// answer makes exchanges one after the other, on each connection in turn.
func answer(l *Load, lengths []int64) {
	for i, received := range lengths {
		s := &l.Slots(i % 4)[0]
		now := Now()
		_, _ = s.Next(now)
		s.Done(now, Now(), received)
	}
}
