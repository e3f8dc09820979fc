package session

import (
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// A built-in study has its probes where perf sees the kernel; elsewhere they are left out
// with a line, unless they were asked for or the run goes on.
func TestProbesWherePerfIsPermitted(t *testing.T) {
	sees := func(what, path string) map[string]string {
		return map[string]string{"perf.sees": what, "perf.path": path}
	}
	const all = "programs and kernel"
	for name, c := range map[string]struct {
		request Request
		facts   map[string]string
		says    string // "" where they stay
	}{
		"permitted":     {Request{Args: []string{"blocks-quick"}}, sees(all, "/usr/bin/perf"), ""},
		"no kernel":     {Request{Args: []string{"blocks-quick"}}, sees("programs", "/usr/bin/perf"), "perf_event_paranoid"},
		"not installed": {Request{Args: []string{"blocks-quick"}}, sees(all, "none"), "not installed"},
		"not known":     {Request{Args: []string{"blocks-quick"}}, nil, ""},
		"typed":         {Request{Args: []string{"blocks-quick", "probes=3"}}, sees("nothing", "/usr/bin/perf"), ""},
		"by --profile":  {Request{Args: []string{"blocks-quick"}, Set: []Set{{Key: "probes", Value: "3"}}}, sees("nothing", "/usr/bin/perf"), ""},
		"one's own":     {Request{Args: []string{"mine.yaml"}}, sees("nothing", "/usr/bin/perf"), ""},
		"going on":      {Request{Args: []string{"results/x"}, Continue: true, begunAs: "blocks-quick"}, sees("nothing", "/usr/bin/perf"), ""},
	} {
		trials := []record.Trial{{ID: "b01-001", Block: 1}, {ID: "b02-001", Block: 2, Probe: true}}
		s := &Session{
			Plan: Plan{Study: &study.Study{Probes: 1}, All: trials, Trials: trials}, request: c.request,
			site: &site{hosts: []rig.Host{{Name: "local"}}, facts: map[string]record.Host{"local": {Values: c.facts}}},
		}
		s.leaveProbesOut()
		kept, said := len(s.Trials) == 2 && len(s.All) == 2 && s.Study.Probes == 1, ""
		for _, w := range s.Warnings {
			said += w.Text
		}
		if kept != (c.says == "") || kept != (said == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: probes kept: %v; said %q, want %q", name, kept, said, c.says)
		}
	}
}
