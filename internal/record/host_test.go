package record

import (
	"slices"
	"testing"
)

func TestDiffHosts(t *testing.T) {
	a := Host{Values: map[string]string{"cpu.mhz": "1", "kernel.release": "6.1", "thp": "never", "numa.nodes": "1"}}
	b := Host{Values: map[string]string{"cpu.mhz": "2", "kernel.release": "6.2", "net.somaxconn": "128", "numa.nodes": "1"}}
	want := []string{`kernel.release: "6.1", then "6.2"`, `net.somaxconn: unknown, then "128"`, `thp: "never", then unknown`}
	if got := DiffHosts(a, b); !slices.Equal(got, want) {
		t.Errorf("DiffHosts = %q, want %q", got, want)
	}
	if got := DiffHosts(a, a); got != nil {
		t.Errorf("DiffHosts of a host with itself = %q, want none", got)
	}
}
