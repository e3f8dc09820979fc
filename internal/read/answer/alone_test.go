package answer_test

import (
	"regexp"
	"testing"

	"netdyno/internal/read/answer"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/test/synthetic"
)

func TestAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		arms   int
		blocks int
		rate   float64
		want   string // "" for no sentence
	}{
		{"closed loop", 1, 3, 0, `^a answers [\d.]+ k exchanges/s \([\d.]+–[\d.]+\) on \d+ connections, p99 [\d.,]+ (µs|ms) \([\d.,]+–[\d.,]+\), [\d.]+ µs of server CPU each, [\d.]+ MiB of server memory; limit: [a-z-]+\.$`},
		{"open loop", 1, 3, 20000, `^a answers 20.0 k exchanges/s .* on \d+ connections, p99 [\d.,]+ (µs|ms) .*; limit: schedule\.$`},
		{"one block", 1, 1, 0, `^a answers [\d.]+ k exchanges/s on \d+ connections, .* One block gives no interval\.$`},
		{"two arms", 2, 3, 0, ``},
	} {
		arms := []synthetic.Arm{{Name: "a"}, {Name: "b"}}[:c.arms]
		f, err := finding.Find(synthetic.Run(synthetic.Options{Arms: arms, Connections: []int{10, 50}, Rate: c.rate, Blocks: c.blocks, SD: 0.02, Seed: 3}))
		if err != nil {
			t.Fatal(err)
		}
		said := answer.Alone(f.Run)
		if c.want == "" && len(said) > 0 || c.want != "" && (len(said) != 1 || !regexp.MustCompile(c.want).MatchString(said[0])) {
			t.Errorf("%s: %q", c.name, said)
		}
		if c.want != "" && (len(f.Answers) != 1 || f.Answers[0] != said[0]) {
			t.Errorf("%s: the findings answer %q", c.name, f.Answers)
		}
	}
}

// What an exchange is called follows the wire that the server speaks.
func TestAloneSaysRequests(t *testing.T) {
	arm := cells.Arm{Name: "a", Limit: "latency", Metrics: []cells.Summary{{Metric: "exchanges_per_s", Unit: "1/s", Figure: cells.Figure{N: 3, Value: 1000, Low: 900, High: 1100}}}}
	for wire, want := range map[string]string{"http/1.1": "requests", "h2c": "requests", "echo": "exchanges", "": "exchanges"} {
		arm.Settings = map[string]string{"server.wire": wire}
		said := answer.Alone(compare.Run{Cells: []cells.Cell{{Arms: []cells.Arm{arm}}}})
		if len(said) != 1 || said[0] != "a answers 1.00 k "+want+"/s (0.900–1.10); limit: latency." {
			t.Errorf("wire %q: %q", wire, said)
		}
	}
}
