package study

import "testing"

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
		"arrival": "constant", "think": "0s", "active": "100%", "placement": "separate", "window": "2s", "warmup": "500ms", "amount": "0", "seed": "1",
	} {
		if got, err := FactorNamed(name); err != nil || got.Default != f {
			t.Errorf("the default of %s is %q, %v; expected %q", name, got.Default, err, f)
		}
	}
}
