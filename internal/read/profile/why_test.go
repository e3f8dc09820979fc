package profile

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
)

// costing is a difference of which some activities are told apart.
func costing(arm string, whole float64, told bool, parts ...Change) Difference {
	return Difference{
		Arm: arm, Base: "go-net", End: "server", Metric: "server.cpu_us_per_exchange", Pairs: 3,
		Whole: Change{Arm: 20 + whole, Base: 20, Difference: whole, Low: whole - 1, High: whole + 1, Told: told}, Activities: parts,
	}
}

// The share that profiles account for is said once for all differences, and the cause of
// the largest one that a part of is told.
func TestWhyIsSaidOnce(t *testing.T) {
	waking := Change{Name: "scheduler", Difference: -11, Told: true}
	calls := Change{Name: "system calls", Difference: -1, Told: false}
	s := new(cells.Dataset)
	s.Compare.Primary = []string{"server.cpu_us_per_exchange"}
	for name, c := range map[string]struct {
		differences []Difference
		want        []string
	}{
		"one": {[]Difference{costing("asio", -14, true, waking, calls)}, []string{
			"The server of asio spends 11.0 µs less in waking and scheduling goroutines per exchange than that of go-net; " +
				"the profile accounts for 11.0 of the 14.0 µs; the rest is below what 3 probes of each arm can tell."}},
		"several": {[]Difference{costing("go-epoll", -4, true, calls), costing("asio", -14, true, waking), costing("uring", 3, false, waking)}, []string{
			"The server of asio spends 11.0 µs less in waking and scheduling goroutines per exchange than that of go-net.",
			"The profiles account for 0 to 79 % of the 2 differences in CPU time; the rest is below what 3 probes of each arm can tell."}},
		"against it": {[]Difference{costing("asio", 5, true, waking)}, []string{
			"The server of asio spends 11.0 µs less in waking and scheduling goroutines per exchange than that of go-net; " +
				"the profile accounts for 0 % of the difference in CPU time; the rest is below what 3 probes of each arm can tell."}},
		"no part told": {[]Difference{costing("asio", -14, true, calls)}, []string{
			"The server of asio spends 14.0 µs less CPU per exchange than that of go-net, most of it as it seems in system calls; 3 probes of each arm cannot tell that from noise."}},
		"nothing told": {[]Difference{costing("asio", -1, false, waking)}, nil},
	} {
		var said []string
		if why := Reasons(s, c.differences, nil); why != nil {
			said = why.Sentences
		}
		if !slices.Equal(said, c.want) {
			t.Errorf("%s: %q\nwant %q", name, said, c.want)
		}
	}
	if p := (*Why)(nil).Part(); len(p.Sections) > 0 {
		t.Errorf("nothing to say is a part: %+v", p)
	}
}

// What most of an end's time goes into is named with what would change it.
func TestWhatDominatesIsNamed(t *testing.T) {
	busy := func(arm string, shares ...Share) Profile {
		return Profile{Arm: arm, End: "server", Source: Perf, Shares: shares}
	}
	for name, c := range map[string]struct {
		profiles []Profile
		want     string
	}{
		"wake-ups": {[]Profile{busy("a", Share{"kernel: polling, wakeups", 0.3}, Share{"scheduler", 0.1}), busy("b", Share{"kernel: polling, wakeups", 0.55})},
			"Of the CPU time of the servers of every arm, 40 to 55 % is wake-ups (the kernel's and those of goroutines): more exchanges in flight"},
		"copying": {[]Profile{busy("a", Share{"kernel: copying", 0.6})}, "Of the CPU time of the server of a, 60 % is copying bytes: sending from files"},
		"memory": {[]Profile{busy("a", Share{"garbage collection", 0.15}, Share{"allocation", 0.1})},
			"Of the CPU time of the server of a, 25 % is allocating memory and collecting garbage: buffers that are used again"},
		"encryption": {[]Profile{busy("a", Share{"tls", 0.3})}, "Of the CPU time of the server of a, 30 % is encryption: a cipher"},
		"some": {[]Profile{busy("a", Share{"tls", 0.3}), busy("b", Share{"tls", 0.1}), {Arm: "a", End: "client", Source: Perf, Shares: []Share{{"tls", 0.4}}}, busy("c", Share{"tls", 0.5})},
			"Of the CPU time of both ends of a and the server of c, 30 to 50 % is encryption: a cipher"},
		"not so much": {[]Profile{busy("a", Share{"kernel: copying", 0.2}, Share{"tls", 0.2}, Share{"scheduler", 0.2})}, ""},
	} {
		if got := strings.Join(dominated(cells.Names{}, c.profiles), " "); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
