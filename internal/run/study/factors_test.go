package study

import (
	"strings"
	"testing"
)

func TestTheTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Factors() {
		if f.Doc == "" || seen[f.Name] {
			t.Errorf("%s is undocumented or listed twice", f.Name)
		}
		seen[f.Name] = true
		if f.Default == "" {
			continue
		}
		if l, err := f.Level(f.Default); err != nil || l.Text != f.Default {
			t.Errorf("the default of %s reads as %q, %v; expected it canonical: %q", f.Name, l.Text, err, f.Default)
		}
	}
	for name, f := range map[string]string{
		"request": "100B", "response": "100B", "connections": "50", "inflight": "1", "clients": "1", "servers": "1", "listeners": "1", "threads": "0", "rate": "max",
		"arrival": "constant", "think": "0s", "active": "100%", "placement": "separate", "window": "500ms", "warmup": "500ms", "amount": "0",
	} {
		if got, err := FactorNamed(name); err != nil || got.Default != f {
			t.Errorf("the default of %s is %q, %v; expected %q", name, got.Default, err, f)
		}
	}
}

// Names that users of other tools type mean the same, or are answered.
func TestUsualNamesAreUnderstood(t *testing.T) {
	for typed, want := range map[string]string{"conns": "connections", "concurrency": "connections", "qps": "rate", "rps": "rate", "duration": "window", "time": "window"} {
		if f, err := FactorNamed(typed); err != nil || f.Name != want {
			t.Errorf("%s is %q (%v), want %s", typed, f.Name, err, want)
		}
	}
	for _, typed := range []string{"size", "payload"} {
		if _, err := FactorNamed(typed); err == nil || !strings.Contains(err.Error(), "write request=SIZE") {
			t.Errorf("%s: %v", typed, err)
		}
	}
	for _, f := range Factors() {
		if again, err := FactorNamed(f.Name); !strings.HasPrefix(f.Name, "opt.") && (err != nil || again.Name != f.Name) {
			t.Errorf("%s is hidden by another meaning: %q, %v", f.Name, again.Name, err)
		}
	}
}
