package rig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/cpuset"
)

// place is a host of a test: its name, its machine, its CPUs.
func place(name, machine, cpus string) Place {
	set, err := cpuset.Parse(cpus)
	if err != nil {
		panic(err)
	}
	return Place{Name: name, Machine: machine, CPUs: set}
}

func TestSeats(t *testing.T) {
	for name, c := range map[string]struct {
		places    []Place
		placement string
		clients   int
		want      string
	}{
		"one host, apart":        {[]Place{place("a", "", "0-3")}, "apart", 2, "a:0-1; a:2-3; a:2-3"},
		"one host, odd":          {[]Place{place("a", "", "0-2")}, "apart", 1, "a:0; a:1-2"},
		"one host, shared":       {[]Place{place("a", "", "0-3")}, "shared", 1, "a:0-3; a:0-3"},
		"one host, free":         {[]Place{place("a", "", "0-3")}, "free", 1, "a:; a:"},
		"two machines":           {[]Place{place("a", "x", "0-3"), place("b", "y", "0-7")}, "apart", 1, "a:0-3; b:0-7"},
		"two parts of a machine": {[]Place{place("a", "x", "0-3"), place("b", "x", "0-3")}, "apart", 1, "a:0-1; b:2-3"},
		"clients in turn":        {[]Place{place("a", "x", "0-1"), place("b", "y", "0-1"), place("c", "z", "0-1")}, "apart", 3, "a:0-1; b:0-1; c:0-1; b:0-1"},
		"CPUs of their own":      {[]Place{place("a", "x", "0-2"), place("b", "x", "3")}, "apart", 1, "a:0-2; b:3"},
		"CPUs that overlap":      {[]Place{place("a", "x", "0-3"), place("b", "x", "1-5")}, "apart", 1, "a:0-1; b:2-5"},
		"unknown machines":       {[]Place{place("a", "", "0-3"), place("b", "", "0-3")}, "apart", 1, "a:0-3; b:0-3"},
		"unknown CPUs":           {[]Place{place("a", "x", ""), place("b", "y", "")}, "apart", 1, "a:; b:"},
		"one CPU for two":        {[]Place{place("a", "", "0")}, "apart", 1, "needs 2 CPUs, a lets us use 1"},
		"all the server's half":  {[]Place{place("a", "x", "0-3"), place("b", "x", "0")}, "apart", 1, "the CPUs of b (0-1)"},
		"no place":               {nil, "apart", 1, "no place"},
		"no such placement":      {[]Place{place("a", "", "0-3")}, "near", 1, "expected apart, shared or free"},
	} {
		server, clients, err := Seats(c.places, c.placement, c.clients)
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
	p := Place{Name: "there", Prefix: []string{"sh", "-c"}, Shell: true, Files: map[string]string{"/here/tool": "printf"}}
	words := []string{"it's", `a "b" $HOME`, "", "x\ny", "`id`", `\`}
	// A shell that gets the words joined, as sshd's does.
	line := p.Command(append([]string{"/here/tool", `[%s]`}, words...)...)
	p = Place{Name: "here"}
	got, err := p.Ask(t.Context(), nil, append([]string{line[0], line[1]}, strings.Join(line[2:], " "))...)
	if want := "[" + strings.Join(words, "][") + "]"; err != nil || string(got) != want {
		t.Errorf("a shell read %q, %v; want %q", got, err, want)
	}
	plain := Place{Prefix: []string{"srun", "-n1"}}
	if got := plain.Command("a b", "c"); !slices.Equal(got, []string{"srun", "-n1", "a b", "c"}) {
		t.Errorf("without a shell: %q", got)
	}
}

func TestAskTellsWhatWentWrong(t *testing.T) {
	here := Place{Name: "here"}
	for name, c := range map[string]struct {
		argv []string
		want string
	}{
		"no such program": {[]string{"/no/such/program"}, "run /no/such/program at here"},
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
	p := Loopback{}.Places()[0]
	got, err := p.SourcesFor(300)
	if err != nil || len(got) != 300 || got[0] != "127.0.0.1" || got[254] != "127.0.1.1" || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 300 {
		t.Errorf("300 sources: %v, %v", got, err)
	}
	if _, err := (Place{Name: "b", Sources: []string{"10.0.0.1"}}).SourcesFor(2); err == nil || !strings.Contains(err.Error(), "at b") {
		t.Errorf("two of one source: %v", err)
	}
}
