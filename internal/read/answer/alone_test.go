package answer_test

import (
	"regexp"
	"testing"

	"netdyno/internal/read/answer"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/synthetic"
)

func TestAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		arms   int
		blocks int
		rate   float64
		want   string // "" for no sentence
	}{
		{"closed loop", 1, 3, 0, `^a answers [\d.]+k exchanges/s \([\d.]+k–[\d.]+k\) on \d+ connections, p99 [\d.,]+ (µs|ms) \([\d.,]+–[\d.,]+\); limit: [a-z-]+\.$`},
		{"open loop", 1, 3, 20000, `^a answers 20.0k exchanges/s .* on \d+ connections, p99 [\d.,]+ (µs|ms) .*; limit: schedule\.$`},
		{"one block", 1, 1, 0, `^a answers [\d.]+k exchanges/s on \d+ connections, .* One block gives no interval\.$`},
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
