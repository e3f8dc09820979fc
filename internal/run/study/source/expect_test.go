package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/condition"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// under is a study whose one statement is under the conditions that follow.
func under(conditions string) string {
	return `study: x
hold: {response: 4MiB, rate: max}
vary:
  transport: [go-net, go-epoll]
  connections: [4, 40]
expect:
  - that: goodput of go-epoll = 2 × go-net at response=4096KiB
    under: ` + conditions + "\n"
}

func TestConditionsAreKeptInCanonicalText(t *testing.T) {
	for written, want := range map[string]string{
		"{response: 4096KiB, connections: 40, rate: 0, link.rate: 20Gbit, opt.server.b: 128KiB, hosts: 2, rig: netns}": "connections=40 hosts=2 link.rate=20Gbit/s opt.server.b=128KiB rate=max response=4MiB rig=netns",
		"{transport: go-net, hosts: 2+}": "client=go-net hosts=2+ server=go-net",
	} {
		x := mustFile(t, under(written)).Expect[0]
		var parts []string
		for _, factor := range slices.Sorted(maps.Keys(x.Under)) {
			parts = append(parts, factor+"="+x.Under[factor])
		}
		if got := strings.Join(parts, " "); got != want || x.That[0] != "goodput_bytes_per_s of go-epoll = 2 × go-net at response=4MiB" {
			t.Errorf("got  %s, %q\nwant %s", got, x.That, want)
		}
	}
}

func TestFaultyConditionsNameTheirPlace(t *testing.T) {
	for written, want := range map[string]string{
		"{conections: 40}":       `x.yaml:8:13: under: unknown condition "conections"; did you mean "connections"?`,
		"{host: 2}":              `x.yaml:8:13: under: unknown condition "host"; did you mean "hosts"?`,
		"{seed: 2}":              `x.yaml:8:13: seed belongs to the whole study, not to a trial; write it at the top of the file`,
		"{connections: many}":    `x.yaml:8:26: connections: `,
		"{connections: [4, 40]}": `x.yaml:8:26: connections: found a list; under has one level per factor`,
		"{hosts: two}":           `x.yaml:8:20: hosts: "two" is not a number of hosts; expected 2, or 2+ for two or more`,
		"{rig: loopbak}":         `x.yaml:8:18: rig: unknown level "loopbak"; did you mean "loopback"?`,
		"[connections]":          `x.yaml:8:12: under: found a list; expected a mapping from conditions to levels`,
	} {
		if _, err := ParseFile("x.yaml", []byte(under(written))); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", written, err, want)
		}
	}
}

// Whatever is typed, a statement keeps what it is about: whether that is met is found out
// when the run is read.
func TestStatementsKeepWhatTheyAreAbout(t *testing.T) {
	whole := fmt.Sprint(mustArgs(t, "messages-quick").Expect)
	for _, args := range [][]string{{"connections=4"}, {"window=1s"}, {"placement=separate"}, {"blocks=8"}} {
		if got := fmt.Sprint(mustArgs(t, append([]string{"messages-quick"}, args...)...).Expect); got != whole {
			t.Errorf("%q: got %s, want %s", args, got, whole)
		}
	}
}

// Conditions of a built-in study that no trial of it meets, on any rig, would be a slip.
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
		for _, x := range s.Expect {
			for _, text := range x.That {
				c, err := condition.Parse(text, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(trials, func(trial record.Trial) bool {
					return (len(c.Of.Arms) == 0 || slices.Contains(c.Of.Arms, trial.Arm)) && meets(trial, x.Under) && meets(trial, c.At)
				}) {
					t.Errorf("%s: no trial is what %q is about", name, text)
				}
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

func meets(x record.Trial, levels map[string]string) bool {
	for factor, level := range levels {
		if factor != record.ConditionRig && factor != record.ConditionHosts && factor != record.ConditionLimit && factor != "link.rate" && x.Levels[factor] != level {
			return false
		}
	}
	return true
}
