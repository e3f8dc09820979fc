package main

import (
	"slices"
	"testing"
)

// What the flags say becomes keys of the study; a study of one's own keeps its windows.
func TestASearchIsTypedAsAStudy(t *testing.T) {
	for _, c := range []struct {
		flags capacityFlags
		args  []string
		url   bool
		want  []string
	}{
		{capacityFlags{}, []string{"go-http1"}, false, []string{"capacity=yes", "window=1s", "warmup=200ms"}},
		{capacityFlags{objective: "response_p99 <= 5ms, error_share <= 1%", time: "30s"}, []string{"transport=go-net", "window=2s"}, false,
			[]string{"capacity=yes", "capacity.objective=response_p99 <= 5ms, error_share <= 1%", "capacity.time=30s", "warmup=200ms"}},
		{capacityFlags{within: "5%"}, []string{"mine.yaml"}, false, []string{"capacity=yes", "capacity.within=5%"}},
		{capacityFlags{}, nil, true, []string{"capacity=yes", "window=1s", "warmup=200ms"}},
	} {
		if got := asTyped(c.flags.keys(c.args, c.url)); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
}
