package doctor

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
)

// quiet is a host of which no rule has anything to say.
var quiet = map[string]string{
	"cpu.count": "16", "cpu.online": "0-15", "cpu.governor": "performance", "cpu.boost": "off", "steal.share": "0.0000",
	"load.average": "0.10", "clocksource": "tsc", "thp": "madvise", "net.somaxconn": "4096", "kernel.cmdline": "quiet",
	"limits.nofile_soft": "1048576", "limits.nofile_hard": "1048576", "net.port_range": "1024-65535",
}

// but is the quiet host with some facts changed.
func but(facts ...string) record.Host {
	values := maps.Clone(quiet)
	for i := 0; i < len(facts); i += 2 {
		values[facts[i]] = facts[i+1]
	}
	return record.Host{Values: values}
}

func TestAdviseSaysNothingOfAQuietOrUnknownHost(t *testing.T) {
	for name, facts := range map[string]record.Host{
		"quiet": but(), "unknown": {}, "unlimited": but("limits.nofile_hard", "unlimited"),
		"odd": but("cpu.count", "many", "net.port_range", "x"),
	} {
		if got := Advise(facts); len(got) != 0 {
			t.Errorf("%s host: %+v, want no advice", name, got)
		}
	}
}

// findings trigger each rule alone, in the order of the table.
var findings = []struct {
	facts []string
	about string
	what  string
}{
	{[]string{"cpu.governor", "powersave"}, "cpu.governor", "powersave"},
	{[]string{"cpu.boost", "on"}, "cpu.boost", "nominal"},
	{[]string{"cpu.topology", "0,8;1,9"}, "cpu.topology", "0,8;1,9"},
	{[]string{"cpu.count", "1"}, "cpu.count", "1 CPU"},
	{[]string{"cpu.count", "2"}, "cpu.count", "2 CPUs"},
	{[]string{"cgroup.cpu_max", "200000 100000"}, "cgroup.cpu_max", "200000"},
	{[]string{"hypervisor", "KVM"}, "hypervisor", "KVM"},
	{[]string{"steal.share", "0.0210"}, "steal.share", "2.1 %"},
	{[]string{"load.average", "8.10"}, "load.average", "8.10 on 16"},
	{[]string{"clocksource", "hpet"}, "clocksource", "hpet"},
	{[]string{"thp", "always"}, "thp", "always"},
	{[]string{"net.somaxconn", "128"}, "net.somaxconn", "128"},
	{[]string{"limits.nofile_hard", "1024"}, "limits.nofile_hard", "1024"},
	{[]string{"net.port_range", "40000-41000"}, "net.port_range", "1001"},
	{[]string{"kernel.cmdline", "quiet mitigations=off splash"}, "mitigations", "off"},
}

func TestEveryRuleFindsItsFact(t *testing.T) {
	if len(findings) != len(rules) {
		t.Fatalf("%d rules, %d cases", len(rules), len(findings))
	}
	for i, c := range findings {
		got := Advise(but(c.facts...))
		if len(got) != 1 || got[0].About != c.about || !strings.Contains(got[0].What, c.what) {
			t.Errorf("%v: %+v, want one advice about %s that says %q", c.facts, got, c.about, c.what)
			continue
		}
		if got[0].Source != rules[i].source || got[0].Source == "" || got[0].Why == "" {
			t.Errorf("%v: advice %+v comes from another rule than number %d, or tells no reason or source", c.facts, got[0], i)
		}
	}
}

func TestTheGravestComesFirst(t *testing.T) {
	got := Advise(but("cpu.governor", "powersave", "cpu.count", "3", "clocksource", "hpet"))
	var order []string
	for _, a := range got {
		order = append(order, a.Severity.String()+" "+a.About)
	}
	want := []string{"distort clocksource", "noise cpu.governor", "note cpu.count"}
	if !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}

func TestAdviceAsWarning(t *testing.T) {
	w := Advise(but("thp", "always"))[0].Warning()
	if w.About != "thp" || !strings.Contains(w.Text, "always on: the kernel") || !strings.Contains(w.Advice, "madvise") {
		t.Errorf("warning %+v", w)
	}
}
