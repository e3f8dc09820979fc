package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

// manyCPUs writes the files of a machine with 64 hardware threads on 32 cores of two
// packages, numbered as Linux does: the second threads of all cores last.
func manyCPUs(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write := func(path, text string) {
		at := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var info strings.Builder
	for id := range 64 {
		core := id % 32
		directory := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", id)
		write(directory+"topology/physical_package_id", fmt.Sprint(core/16))
		write(directory+"topology/thread_siblings_list", fmt.Sprintf("%d,%d", core, core+32))
		fmt.Fprintf(&info, "processor\t: %d\nmodel name\t: Large\ncpu MHz\t\t: 2600.000\n\n", id)
	}
	write("proc/cpuinfo", info.String())
	write("sys/devices/system/cpu/online", "0-63")
	write("sys/devices/system/node/online", "0-1")
	write("sys/devices/system/node/node0/cpulist", "0-15,32-47")
	write("sys/devices/system/node/node1/cpulist", "16-31,48-63")
	write("proc/self/status", "Cpus_allowed_list:\t0-63")
	return root
}

func TestFactsAndSeatsOf64CPUs(t *testing.T) {
	facts := collect(manyCPUs(t), nil).Values
	for key, want := range map[string]string{
		"cpu.count": "64", "cpu.online": "0-63", "cpu.usable": "0-63", "cpu.packages": "2", "cpu.cores": "32", "cpu.mhz": "2600",
		"numa.nodes": "2", "numa.cpus": "0: 0-15,32-47; 1: 16-31,48-63",
	} {
		if facts[key] != want {
			t.Errorf("%s = %q, want %q", key, facts[key], want)
		}
	}
	if groups := strings.Split(facts["cpu.topology"], ";"); len(groups) != 32 || groups[31] != "31,63" {
		t.Errorf("%d cores have two threads: %q", len(groups), facts["cpu.topology"])
	}
	cpus, err := cpuset.Parse(facts["cpu.usable"])
	if err != nil {
		t.Fatal(err)
	}
	server, clients, err := Seats([]Host{{Name: "large", CPUs: cpus}}, record.Separate, 4)
	if err != nil || len(server.CPUs) != 32 {
		t.Fatalf("the server has CPUs %v, %v", server.CPUs, err)
	}
	for _, c := range clients {
		if len(c.CPUs) != 32 || len(cpuset.Common(c.CPUs, server.CPUs)) > 0 {
			t.Errorf("a client has CPUs %v beside the server's %v", c.CPUs, server.CPUs)
		}
	}
}
