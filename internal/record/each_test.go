package record

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// Every decoded record is shown once, and only those that count are kept, in their order.
func TestReadEachKeepsWhatCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), RecordsFile)
	f, err := Create(path, Header{CreatedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "a", "c"} { // a second record of a trial does not count
		if err := f.Append(Record{Trial: Trial{ID: id}, Outcome: OK}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var shown sync.Map
	n, kept := 0, []string{}
	c, err := ReadEach(path, func(r *Record) func() {
		shown.Store(r, true)
		r.Outcome = Failed
		return func() { kept = append(kept, r.Trial.ID) }
	})
	if err != nil {
		t.Fatal(err)
	}
	shown.Range(func(any, any) bool { n++; return true })
	if want := []string{"a", "b", "c"}; n != 4 || !slices.Equal(kept, want) || len(c.Problems) != 1 {
		t.Errorf("%d shown, %v kept, problems %v; want 4, %v and one", n, kept, c.Problems, want)
	}
	for _, r := range c.Records {
		if r.Outcome != Failed {
			t.Errorf("the record of %s is not as it was left", r.Trial.ID)
		}
	}
}
