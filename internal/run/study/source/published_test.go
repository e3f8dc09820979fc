package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// withPublished is a study with one published figure: what follows goes after
// its ratio.
func withPublished(more string) string {
	return `study: x
hold: {response: 4MiB, rate: max}
vary:
  transport: [go-net, go-epoll]
  connections: [4, 40]
published:
  - source: s
    metric: goodput_bytes_per_s
    arm: go-epoll
    base: go-net
    ratio: 2
` + more
}

func conditionText(p record.Published) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(p.Under)) {
		parts = append(parts, key+"="+p.Under[key])
	}
	return strings.Join(parts, " ")
}

func TestConditionsAreReadInCanonicalText(t *testing.T) {
	s := mustFile(t, withPublished("    under: {response: 4096KiB, connections: 40, rate: 0, link.rate: 20Gbit, opt.server.b: 128KiB, hosts: 02, rig: netns}\n"))
	if got, want := conditionText(s.Published[0]), "connections=40 hosts=2 link.rate=20Gbit/s opt.server.b=128KiB rate=max response=4MiB rig=netns"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s = mustFile(t, withPublished("    under: {transport: go-net, hosts: 2+}\n"))
	if got, want := conditionText(s.Published[0]), "client=go-net hosts=2+ server=go-net"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// A cell is its levels: a figure may name a cell, or give the cell's levels as
	// conditions.
	s = mustFile(t, withPublished("    cell: connections=40\n    under: {response: 4MiB}\n"))
	if got, want := conditionText(s.Published[0]), "connections=40 response=4MiB"; got != want || s.Published[0].Cell != "" {
		t.Errorf("got  %s, cell %q\nwant %s", got, s.Published[0].Cell, want)
	}
}

func TestFaultyConditionsNameTheirPlace(t *testing.T) {
	for more, want := range map[string]string{
		"    under: {conections: 40}\n":                           `x.yaml:12:13: under: unknown condition "conections"; did you mean "connections"?`,
		"    under: {host: 2}\n":                                  `x.yaml:12:13: under: unknown condition "host"; did you mean "hosts"?`,
		"    under: {seed: 2}\n":                                  `x.yaml:12:13: seed belongs to the whole study, not to a trial; write it at the top of the file`,
		"    under: {arm: x}\n":                                   `x.yaml:12:18: arm: arms are written under vary, as a mapping from names to levels`,
		"    under: {connections: many}\n":                        `x.yaml:12:26: connections: `,
		"    under: {connections: [4, 40]}\n":                     `x.yaml:12:26: connections: found a list; under has one level per factor`,
		"    under: {hosts: two}\n":                               `x.yaml:12:20: hosts: "two" is not a number of hosts; expected 2, or 2+ for two or more`,
		"    under: {hosts: 0}\n":                                 `x.yaml:12:20: hosts: "0" is not a number of hosts; expected 2, or 2+ for two or more`,
		"    under: {rig: loopbak}\n":                             `x.yaml:12:18: rig: unknown level "loopbak"; did you mean "loopback"?`,
		"    under: [connections]\n":                              `x.yaml:12:12: under: found a list; expected a mapping from conditions to levels`,
		"    cell: connections=40\n    under: {connections: 4}\n": `x.yaml:13:13: under: connections is 4, but cell has it at 40`,
		"    base_where: {connections: 7}\n":                      `x.yaml:12:17: base_where: `,
		"    unmeasured: no arm is it\n":                          `x.yaml:12:17: unmeasured: the study has the arms go-epoll and go-net; leave the key out, or name the arm that it lacks`,
	} {
		_, err := ParseFile("x.yaml", []byte(withPublished(more)))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", more, err, want)
		}
	}
}

// The link stands for its rate: it is the base of a goodput alone.
func TestThePublishedBaseMayBeTheLink(t *testing.T) {
	text := strings.Replace(withPublished(""), "base: go-net", "base: link", 1)
	if p := mustFile(t, text).Published[0]; p.Base != record.TheLink {
		t.Errorf("%+v", p)
	}
	_, err := ParseFile("x.yaml", []byte(strings.Replace(text, "goodput_bytes_per_s", "exchanges_per_s", 1)))
	if want := "x.yaml:10:11: base: the link has a rate and nothing else"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A publication may compare what the study has no arm for; the study then says
// why, and the figure is still told.
func TestFiguresOfNoArmAreKeptWithTheirReason(t *testing.T) {
	text := strings.Replace(withPublished("    unmeasured: muduo is no arm here\n"), "arm: go-epoll", "arm: muduo", 1)
	s := mustFile(t, text)
	if p := s.Published[0]; p.Arm != "muduo" || p.Unmeasured != "muduo is no arm here" {
		t.Errorf("%+v", p)
	}
	_, err := ParseFile("x.yaml", []byte(strings.Replace(text, "    unmeasured: muduo is no arm here\n", "", 1)))
	if want := `transport has no level "muduo"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Whatever is typed, a figure keeps its conditions: whether they hold is found
// out when the run is read.
func TestPublishedFiguresKeepTheirConditions(t *testing.T) {
	figures := func(args ...string) string {
		var out []string
		for _, p := range mustArgs(t, args...).Published {
			out = append(out, fmt.Sprintf("%s %.3f", p.Under["connections"], p.Ratio))
		}
		return strings.Join(out, ", ")
	}
	both := figures("event-loops")
	if both != "50 0.221, 10000 0.115" {
		t.Fatalf("event-loops has %s", both)
	}
	for _, args := range [][]string{
		{"connections=10000"}, {"connections=50,60"}, {"connections=50,60", "request=100,1000"}, {"request=1,2"}, {"connections=7"},
	} {
		if got := figures(append([]string{"event-loops"}, args...)...); got != both {
			t.Errorf("%q: got %s, want %s", args, got, both)
		}
	}
	if got := figures("event-loops", "arm=go-net,asio"); got != "" {
		t.Errorf("figures of an arm that was left out: %s", got)
	}
}

// A condition that typed levels leave without any trial is warned of; a condition that
// keeps some trials is measured.
func TestALostShapeIsWarnedOf(t *testing.T) {
	for typed, want := range map[string]string{
		"window=1s":      `amount: no trial has the level "10000"`,
		"amount=100":     `amount: no trial has the level "10000"`,
		"amount=10000":   "every trial ends after a fixed amount, and none in a window",
		"message=simple": "",
		"warmup=1s":      "",
	} {
		s := mustArgs(t, "messages-shape", typed)
		if _, err := ParseFile("study.yaml", must(YAML(s))); err != nil {
			t.Errorf("%s: the study that is kept cannot be read: %v", typed, err)
		}
		_, warnings, err := s.Plan()
		if err != nil {
			t.Errorf("%s: %v", typed, err)
			continue
		}
		var said string
		for _, w := range warnings {
			if w.About == "shape" {
				said = w.Text
			}
		}
		if said == "" != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", typed, said, want)
		}
	}
}

// Conditions of a built-in study's figures that no trial of the study meets, on any rig,
// would be a slip.
func TestBuiltInConditionsAreThoseOfSomeTrial(t *testing.T) {
	typed := map[string][]string{ // as the comments of these files say
		"blocks-fixed": {"connections=4", "amount=2000"}, // the other of two modes
		"blocks-quick": {"connections=40"},
	}
	for _, name := range List() {
		s := mustArgs(t, name)
		trials := mustPlan(t, s)
		if typed[name] != nil {
			trials = append(trials, mustPlan(t, mustArgs(t, append([]string{name}, typed[name]...)...))...)
		}
		for _, p := range s.Published {
			if p.Unmeasured != "" {
				continue
			}
			if len(p.Under) == 0 {
				t.Errorf("%s: %s of %s has no conditions", name, p.Metric, p.Arm)
			}
			if !slices.ContainsFunc(trials, func(x record.Trial) bool { return x.Arm == p.Arm && meets(x, p) }) {
				t.Errorf("%s: no trial of %s is under %s", name, p.Arm, conditionText(p))
			}
		}
	}
}

func mustPlan(t *testing.T, s *study.Study) []record.Trial {
	t.Helper()
	trials, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return trials
}

func meets(x record.Trial, p record.Published) bool {
	for factor, level := range p.Under {
		if factor != record.ConditionRig && factor != record.ConditionHosts && factor != record.ConditionLimit && factor != "link.rate" && x.Levels[factor] != level {
			return false
		}
	}
	return true
}
