package rig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/cpuset"
)

// hostOf makes a host of a name, a boot id and CPUs.
func hostOf(name, bootID, cpus string) Host {
	set, err := cpuset.Parse(cpus)
	if err != nil {
		panic(err)
	}
	return Host{Name: name, BootID: bootID, CPUs: set}
}

func TestSeats(t *testing.T) {
	for name, c := range map[string]struct {
		hosts     []Host
		placement string
		clients   int
		want      string
	}{
		"one host, separate":     {[]Host{hostOf("a", "", "0-3")}, "separate", 2, "a:0-1; a:2-3; a:2-3"},
		"one host, odd":          {[]Host{hostOf("a", "", "0-2")}, "separate", 1, "a:0; a:1-2"},
		"one host, shared":       {[]Host{hostOf("a", "", "0-3")}, "shared", 1, "a:0-3; a:0-3"},
		"one host, free":         {[]Host{hostOf("a", "", "0-3")}, "free", 1, "a:; a:"},
		"two machines":           {[]Host{hostOf("a", "x", "0-3"), hostOf("b", "y", "0-7")}, "separate", 1, "a:0-3; b:0-7"},
		"two parts of a machine": {[]Host{hostOf("a", "x", "0-3"), hostOf("b", "x", "0-3")}, "separate", 1, "a:0-1; b:2-3"},
		"clients in turn":        {[]Host{hostOf("a", "x", "0-1"), hostOf("b", "y", "0-1"), hostOf("c", "z", "0-1")}, "separate", 3, "a:0-1; b:0-1; c:0-1; b:0-1"},
		"CPUs of their own":      {[]Host{hostOf("a", "x", "0-2"), hostOf("b", "x", "3")}, "separate", 1, "a:0-2; b:3"},
		"CPUs that overlap":      {[]Host{hostOf("a", "x", "0-3"), hostOf("b", "x", "1-5")}, "separate", 1, "a:0-1; b:2-5"},
		"unknown machines":       {[]Host{hostOf("a", "", "0-3"), hostOf("b", "", "0-3")}, "separate", 1, "a:0-3; b:0-3"},
		"unknown CPUs":           {[]Host{hostOf("a", "x", ""), hostOf("b", "y", "")}, "separate", 1, "a:; b:"},
		"one CPU for two":        {[]Host{hostOf("a", "", "0")}, "separate", 1, "needs 2 CPUs, and a allows 1"},
		"all the server's half":  {[]Host{hostOf("a", "x", "0-3"), hostOf("b", "x", "0")}, "separate", 1, "all CPUs of b (0-1)"},
		"no host":                {nil, "separate", 1, "no host"},
		"no such placement":      {[]Host{hostOf("a", "", "0-3")}, "near", 1, "expected separate, shared or free"},
	} {
		server, clients, err := Seats(c.hosts, c.placement, c.clients)
		got := fmt.Sprint(err)
		if err == nil {
			var seats []string
			for _, s := range append([]Seat{server}, clients...) {
				seats = append(seats, s.Name+":"+cpuset.Format(s.CPUs))
			}
			got = strings.Join(seats, "; ")
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestCommandIsReadBackByAShell(t *testing.T) {
	h := Host{Name: "there", Prefix: []string{"sh", "-c"}, Shell: true, Files: map[string]string{"/here/tool": "printf"}}
	words := []string{"it's", `a "b" $HOME`, "", "x\ny", "`id`", `\`}
	// A shell that gets the words joined, as sshd's does.
	line := h.Command(append([]string{"/here/tool", `[%s]`}, words...)...)
	h = Host{Name: "here"}
	got, err := h.Ask(t.Context(), nil, append([]string{line[0], line[1]}, strings.Join(line[2:], " "))...)
	if want := "[" + strings.Join(words, "][") + "]"; err != nil || string(got) != want {
		t.Errorf("a shell read %q, %v; want %q", got, err, want)
	}
	plain := Host{Prefix: []string{"srun", "-n1"}}
	if got := plain.Command("a b", "c"); !slices.Equal(got, []string{"srun", "-n1", "a b", "c"}) {
		t.Errorf("without a shell: %q", got)
	}
}

func TestAskTellsWhatWentWrong(t *testing.T) {
	here := Host{Name: "here"}
	for name, c := range map[string]struct {
		argv []string
		want string
	}{
		"no such program": {[]string{"/no/such/program"}, "run /no/such/program on here"},
		"it complains":    {[]string{"sh", "-c", "echo no room >&2; exit 3"}, "exit status 3; it said: no room"},
		"it never stops":  {[]string{"sh", "-c", "yes | head -c 3000000"}, "more than 1048576 bytes"},
	} {
		if out, err := here.Ask(t.Context(), nil, c.argv...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d bytes and %v, want an error with %q", name, len(out), err, c.want)
		}
	}
	if out, err := here.Ask(t.Context(), strings.NewReader("in"), "cat"); err != nil || string(out) != "in" {
		t.Errorf("cat says %q, %v", out, err)
	}
}

func TestSources(t *testing.T) {
	h := Loopback{}.Hosts()[0]
	got, err := h.SourcesFor(300)
	if err != nil || len(got) != 300 || got[0] != "127.0.0.1" || got[254] != "127.0.1.1" || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 300 {
		t.Errorf("300 sources: %v, %v", got, err)
	}
	if _, err := (Host{Name: "b", Sources: []string{"10.0.0.1"}}).SourcesFor(2); err == nil || !strings.Contains(err.Error(), "on b") {
		t.Errorf("two of one source: %v", err)
	}
}
