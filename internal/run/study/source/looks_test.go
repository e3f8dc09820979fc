package source

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// The plan holds the blocks of every look, in the order that one look of as
// many would have: a run that does not stop is the run with one look.
func TestLooksPlanEveryBlock(t *testing.T) {
	trials, warnings, err := mustArgs(t, "transport=go-net,go-epoll", "probes=1").Plan()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	whole, _, _ := mustArgs(t, "transport=go-net,go-epoll", "blocks=32", "probes=1").Plan()
	if !slices.EqualFunc(study.Before(trials, 26)[:26*3], study.Before(whole, 26)[:26*3], sameTrial) {
		t.Error("the looks' plan is not that of a given number of blocks")
	}
	stopped := study.Before(trials, 6)
	if len(stopped) != 6*3+2 || slices.ContainsFunc(stopped[:18], isProbe) || !isProbe(stopped[18]) {
		t.Errorf("stopped after 6 blocks: %d trials, expected 18 and 2 probes", len(stopped))
	}
}

// What a study says of its blocks, and what a command line makes of it.
func TestLooksOfAStudy(t *testing.T) {
	const (
		two  = "study: s\nhold: {window: 2s}\nvary: {transport: [go-net, go-epoll]}\n"
		one  = "study: s\nhold: {transport: go-net, window: 2s}\n"
		same = "study: s\nvary: {arm: {a: {transport: go-net}, b: {server: go-net, client: go-net}}}\n"
	)
	for _, c := range []struct {
		file  string
		typed []string
		want  []int // of all looks
		alone int   // of those, how many a run takes by itself
	}{
		{two, nil, []int{8, 16, 32, 128}, 3},
		{two + "blocks: 8\n", nil, []int{8, 32}, 1},
		{two + "blocks: 7\n", []string{"blocks=42"}, []int{42, 168}, 1},
		{two + "blocks: 100\n", nil, []int{100, 400}, 1},
		{two + "blocks: 8\n", []string{"settle=30s"}, []int{2, 7}, 2}, // three trials of two seconds
		{two + "settle: 30s\n", []string{"blocks=8"}, []int{8, 32}, 1},
		{two + "settle: 1h\n", nil, []int{8, 16, 32, 64, 128}, 5},
		{two + "settle: 200s\n", nil, []int{8, 16, 32}, 3},
		{two + "settle: 5s\n", nil, []int{2}, 1},
		{two + "compare: {primary: [service_p99_us]}\nsettle: 1h\n", nil, []int{32, 64, 128}, 3},
		{same + "blocks: 8\n", nil, []int{8}, 1}, // nothing is asked that more blocks would tell
		{one + "blocks: 8\n", nil, []int{8}, 1},
		{one + "settle: 5%\n", nil, []int{3, 7, 10, 13, 16}, 5},
		{one + "settle: 5%/20s\n", nil, []int{3, 6, 8, 10, 12}, 5},
		{one + "settle: 5%/4s\n", nil, []int{3, 4}, 2},
	} {
		open := func(string) ([]byte, error) { return []byte(c.file), nil }
		s, err := ParseArgs(append([]string{"s.yaml"}, c.typed...), open)
		if err != nil {
			t.Errorf("%q %q: %v", c.file, c.typed, err)
			continue
		}
		sum := study.Summary(s)
		if looks := sum.Looks(); !slices.Equal(looks, c.want) || sum.Blocks != c.want[c.alone-1] {
			t.Errorf("%q %q: looks %v, %d blocks by itself; want %v, %d of them by itself", c.file, c.typed, looks, sum.Blocks, c.want, c.alone)
		}
		trials, _, err := s.Plan()
		if most := c.want[len(c.want)-1]; err != nil || trials[len(trials)-1].Block != most {
			t.Errorf("%q %q: the plan has %d blocks; %v", c.file, c.typed, trials[len(trials)-1].Block, err)
		}
		text, err := YAML(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseFile("study.yaml", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if got := study.Summary(again); !reflect.DeepEqual(got, sum) {
			t.Errorf("read back: %+v, was %+v", got, sum)
		}
	}
}

func TestQuantitiesOfRequirements(t *testing.T) {
	for line, want := range map[string]float64{
		"exchanges_per_s of a >= 20k":             20000,
		"goodput_bytes_per_s of a >= 100MB/s":     100e6,
		"service_p99_us of a <= 5ms":              5000,
		"service_p99_us of a ≤ 800":               800,
		"server.rss_bytes of a <= 64MiB":          64 << 20,
		"host.softirq_share of a <= 2%":           0.02,
		"server.gc_pause_us_per_s of a <= 12.5":   12.5,
		"service_p50_us of build dir/x <= 1.5s":   1.5e6,
		"client.cpu_s_per_gb of a <= 1.2 x floor": 1.2,
		"client.cpu_s_per_gb of a <= 1.2x floor":  1.2,
	} {
		r, err := readRequire(line)
		if err != nil || r.Bound != want {
			t.Errorf("%s: bound %v, %v; expected %v", line, r.Bound, err, want)
		}
	}
}

const required = `study: s
vary:
  arm: {a: {transport: go-net}, b: {transport: go-epoll}, c: {transport: netpoll}}
expect:
  - exchanges_per_s of b >= 0.5 x a
  - exchanges_per_s of c >= 0.5 x a
`

// A requirement that an override leaves without its arm is not asked any more,
// and the plan says so: a gate must not pass in silence.
func TestOverriddenRequirements(t *testing.T) {
	open := func(string) ([]byte, error) { return []byte(required), nil }
	s, err := ParseArgs([]string{"s.yaml", "arm=a,b"}, open)
	if err != nil {
		t.Fatal(err)
	}
	_, warnings, err := s.Plan()
	if err != nil || len(s.Requires) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0].Text, "exchanges_per_s of c") {
		t.Errorf("requirements %v, warnings %v, %v", s.Requires, warnings, err)
	}
	s, err = ParseArgs([]string{"s.yaml", "require=exchanges_per_s of c >= 1k"}, open)
	if err != nil || len(s.Requires) != 1 || s.Requires[0].Arm != "c" {
		t.Fatalf("typed: %v, %v", s.Requires, err)
	}
	if _, warnings, err = s.Plan(); err != nil || strings.Contains(fmt.Sprint(warnings), "left out") {
		t.Errorf("typed: warnings %v, %v", warnings, err)
	}
}

func sameTrial(a, b record.Trial) bool { return reflect.DeepEqual(a, b) }

func isProbe(t record.Trial) bool { return t.Probe }

func TestSettleIsOfOneArm(t *testing.T) {
	_, err := ParseArgs([]string{"transport=go-net,go-epoll", "settle=5%"}, nil)
	if err == nil || !strings.Contains(err.Error(), "compares 2 arms") || !strings.Contains(err.Error(), "such as 30s") {
		t.Errorf("two arms settle by precision: %v", err)
	}
	if _, err := ParseArgs([]string{"transport=go-net", "settle=30s"}, nil); err == nil || !strings.Contains(err.Error(), "5%/30s") {
		t.Errorf("one arm settles by a time alone: %v", err)
	}
	for _, bad := range []string{"settle=0", "settle=120%", "settle=soon", "settle=5%/", "settle=5%/0s", "settle=5%/soon"} {
		if _, err := ParseArgs([]string{"transport=go-net", bad}, nil); err == nil || !strings.Contains(err.Error(), "settle") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
