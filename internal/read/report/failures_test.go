package report

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Why exchanges failed stands in the answer, in a table on the screen and in every
// other form, whether the trials count or not.
func TestFailedExchangesHaveTheirReasons(t *testing.T) {
	for level, said := range map[string]string{"1%": "failed: 429 Too Many Requests (18), connection reset (6)", "0%": "4 exchanges failed: 429 Too Many Requests (3), connection reset (1)"} {
		_, screen, whole, markdown := lostRun(t, func(r *record.Record) {
			c := &r.Workers[1]
			r.Trial.Levels["max_errors"] = level
			c.Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Invalid: 3, contract.Peer: 1}
			c.Result.Reasons = []contract.Reason{{Kind: contract.Invalid, Text: "429 Too Many Requests", Count: 3}, {Kind: contract.Peer, Text: "connection reset", Count: 1}}
		})
		plain := strings.Join(strings.Fields(markdown), " ")
		if !strings.Contains(plain, said) {
			t.Errorf("max_errors=%s: the report does not say %q:\n%s", level, said, markdown)
		}
		for name, text := range map[string]string{"screen": screen, "report": whole, "Markdown": markdown} {
			for _, reason := range []string{"429 Too Many Requests", "connection reset"} {
				if !strings.Contains(text, reason) {
					t.Errorf("max_errors=%s: %s does not have %q:\n%s", level, name, reason, text)
				}
			}
		}
		if !strings.Contains(whole, "Exchanges that failed") || !strings.Contains(markdown, "Failed exchanges") {
			t.Errorf("max_errors=%s: no table of reasons:\n%s", level, whole)
		}
		if level == "0%" != strings.Contains(screen, "invalid") {
			t.Errorf("max_errors=%s:\n%s", level, screen)
		}
	}
}
