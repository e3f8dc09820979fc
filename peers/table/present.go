package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"

	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// present returns a study's text without the arms, and the sweeps, whose programs are not
// here, and says which arms those are.
func present(path string) (text []byte, left []string, err error) {
	whole, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	s, err := source.ParseFile(path, whole)
	if err != nil {
		return nil, nil, err
	}
	for _, arm := range s.Arms {
		if !here(arm.Settings) {
			left = append(left, arm.Name)
		}
	}
	s.Arms = slices.DeleteFunc(s.Arms, func(a study.Arm) bool { return slices.Contains(left, a.Name) })
	withoutArms(s.Vary, left)
	for i := range s.Sweeps {
		withoutArms(s.Sweeps[i].Vary, left)
	}
	s.Sweeps = slices.DeleteFunc(s.Sweeps, func(w study.Sweep) bool { return !here(w.Hold) })
	text, err = source.YAML(s)
	return text, left, err
}

// withoutArms takes arms out of the levels of the factor that they are.
func withoutArms(vary []study.Varied, arms []string) {
	for i := range vary {
		if vary[i].Factor == study.ArmFactor {
			vary[i].Levels = slices.DeleteFunc(vary[i].Levels, func(l study.Level) bool { return slices.Contains(arms, l.Text) })
		}
	}
}

// pairs are the programs of transports that are two of somebody else's.
var pairs = map[string][]string{
	"iperf3": {"iperf3"}, "iperf2": {"iperf"}, "sockperf": {"sockperf"}, "muduo": {"pingpong_server", "pingpong_client"},
}

// here tells whether the programs that settings start are on this machine.
func here(settings []study.Setting) bool {
	for _, s := range settings {
		programs := pairs[s.Level.Text]
		if strings.HasSuffix(s.Factor, ".command") {
			words := strings.Fields(s.Level.Text)
			for len(words) > 0 && (words[0] == "env" || strings.Contains(words[0], "=")) {
				words = words[1:]
			}
			programs = words[:min(1, len(words))]
		}
		for _, program := range programs {
			if _, err := exec.LookPath(program); err != nil {
				return false
			}
		}
	}
	return true
}
