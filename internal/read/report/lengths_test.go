package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/read/summary"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// varying gives the replies of an arm's clients three lengths, in shares of a quarter, a
// half and a quarter.
func varying(arm string) func(*record.Record) {
	return func(r *record.Record) {
		for i := range r.Workers {
			result := r.Workers[i].Result
			if r.Workers[i].Role != contract.Client || r.Trial.Arm != arm {
				continue
			}
			n := result.Counts.Exchanges + result.Drained
			h := hist.New()
			h.Record(100, n/4)
			h.Record(1000, n-n/4-n/4)
			h.Record(2000, n/4)
			result.Lengths, _ = h.Encode() // it has values
			r.Workers[i].Ready.Options = map[string]any{"verify": "status"}
		}
	}
}

func TestLengthsOnTheScreenAndThePage(t *testing.T) {
	arms := shop(1)
	f := servedElsewhere(t, synthetic.Options{Arms: arms, Connections: []int{10}, Blocks: 5, SD: 0.04, Seed: 1, Primary: []string{"exchanges_per_s"}}, varying(arms[0].Name))
	screen := screenOf(t, f)
	fits(t, "varying", screen)
	golden(t, "lengths.txt", []byte(screen))
	for _, want := range []string{`Replies of 100 B to 1\.95 KiB: p50 1000 B, p99 1\.95 KiB`} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("expected %s:\n%s", want, screen)
		}
	}
	s := summary.Of(f)
	if l := s.Loads[0].Lengths; l == nil || l.LeastBytes != 100 || l.P50Bytes != 1000 || l.P99Bytes != 2000 || l.MostBytes != 2000 || l.Replies < s.Loads[0].Requests {
		t.Errorf("the summary has %+v", l)
	}
	var page bytes.Buffer
	if err := New(f).Markdown(&page); err != nil || !strings.Contains(page.String(), "Lengths of the replies") {
		t.Errorf("the report has no lengths: %v", err)
	}
}

// Of two servers each tells its own; replies of one length are not worth a word.
func TestLengthsOfTwoServers(t *testing.T) {
	arms := shop(2)
	o := synthetic.Options{Arms: arms, Connections: []int{50}, Blocks: 6, SD: 0.04, Seed: 2, Primary: []string{"exchanges_per_s"}}
	if s := summary.Of(servedElsewhere(t, o, varying(arms[1].Name))); len(s.LengthLines()) != 1 || !strings.HasPrefix(s.LengthLines()[0], arms[1].Name+": replies of 100 B") {
		t.Errorf("lines %q", s.LengthLines())
	}
	if s := summary.Of(servedElsewhere(t, o, nil)); len(s.LengthLines()) != 0 {
		t.Errorf("lines %q", s.LengthLines())
	}
}
