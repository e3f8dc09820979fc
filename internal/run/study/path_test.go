package study

import (
	"fmt"
	"strings"
	"testing"

	"netdyno/internal/record"
)

// A level of path is direct, or hops from the client on; a command line ends it, as it may
// hold any sign.
func TestPaths(t *testing.T) {
	f, err := FactorNamed(record.PathFactor)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"direct":                           "[]",
		"nginx":                            "[{nginx false }]",
		"envoy+envoy":                      "[{envoy false } {envoy false }]",
		"nginx+exec:./relay a+b {port}":    "[{nginx false } { true ./relay a+b {port}}]",
		"direct+nginx":                     "direct is a path without hops",
		"nginx+":                           `"" is no hop`,
		"exec: ":                           "needs the command line",
		"Nginx":                            `"Nginx" is no hop`,
		"a+b+c+d+e":                        "5 hops in a row; expected at most 4",
		"exec:x\x01":                       "control characters",
		strings.Repeat("a", MaxText) + "b": "expected at most",
	} {
		got := ""
		if l, err := f.Level(text); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(pathOf(l.Text).Hops)
		}
		if !strings.Contains(got, want) {
			t.Errorf("path=%s: %s, want %s", text, got, want)
		}
	}
	for level, given := range map[string]bool{"": false, record.Direct: true, "nginx": true} {
		if got := pathOf(level).Given; got != given {
			t.Errorf("path %q is given: %v", level, got)
		}
	}
}
