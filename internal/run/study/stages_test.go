package study

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
)

// The plan holds the blocks of every stage, in the order that one stage of as
// many would have: a run that does not stop is the run without stages.
func TestStagesPlanEveryBlock(t *testing.T) {
	staged := mustArgs(t, "transport=go-net,go-epoll", "blocks=6,10,16", "probes=1")
	trials, warnings, err := staged.Plan()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	whole, _, _ := mustArgs(t, "transport=go-net,go-epoll", "blocks=16", "probes=1").Plan()
	if !slices.EqualFunc(trials, whole, sameTrial) {
		t.Error("the stages' plan is not that of 16 blocks")
	}
	if got := Summary(staged).Stages; !slices.Equal(got, []int{6, 10, 16}) {
		t.Errorf("stages %v in the summary", got)
	}
	if got := Summary(mustArgs(t, "transport=go-net", "blocks=8")).Stages; got != nil {
		t.Errorf("a study of one stage has the stages %v", got)
	}
	stopped := Before(trials, 6)
	if len(stopped) != 6*3+2 || slices.ContainsFunc(stopped[:18], isProbe) || !isProbe(stopped[18]) {
		t.Errorf("stopped after 6 blocks: %d trials, expected 18 and 2 probes", len(stopped))
	}
}

func TestStagesAndRequirementsReadBack(t *testing.T) {
	s := mustArgs(t, "transport=go-net,go-epoll", "connections=50,100", "blocks=6,10,16",
		"require=exchanges_per_s of go-epoll >= 0.9 × go-net where connections=100,service_p99_us of go-net <= 5ms")
	if len(s.Requires) != 2 || s.Requires[0].Base != "go-net" || s.Requires[0].Bound != 0.9 || !s.Requires[0].AtLeast ||
		s.Requires[0].Where["connections"] != "100" || s.Requires[1].Bound != 5000 || s.Requires[1].Base != "" {
		t.Errorf("requirements: %+v", s.Requires)
	}
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseFile("study.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	second, err := again.YAML()
	if err != nil || string(second) != string(text) {
		t.Errorf("%v, written again:\n%s\nwas:\n%s", err, second, text)
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
require:
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
	if err != nil || len(s.Requires) != 1 || s.Requires[0].Arm != "c" || len(s.dropped) > 0 {
		t.Errorf("typed: %v, dropped %v, %v", s.Requires, s.dropped, err)
	}
}

// Factors that sweeps change only together are named; a sweep that crosses
// them ends it.
func TestConfoundedSweepsAreNamed(t *testing.T) {
	const swept = `study: s
vary: {transport: [go-net, go-epoll]}
blocks: 8
sweeps:
  - {name: few, hold: {connections: 10, threads: 1}}
  - {name: many, hold: {connections: 100, threads: 2}}
`
	for text, want := range map[string]int{swept: 1, swept + "  - {name: crossed, hold: {connections: 100, threads: 1}}\n": 0} {
		s, err := ParseFile("s.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, warnings, err := s.Plan()
		if err != nil || len(warnings) != want || want > 0 && warnings[0].About != "confounded: connections, threads" {
			t.Errorf("warnings %v, expected %d; %v", warnings, want, err)
		}
	}
}

func TestAStageThatCannotEndTheRunIsNamed(t *testing.T) {
	_, warnings, err := mustArgs(t, "transport=go-net,go-epoll", "blocks=4,8").Plan()
	if err != nil || len(warnings) != 1 || warnings[0].About != "stages" {
		t.Errorf("warnings %v, %v", warnings, err)
	}
}

func sameTrial(a, b record.Trial) bool { return reflect.DeepEqual(a, b) }

func isProbe(t record.Trial) bool { return t.Probe }
