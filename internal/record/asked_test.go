package record

import (
	"testing"

	"netdyno/internal/contract"
)

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
