package finding

import (
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/history"
	"netdyno/internal/record"
)

func TestHostsThatDifferAreNamed(t *testing.T) {
	host := func(pairs ...string) record.Host {
		h := record.Host{Values: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			h.Values[pairs[i]] = pairs[i+1]
		}
		return h
	}
	s := &cells.Dataset{Facts: record.Facts{
		Seats: map[string]record.Host{
			"a": host("kernel.release", "6.1", "thp", "never", "host.name", "a", record.OffsetFact, "+1ms ±1ms"),
			"b": host("kernel.release", "6.2", "thp", "never", "host.name", "b", record.OffsetFact, "+9ms ±1ms"),
		},
		After: map[string]record.Host{
			"a": host("kernel.release", "6.1", "thp", "always", "load.average", "7"),
			"b": host("kernel.release", "6.2", "thp", "never"),
		},
	}}
	warnings := warnHosts(s, Findings{})
	if len(warnings) != 2 {
		t.Fatalf("warnings %+v, want two", warnings)
	}
	if w := warnings[0]; w.About != "hosts" || w.Text != "a and b differ in 1 fact" || !strings.HasPrefix(w.Advice, `kernel.release: "6.1", then "6.2": `) {
		t.Errorf("%+v", w)
	}
	if w := warnings[1]; w.About != "facts" || w.Text != "a changed during the run in 1 fact" || !strings.HasPrefix(w.Advice, `thp: "never", then "always": `) {
		t.Errorf("%+v", w)
	}
	s.Facts.After = nil
	s.Facts.Seats = map[string]record.Host{"a": host("thp", "never")}
	if warnings := warnHosts(s, Findings{}); warnings != nil {
		t.Errorf("of one seat without an end: %+v", warnings)
	}
	if got := history.FirstOf(strings.Split("1 2 3 4 5 6 7 8", " ")); got != "1; 2; 3; 4; 5; 6; and 2 more" {
		t.Errorf("several: %q", got)
	}
}
