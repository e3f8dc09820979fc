package record

import (
	"path/filepath"
	"testing"
	"time"
)

// A run that stopped at a look says so after its records, and may say more
// after that: a probe's record, what the hosts are like.
func TestStopIsReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), RecordsFile)
	w, err := Create(path, Header{CreatedAt: time.Unix(1, 0), Study: Study{Name: "s", OwnLooks: []int{6, 10}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		func() error { return w.Append(Record{Trial: Trial{ID: "b06-001", Block: 6}}) },
		func() error { return w.Stop(Stop{Look: 1, Blocks: 6}) },
		func() error { return w.Append(Record{Trial: Trial{ID: "b11-001", Block: 11, Probe: true}}) },
		func() error { return w.End(map[string]Host{}) },
		w.Close,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Header.Stopped == nil || *c.Header.Stopped != (Stop{Look: 1, Blocks: 6}) {
		t.Errorf("stopped: %v, want look 1 of 6 blocks", c.Header.Stopped)
	}
	if len(c.Records) != 2 || len(c.Problems) != 0 || c.Header.Facts.After == nil {
		t.Errorf("%d records, facts after %v, problems %v", len(c.Records), c.Header.Facts.After, c.Problems)
	}
}
