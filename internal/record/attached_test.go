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
	spent := func(e *Edge, atNs, cpuNs int64) *Edge {
		e.Meter.AtNs, e.Meter.Process.CPUNs = atNs, cpuNs
		return e
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
		"found at a mark":        {why, edge(good(0)), edge(good(0)), false, ""},
		"worked":                 {good(0), spent(edge(good(0)), 1, 10), spent(edge(good(0)), 2, 11), false, ""},
		"did not work":           {good(0), spent(edge(good(0)), 1, 10), spent(edge(good(0)), 2, 10), true, "the processes that were taken for it spent no CPU time in the window, so they did not serve"},
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

// A program of the user's that the worker started counts as metered unless the meter says
// who else answered, or that ended children of it are in no account.
func TestWhoAnswersForAProgram(t *testing.T) {
	edge := func(a *contract.Attached) *Edge { return &Edge{Meter: &contract.Meter{Attached: a}} }
	why, lost := &contract.Attached{PIDs: []int{7}, Why: "process 7 answers"}, &contract.Attached{Lost: 1}
	for name, c := range map[string]struct {
		open, end *contract.Attached
		why       string
	}{
		"its own processes":      {nil, nil, ""},
		"another, all the time":  {why, why, why.Why},
		"another, found at last": {nil, why, why.Why},
		"children before":        {lost, lost, ""},
		"children in the window": {nil, lost, lostInWindow},
	} {
		w := &Worker{Ready: &contract.Ready{Foreign: true}, AtReady: &contract.Meter{}, Open: edge(c.open), Close: edge(c.end)}
		if w.Elsewhere() != (c.why != "") || w.Unmetered() != c.why {
			t.Errorf("%s: elsewhere %v, %q; want %q", name, w.Elsewhere(), w.Unmetered(), c.why)
		}
	}
}

// What a server asks of others is told where it is more than a sign of life.
func TestOnward(t *testing.T) {
	for name, c := range map[string]struct {
		onward contract.Onward
		told   bool
	}{
		"a byte for every exchange": {contract.Onward{Connections: 1, Bytes: 100}, true},
		"a sign of life":            {contract.Onward{Connections: 1, Bytes: 99}, false},
		"a new connection":          {contract.Onward{Connections: 1, Begun: 1, Bytes: 9}, true},
	} {
		m := &contract.Meter{Attached: &contract.Attached{PIDs: []int{1}, Onward: &c.onward}}
		w := &Worker{Ready: &contract.Ready{Elsewhere: true}, AtReady: m, Open: &Edge{Meter: m}, Close: &Edge{Meter: m}}
		if got := w.Onward(100); (got != nil) != c.told {
			t.Errorf("%s: %+v, want it told: %v", name, got, c.told)
		}
	}
	if (&Worker{Ready: &contract.Ready{}}).Onward(0) != nil {
		t.Error("a worker of our own asks others")
	}
}
