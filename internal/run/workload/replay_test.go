package workload

import (
	"bytes"
	"errors"
	"testing"

	"netdyno/internal/traffic"
)

// A recording of two busy seconds and a minute of silence after them is replayed from
// where something comes, whichever trial it is.
func TestAReplayPassesOverSilence(t *testing.T) {
	var blocks, whole bytes.Buffer
	w := traffic.NewWriter(&blocks)
	for i := range int64(2000) {
		if err := w.Add(traffic.Request{AtNs: i * 1e6, Path: -1}); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(w.Add(traffic.Request{AtNs: 62e9, Path: -1}), w.Close(), traffic.Assemble(&whole, "recorded: {version: 1}\n", nil, nil, &blocks))
	if err != nil {
		t.Fatal(err)
	}
	body, err := traffic.Open(bytes.NewReader(whole.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	begun := map[int64]bool{}
	for seed := range uint64(100) {
		from, stretch, err := Workload{Trace: body}.begin(seed, 1e8, 1e9)
		last := from == 62e9-1e8-1e9 // where the one after the silence comes
		if err != nil || !last && (stretch.n == 0 || from > 2e9) {
			t.Errorf("seed %d begins at %d ns, where %d come: %v", seed, from, stretch.n, err)
		}
		begun[from] = true
	}
	if len(begun) < 30 {
		t.Errorf("100 trials begin at %d moments", len(begun))
	}
}
