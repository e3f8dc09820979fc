package pods

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/rig"
)

// What cannot be is refused before anything is asked of a cluster, with what to do.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		argument string
		options  map[string]string
		says     string
	}{
		"many":           {"65", nil, "65 pods; expected from 1 to 64"},
		"no number":      {"x", nil, `"x" is not a number of hosts`},
		"no network":     {"", map[string]string{"network": "bridge"}, "expected host (that of the node) or pod"},
		"no namespace":   {"", map[string]string{"namespace": "Bench"}, "namespace=Bench is no name"},
		"no CPU":         {"", map[string]string{"cpu": "two"}, "cpu=two; expected a quantity"},
		"no memory":      {"", map[string]string{"memory": "-1Gi"}, "memory=-1Gi; expected a quantity"},
		"a flag":         {"", map[string]string{"image": "--x"}, "image=--x is no name"},
		"no such level":  {"", map[string]string{"security": "none"}, "expected restricted"},
		"too many nodes": {"1", map[string]string{"node": "a,b"}, "k8s:2 makes one on each"},
		"no node":        {"", map[string]string{"node": "a,"}, "node= is no name"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Kind.Build(t.Context(), rig.Choice{Text: "k8s", Argument: c.argument, Form: Kind.Form, Options: c.options})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("built %v, error %v, want in it %q", r, err, c.says)
			}
		})
	}
}

// Levels of factor network have hosts of their own.
func TestNetworks(t *testing.T) {
	r := &Rig{options: Options{Hosts: 2, Bounds: "cpu=1"}, run: "run"}
	r.plan("pod", "")
	if got, want := r.Name(), "k8s:2?network=pod&cpu=1"; got != want {
		t.Errorf("named %q, want %q", got, want)
	}
	if err := r.On([]string{networkHost, networkPod}); err != nil {
		t.Fatal(err)
	}
	if got, want := r.pods, []string{"run-host-1", "run-host-2", "run-pod-1", "run-pod-2"}; !slices.Equal(got, want) {
		t.Errorf("pods %q, want %q", got, want)
	}
	if got, want := r.Name(), "k8s:2?cpu=1"; got != want {
		t.Errorf("named %q, want %q", got, want)
	}
	if err := r.On([]string{"bridge"}); err == nil || !strings.Contains(err.Error(), "host") {
		t.Errorf("network bridge: %v", err)
	}
}
