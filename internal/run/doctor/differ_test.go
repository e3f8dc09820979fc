package doctor

import (
	"strings"
	"testing"
)

func named(name string, facts ...string) Named {
	return Named{Name: name, Facts: but(append(facts, "host.name", name)...)}
}

func TestLikeHostsDoNotDiffer(t *testing.T) {
	for what, hosts := range map[string][]Named{
		"none": nil, "one": {named("a")}, "like": {named("a"), named("b", "load.average", "3.00", "cpu.mhz", "900")},
		"a silent one": {named("a"), {Name: "b"}},
	} {
		if got := Differ(hosts); len(got) != 0 {
			t.Errorf("%s: %+v, want nothing", what, got)
		}
	}
}

// differences trigger each concern alone, in the order of the table.
var differences = []struct {
	facts []string
	what  string
}{
	{[]string{"nic.eth0.driver_version", "5.8-1.1.2"}, "driver_version 5.0-0 at a, b, 5.8-1.1.2 at c"},
	{[]string{"nic.eth0.firmware", "16.28.1002"}, "firmware 16.35.4030 at a, b, 16.28.1002 at c"},
	{[]string{"nic.eth0.mtu", "1500"}, "mtu 9000 at a, b, 1500 at c"},
	{[]string{"nic.eth0.speed_mbit_per_s", "25000"}, "speed_mbit_per_s 100000 at a, b, 25000 at c"},
	{[]string{"nic.eth0.tso", "off"}, "tso on at a, b, off at c"},
	{[]string{"nic.eth0.ring_receive", "512 of 8192"}, "ring_receive 8192 of 8192 at a, b, 512 of 8192 at c"},
	{[]string{"kernel.release", "5.15.0"}, "kernel.release 6.1.0 at a, b, 5.15.0 at c"},
	{[]string{"net.congestion_control", "bbr"}, "net.congestion_control cubic at a, b, bbr at c"},
	{[]string{"cpu.count", "32"}, "cpu.count 16 at a, b, 32 at c"},
	{[]string{"net.somaxconn", "65535"}, "also unlike: net.somaxconn"},
}

func TestEveryConcernFindsItsDifference(t *testing.T) {
	if len(differences) != len(concerns)+1 {
		t.Fatalf("%d concerns, %d cases and one for the rest", len(concerns), len(differences))
	}
	for i, c := range differences {
		unlike := named("c", append([]string{"kernel.release", "6.1.0"}, c.facts...)...)
		got := Differ([]Named{named("a", "kernel.release", "6.1.0"), named("b", "kernel.release", "6.1.0"), unlike})
		if len(got) != 1 || !strings.Contains(got[0].What, c.what) {
			t.Errorf("%v: %+v, want one that says %q", c.facts, got, c.what)
			continue
		}
		if i < len(concerns) && (got[0].Why != concerns[i].why || got[0].Severity != concerns[i].severity || got[0].Source == "") {
			t.Errorf("%v: %+v, want concern number %d", c.facts, got[0], i)
		}
		if strings.Contains(got[0].Fix, "DEV") {
			t.Errorf("%v: the remedy %q is no command", c.facts, got[0].Fix)
		}
	}
}

// Cards are compared although their names differ, the fastest of each host.
func TestCardsOfOtherNamesAreCompared(t *testing.T) {
	other := named("b")
	for key, value := range quiet {
		if part, of := strings.CutPrefix(key, "nic.eth0."); of {
			delete(other.Facts.Values, key)
			other.Facts.Values["nic.ens1f0."+part] = value
		}
	}
	if got := Differ([]Named{named("a"), other}); len(got) != 0 {
		t.Errorf("only the card's name differs: %+v, want nothing", got)
	}
	other.Facts.Values["nic.ens1f0.mtu"] = "1500"
	if got := Differ([]Named{named("a"), other}); len(got) != 1 || !strings.Contains(got[0].Fix, "dev ens1f0|eth0 mtu") {
		t.Errorf("%+v, want one about the MTU", got)
	}
}
