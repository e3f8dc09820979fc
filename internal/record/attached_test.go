package record

import (
	"testing"

	"netdyno/internal/contract"
)

// A server that ran before the run counts as metered only where its own processes
// were read at both edges of the window, and none of them was lost between.
func TestElsewhere(t *testing.T) {
	edge := func(a *contract.Attached) *Edge { return &Edge{Meter: &contract.Meter{Attached: a}} }
	good := func(lost int) *contract.Attached {
		return &contract.Attached{PIDs: []int{1}, Names: []string{"nginx"}, Lost: lost}
	}
	why := &contract.Attached{Why: "it ended"}
	for name, c := range map[string]struct {
		ready     *contract.Attached
		open, end *Edge
		away      bool
		why       string
	}{
		"metered":                {good(0), edge(good(1)), edge(good(1)), false, ""},
		"before the window":      {good(0), nil, nil, false, ""},
		"on another host":        {nil, edge(nil), edge(nil), true, ""},
		"not permitted":          {why, edge(why), edge(why), true, "it ended"},
		"ended in the window":    {good(0), edge(good(0)), edge(why), true, "it ended"},
		"lost in the window":     {good(0), edge(good(0)), edge(good(1)), true, "processes of it came or ended in the window, and nobody's account holds their CPU time"},
		"without a last reading": {good(0), edge(good(0)), &Edge{}, true, ""},
	} {
		w := &Worker{Ready: &contract.Ready{Elsewhere: true}, AtReady: &contract.Meter{Attached: c.ready}, Open: c.open, Close: c.end}
		if w.Elsewhere() != c.away || w.Unmetered() != c.why {
			t.Errorf("%s: elsewhere %v, %q; want %v, %q", name, w.Elsewhere(), w.Unmetered(), c.away, c.why)
		}
	}
	if w := (&Worker{Ready: &contract.Ready{}}); w.Elsewhere() || w.Unmetered() != "" {
		t.Error("a worker of our own stands for another server")
	}
}
