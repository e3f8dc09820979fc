package bench

import (
	"testing"
	"time"

	"netdyno/internal/run/rig"
)

// A virtual machine on a host whose CPUs are full computes for long before it speaks; what
// computes nothing hangs.
func TestWhatComputesIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name, text string
		idle, most time.Duration
		least      time.Duration
	}{
		{"hangs", "read line", 300 * time.Millisecond, time.Hour, 300 * time.Millisecond},
		{"computes", "while :; do :; done", 3 * time.Second, 4 * time.Second, 4 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := rig.Start([]string{"sh", "-c", c.text}, rig.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			if took := <-silent(t.Context(), p, c.idle, c.most); took < c.least {
				t.Errorf("given up after %v, want %v at least", took, c.least)
			}
		})
	}
}
