package record

import (
	"slices"
	"testing"

	"netdyno/internal/contract"
)

func clientOf(peers ...string) Worker {
	return Worker{Role: contract.Client, Setup: &contract.Setup{Peers: peers}}
}

func TestAwayIsWhereNoServerOfTheTrialIs(t *testing.T) {
	for _, c := range []struct {
		name    string
		workers []Worker
		want    []string
	}{
		{"clients alone", []Worker{clientOf("10.0.0.1:80"), clientOf("10.0.0.1:80")}, []string{"10.0.0.1:80"}},
		{"a server of the trial", []Worker{{Role: contract.Server}, clientOf("10.0.0.1:80")}, nil},
		{"a pair", []Worker{{Role: contract.Pair, Setup: &contract.Setup{}}}, nil},
		{"clients that were not set up", []Worker{{Role: contract.Client}}, nil},
		{"nobody", nil, nil},
	} {
		if got := (&Record{Workers: c.workers}).Away(); !slices.Equal(got, c.want) {
			t.Errorf("%s: away at %v, want %v", c.name, got, c.want)
		}
	}
}
