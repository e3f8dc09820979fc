package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/record"
)

// host unpacks a machine's files, from "== PATH" to the next, under a
// directory of the test's.
func host(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, section := range strings.Split(string(text), "\n== ")[1:] {
		head, body, _ := strings.Cut(section+"\n", "\n")
		file, target, isLink := strings.Cut(head, " -> ")
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(body), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCollectMetal(t *testing.T) {
	want := map[string]string{
		"cpu.model": "AMD EPYC 7763 64-Core Processor", "cpu.microcode": "0xa0011d1", "cpu.mhz": "1496-2450",
		"cpu.count": "4", "cpu.online": "0-3", "cpu.packages": "2", "cpu.cores": "2", "cpu.smt": "on",
		"cpu.topology": "0,2;1,3", "cpu.governor": "performance, schedutil", "cpu.mhz_max": "3529", "cpu.boost": "on",
		"mitigations.spectre_v2": "Mitigation: Retpolines",
		"numa.nodes":             "2", "memory.total_bytes": "540672000000", "thp": "always", "clocksource": "hpet",
		"load.average": "3.25", "steal.share": "0.0100", "limits.nofile_soft": "1024", "limits.nofile_hard": "1048576",
		"cgroup.cpu_max": "200000 100000", "net.port_range": "32768-60999", "net.tcp_rmem": "4096 131072 6291456",
		"nic.ens1f0.driver": "mlx5_core", "nic.ens1f0.mtu": "9000", "nic.ens1f0.speed_mbit_per_s": "100000",
		"nic.ens1f0.state": "up", "nic.ens1f0.numa_node": "1", "nic.ens1f0.queues": "2 receive, 1 send",
		"nic.lo.mtu": "65536", "os.release": "Debian GNU/Linux 12 (bookworm)",
	}
	equal(t, collect(host(t, "metal.host"), nil), want)
}

func TestCollectARM(t *testing.T) {
	want := map[string]string{
		"cpu.model": "ARM implementer 0x41 part 0xd0c", "cpu.count": "1", "cpu.online": "0", "cpu.cores": "1",
		"hypervisor": "xen", "nic.eth0.driver": "ena",
	}
	equal(t, collect(host(t, "arm.host"), nil), want)
}

func TestCollectNothing(t *testing.T) {
	equal(t, collect(t.TempDir(), nil), map[string]string{})
}

func TestCollectHere(t *testing.T) {
	got := collect("/", nil).Values
	for _, key := range []string{"cpu.count", "kernel.release", "memory.total_bytes", "limits.nofile_soft", "nic.lo.mtu", "net.port_range"} {
		if got[key] == "" {
			t.Errorf("no %s among %v", key, got)
		}
	}
}

func equal(t *testing.T, got record.Host, want map[string]string) {
	t.Helper()
	for _, line := range record.DiffHosts(got, record.Host{Values: want}) {
		t.Errorf("got, then wanted: %s", line)
	}
	for _, key := range []string{"cpu.mhz", "load.average", "steal.share"} { // of a moment, which are not compared
		if got.Values[key] != want[key] {
			t.Errorf("%s = %q, want %q", key, got.Values[key], want[key])
		}
	}
}
