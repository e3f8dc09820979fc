package rig

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"netdyno/internal/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// machines are the fixtures, by name.
func machines(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.host")
	if err != nil || len(files) < 5 {
		t.Fatalf("fixtures %q, error %v; want five at least", files, err)
	}
	return files
}

// The golden files are facts as netdyno-host facts prints them; the doctor's tests
// read them as recorded facts of other machines.
func TestCollectOfFixtures(t *testing.T) {
	for _, file := range machines(t) {
		got := collect(host(t, filepath.Base(file)), nil)
		golden := strings.TrimSuffix(file, ".host") + ".json"
		if *update {
			text, err := json.MarshalIndent(got.Values, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, append(text, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]string
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if got.Values[key] != want[key] {
				t.Errorf("%s: %s = %q, want %q", file, key, got.Values[key], want[key])
			}
		}
		for key, value := range got.Values {
			if _, known := want[key]; !known {
				t.Errorf("%s: %s = %q, want no such fact", file, key, value)
			}
		}
	}
}

// pretended is a kernel that tells what the test wants.
type pretended struct {
	sampling map[bool]error // why it may not be, with the kernel or without
	list     map[string]link
	told     map[string]string
}

func (p pretended) samples(kernel bool) error          { return p.sampling[kernel] }
func (p pretended) links() (map[string]link, error)    { return p.list, nil }
func (p pretended) card(name string) map[string]string { return p.ofHardware(name) }

func (p pretended) ofHardware(name string) map[string]string {
	if name == "lo" {
		return nil
	}
	return p.told
}

var printed = map[string]string{
	"driver": "mlx5_core", "driver_version": "4.3-1.0.1", "firmware": "12.22.1002 (MT_2180110032)", "bus": "0000:81:00.0",
	"rx_checksum": "on", "tx_checksum": "on", "scatter_gather": "on", "tso": "on", "gso": "on", "gro": "on", "lro": "off",
	"channels": "8 of 24",
}

// What ethtool prints stands beside what /sys shows of the same interface.
func TestKernelCompletesFiles(t *testing.T) {
	root := host(t, "fast.host")
	write(t, root, "sys/class/net/ens1f0/ifindex", "4")
	write(t, root, "sys/class/net/ens1f0/address", "02:00:00:00:00:04")
	k := pretended{told: printed, list: map[string]link{
		"lo":     {index: 1, mtu: 65536, address: "00:00:00:00:00:00", state: "unknown"},
		"ens1f0": {index: 4, mtu: 1500, address: "02:00:00:00:00:04", state: "up"},
		"docker": {index: 5, mtu: 1500, address: "02:00:00:00:00:05", state: "up"},
	}}
	got := collect(root, k).Values
	for part, want := range printed {
		if got["nic.ens1f0."+part] != want {
			t.Errorf("nic.ens1f0.%s = %q, want %q", part, got["nic.ens1f0."+part], want)
		}
	}
	if got["nic.ens1f0.numa_node"] != "1" || got["nic.docker.mtu"] != "" {
		t.Errorf("facts %v: want the card's NUMA node, nothing of a bridge", got)
	}
}

// /sys of another namespace may show an interface of the same name: what it
// says is not believed, and the interface we have is told of.
func TestOtherNamespaceIsNotBelieved(t *testing.T) {
	root := host(t, "fast.host")
	write(t, root, "sys/class/net/ens1f0/ifindex", "4")
	write(t, root, "sys/class/net/ens1f0/address", "02:00:00:00:00:04")
	k := pretended{told: map[string]string{"driver": "veth"}, list: map[string]link{
		"ens1f0": {index: 9, mtu: 1400, address: "02:00:00:00:00:09", state: "up"},
	}}
	got := collect(root, k).Values
	if got["nic.ens1f0.driver"] != "veth" || got["nic.ens1f0.mtu"] != "1400" || got["nic.ens1f0.numa_node"] != "" || got["nic.ens1f0.speed_mbit_per_s"] != "" {
		t.Errorf("facts %v: want those of the veth alone", got)
	}
}

func write(t *testing.T, root, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, path), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// beside are the facts that others than Collect and Here add.
var beside = []string{
	"perf.refused", // where perf is forbidden
	record.ClockFact, record.OffsetFact, record.AddressFact, record.LeafFact, "load.busy_share", "load.steal_share",
	"idle.lost_share", "idle.longest_us", "timer.overshoot_p50_us", "timer.overshoot_p99_us",
	"k8s.node", "k8s.pod_qos", "k8s.image", "k8s.image_id",
}

var documented = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// docs/facts.md lists every fact, and none that nobody tells.
func TestEveryFactIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/facts.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, file := range machines(t) {
		for key := range collect(host(t, filepath.Base(file)), nil).Values {
			told[key] = true
		}
	}
	root := host(t, "fast.host")
	k := pretended{told: printed, sampling: map[bool]error{true: syscall.EPERM, false: syscall.EPERM}, list: map[string]link{"eth7": {index: 7, mtu: 1500, state: "up"}}}
	for _, more := range []record.Host{Here(), collect(root, k)} {
		for key := range more.Values {
			told[key] = true
		}
	}
	for _, key := range beside {
		told[key] = true
	}
	lines := map[string]*regexp.Regexp{}
	for _, match := range documented.FindAllStringSubmatch(string(page), -1) {
		lines[match[1]] = regexp.MustCompile("^" + regexp.MustCompile(`[A-Z]+`).ReplaceAllString(regexp.QuoteMeta(match[1]), `.+`) + "$")
	}
	for _, key := range slices.Sorted(maps.Keys(told)) {
		if !slices.ContainsFunc(slices.Collect(maps.Values(lines)), func(r *regexp.Regexp) bool { return r.MatchString(key) }) {
			t.Errorf("docs/facts.md has no line for %s", key)
		}
	}
	for line, pattern := range lines {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(told)), pattern.MatchString) {
			t.Errorf("docs/facts.md documents %s, which nothing tells", line)
		}
	}
}

// What perf may see is what the kernel answers, and why not is told.
func TestWhatPerfMaySee(t *testing.T) {
	for _, c := range []struct {
		paranoid       string
		kernel, none   error
		sees, refusals string
	}{
		{"2", nil, nil, "programs and kernel", ""},
		{"2", syscall.EACCES, nil, "programs", ""},
		{"-1", syscall.EPERM, syscall.EPERM, "nothing", "operation not permitted"},
		{"", syscall.ENOENT, syscall.ENOENT, "", ""},
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "proc/sys/kernel"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, dir, "proc/sys/kernel/perf_event_paranoid", c.paranoid)
		got := collect(dir, pretended{sampling: map[bool]error{true: c.kernel, false: c.none}}).Values
		if got["perf.sees"] != c.sees || got["perf.refused"] != c.refusals || (got["perf.path"] == "none") != (c.paranoid != "") {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// In a network namespace that was entered without a mount of its own, Here tells what the
// namespace has, and nothing that /sys shows of another one.
func TestHereInANamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a namespace needs root")
	}
	told := make(chan map[string]string)
	go func() {
		defer close(told)
		runtime.LockOSThread() // for good: the thread ends with us, and the namespace with it
		ns, err := netns.New()
		if err != nil {
			t.Errorf("make a namespace: %v", err)
			return
		}
		defer ns.Close()
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0", MTU: 1234}, PeerName: "nd1"}); err != nil {
			t.Errorf("lay a cable: %v", err)
			return
		}
		told <- Here().Values
	}()
	got := <-told
	for key, want := range map[string]string{
		"nic.eth0.driver": "veth", "nic.eth0.mtu": "1234", "nic.nd1.mtu": "1234", "nic.eth0.tso": "on", "nic.eth0.lro": "off",
		"nic.eth0.state": "down", "nic.eth0.interrupts": "", "nic.lo.mtu": "65536", "nic.lo.gso": "on",
	} {
		if got[key] != want {
			t.Errorf("%s = %q, want %q", key, got[key], want)
		}
	}
}

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
