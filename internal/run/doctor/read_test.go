package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorded is the one host of a fixture of package rig, as its Collect told it.
func recorded(t testing.TB, name string) Named {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../rig/testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := ReadFacts(text, name)
	if err != nil || len(hosts) != 1 {
		t.Fatalf("facts of %s: %d hosts, error %v; want one", name, len(hosts), err)
	}
	return hosts[0]
}

// What the doctor says of whole machines, by what it is about.
func TestRecordedMachines(t *testing.T) {
	for name, want := range map[string]string{
		"fast": "net.somaxconn nic.bond0.bond_hash nic.ens1f0.pcie limits.memlock_soft " +
			"cpu.governor cpu.boost thp cpu.energy_preference cpu.idle_exit_us memory.swap_used_gib kernel.numa_balancing host.daemons kernel.cmdline nic.ens1f0.numa_node " +
			"cpu.isolated cpu.nohz_full kernel.modules net.tcp_rmem net.tcp_wmem net.rmem_max net.wmem_max nic.ens1f0.mtu gpu.peermem gpu.pcie gpu.path gpu.numa_node",
		"fast-old":  "nic.ens1f0.driver_version nic.ens1f0.mtu",
		"vm":        "hypervisor",
		"container": "cgroup.cpu_max net.somaxconn limits.nofile_hard",
		"arm":       "cpu.count hypervisor",
	} {
		var got []string
		for _, a := range Advise(recorded(t, name).Facts) {
			if a.About != "load.average" && a.About != "steal.share" {
				got = append(got, a.About)
			}
		}
		wanted := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s: advice about\n%q, want\n%q", name, got, wanted)
		}
	}
}

func TestReadFacts(t *testing.T) {
	read := func(text string) ([]Named, error) { return ReadFacts([]byte(text), "FILE") }
	of := func(hosts []Named) (names []string) {
		for _, h := range hosts {
			names = append(names, h.Name)
		}
		return names
	}
	for text, want := range map[string][]string{
		`{"host.name": "node73", "thp": "never"}`: {"node73"},
		`{"thp": "never"}`:                        {"FILE"},
		`{"rig": "netns:2", "seats": {"b": {"values": {"thp": "never"}}, "a": {"values": {"thp": "always"}}}, "tools": {}}`: {"a", "b"},
	} {
		if hosts, err := read(text); err != nil || !slices.Equal(of(hosts), want) {
			t.Errorf("%s: hosts %q, error %v; want %q", text, of(hosts), err, want)
		}
	}
	for text, want := range map[string]string{
		"": "netdyno internal facts prints", "[]": "netdyno internal facts prints", "{}": "there are none", `{"thp": 1}`: "every fact is a text",
		`{"seats": {}}`: "no hosts", `{"seats": {"a": {}}}`: "of a: there are none", `{"seats": 3}`: "FILE",
		`{"a": "` + strings.Repeat("x", MaxFactsFile) + `"}`: "too long",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: error %v, want one that says %q", text, err, want)
		}
	}
}

// No file of facts, however odd, makes the doctor fail: what it reads it can
// judge and compare.
func FuzzReadFacts(f *testing.F) {
	for _, name := range []string{"fast", "fast-old", "vm", "container", "arm", "metal"} {
		text, err := os.ReadFile(filepath.Join("../rig/testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"seats": {"a": {"values": {"nic..mtu": "1500", "nic.x.driver": "y", "nic.x.channels": "9 of -1"}}}}`))
	f.Add([]byte(`{"nic.a.driver": "b", "nic.a.pcie": "1e309 GT/s x16", "nic.a.speed_mbit_per_s": "NaN", "cpu.count": "-3", "nic.a.channels": "1 of 5"}`))
	well := recorded(f, "fast")
	f.Fuzz(func(t *testing.T, text []byte) {
		hosts, err := ReadFacts(text, "FILE")
		if err != nil {
			return
		}
		if len(hosts) == 0 {
			t.Fatal("neither hosts nor an error")
		}
		for _, h := range hosts {
			for _, a := range Advise(h.Facts) {
				if a.What == "" || a.About == "" {
					t.Fatalf("advice %+v says nothing", a)
				}
			}
		}
		Differ(append(hosts, well))
	})
}
