package record

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"netdyno/internal/contract"
)

// What commands asked is in the header, however often a run went on.
func TestAskedIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), RecordsFile)
	w, err := Create(path, Header{CreatedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	want := []Asked{{Arm: "a", Probe: 4, Client: 2}, {Arm: "b", Probe: 3}, {Arm: "a", Probe: 5}}
	for _, asked := range [][]Asked{want[:2], want[2:]} {
		if err := w.Ask(asked); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := Read(path)
	if err != nil || len(c.Problems) > 0 || len(c.Records) > 0 || !slices.Equal(c.Header.Asked, want) {
		t.Errorf("%v, %v, %+v; want %+v", err, c.Problems, c.Header.Asked, want)
	}
}

func TestSentIsThatOfAllClients(t *testing.T) {
	told := func(s contract.Sent) *contract.Sent { return &s }
	setup := &contract.Setup{}
	for _, c := range []struct {
		name    string
		workers []Worker
		want    contract.Sent
		known   bool
	}{
		{"a server alone", []Worker{{Role: contract.Server, Setup: setup}}, contract.Sent{}, true},
		{"two clients", []Worker{
			{Role: contract.Client, Setup: setup, Result: &contract.Result{Sent: told(contract.Sent{Verify: 1, Window: 5, Again: 2})}},
			{Role: contract.Client, Setup: setup, Result: &contract.Result{Sent: told(contract.Sent{Verify: 1, Before: 3, Drain: 4})}},
		}, contract.Sent{Verify: 2, Before: 3, Window: 5, Drain: 4, Again: 2}, true},
		{"one that failed", []Worker{{Role: contract.Client, Setup: setup, Errors: []contract.Error{{Kind: contract.Invalid}, {Fatal: true, Sent: told(contract.Sent{Verify: 7})}}}}, contract.Sent{Verify: 7}, true},
		{"one that does not tell", []Worker{{Role: contract.Client, Setup: setup, Result: &contract.Result{}}}, contract.Sent{}, false},
		{"one that was killed", []Worker{{Role: contract.Client, Setup: setup}}, contract.Sent{}, false},
		{"one that was never set up", []Worker{{Role: contract.Client}}, contract.Sent{}, true},
	} {
		r := Record{Workers: c.workers}
		if got, known := r.Sent(); got != c.want || known != c.known {
			t.Errorf("%s: %+v, %v; want %+v, %v", c.name, got, known, c.want, c.known)
		}
	}
}
