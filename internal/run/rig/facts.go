package rig

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/record"
)

// maxFactFile bounds what is read of one file in bytes. Of a longer one, such
// as cpuinfo on a large machine, the beginning is enough.
const maxFactFile = 64 << 10

// Here returns the facts of this host as the calling process sees it, in its
// own network namespace: what the files tell, and what only the kernel's
// sockets do. It needs no privilege, takes some milliseconds and
// changes nothing.
func Here() record.Host { return collect("/", sockets{}) }

// kernel tells what no file does.
type kernel interface {
	// links are the interfaces of the caller's network namespace, by name.
	links() (map[string]link, error)
	// card is what ethtool tells of an interface, by the last part of the key.
	card(name string) map[string]string
	// samples tells why the caller may not sample its own CPU time, with that in the kernel
	// or without.
	samples(kernel bool) error
}

// collect returns the facts of the host whose file system lies under root: "/" for this
// one, a copy of another machine's /proc, /sys and /etc in tests, which have no kernel to
// ask (nil). Keys are dotted and lower case, as docs/facts.md lists them; what the host
// does not tell is an absent key.
func collect(root string, k kernel) record.Host {
	f := facts{root: root, kernel: k, values: make(map[string]string)}
	for key, path := range plainFacts {
		f.set(key, f.text(path))
	}
	f.cpu()
	f.idle()
	f.host()
	f.programs()
	f.perf()
	f.network()
	f.rdma()
	f.gpu()
	return record.Host{Values: f.values}
}

// plainFacts are the facts that are the whole text of one file, by the file's
// path.
var plainFacts = map[string]string{
	"host.name":      "proc/sys/kernel/hostname",
	"host.boot_id":   "proc/sys/kernel/random/boot_id",
	"kernel.release": "proc/sys/kernel/osrelease",
	"kernel.version": "proc/sys/kernel/version",
	"kernel.arch":    "proc/sys/kernel/arch",
	"kernel.cmdline": "proc/cmdline",
	"clocksource":    "sys/devices/system/clocksource/clocksource0/current_clocksource",
	"cpu.smt":        "sys/devices/system/cpu/smt/control",
	"cpu.isolated":   "sys/devices/system/cpu/isolated",
	"cpu.nohz_full":  "sys/devices/system/cpu/nohz_full",

	"kernel.numa_balancing": "proc/sys/kernel/numa_balancing",

	"net.somaxconn":          "proc/sys/net/core/somaxconn",
	"net.rmem_max":           "proc/sys/net/core/rmem_max",
	"net.wmem_max":           "proc/sys/net/core/wmem_max",
	"net.default_qdisc":      "proc/sys/net/core/default_qdisc",
	"net.busy_poll":          "proc/sys/net/core/busy_poll",
	"net.congestion_control": "proc/sys/net/ipv4/tcp_congestion_control",
	"net.tcp_mem":            "proc/sys/net/ipv4/tcp_mem",
	"net.tcp_rmem":           "proc/sys/net/ipv4/tcp_rmem",
	"net.tcp_wmem":           "proc/sys/net/ipv4/tcp_wmem",
	"net.port_range":         "proc/sys/net/ipv4/ip_local_port_range",
	"net.conntrack_max":      "proc/sys/net/netfilter/nf_conntrack_max",
}

// facts gathers the values of one host.
type facts struct {
	root   string
	kernel kernel // nil when only files are asked
	values map[string]string
}

// set keeps a fact, its blanks made single; empty text is no fact.
func (f *facts) set(key, value string) {
	if value = strings.Join(strings.Fields(value), " "); value != "" {
		f.values[key] = value
	}
}

// text returns the beginning of a file; "" when it cannot be read.
func (f *facts) text(path string) string {
	file, err := os.Open(filepath.Join(f.root, path))
	if err != nil {
		return ""
	}
	defer file.Close()
	// Some files of /sys exist but cannot be read: the speed of a link that is
	// down, say.
	text, err := io.ReadAll(io.LimitReader(file, maxFactFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// names returns a directory's entries, sorted; none when it is not there.
func (f *facts) names(directory string) []string {
	entries, err := os.ReadDir(filepath.Join(f.root, directory))
	if err != nil {
		return nil
	}
	return each.Of(entries, func(e os.DirEntry) string { return e.Name() })
}

// target returns the last element of a link's target; "" when it is no link.
func (f *facts) target(path string) string {
	to, err := os.Readlink(filepath.Join(f.root, path))
	if err != nil {
		return ""
	}
	return filepath.Base(to)
}

// device returns the path under the root of the hardware behind a class
// directory: the PCI function, also where a virtio device lies in between. It
// is "" when there is none.
func (f *facts) device(class string) string {
	within := f.resolve(class + "/device")
	if strings.HasPrefix(filepath.Base(within), "virtio") {
		within = filepath.Dir(within)
	}
	return within
}

// resolve follows links and returns the path under the root; "" when it leads nowhere
// or out of the root.
func (f *facts) resolve(link string) string {
	path, err := filepath.EvalSymlinks(filepath.Join(f.root, link))
	if err != nil {
		return ""
	}
	root, err := filepath.EvalSymlinks(f.root)
	if err != nil {
		return ""
	}
	within, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(within, "..") {
		return ""
	}
	return within
}

// value returns what follows a key and a separator on a line of its own; the
// first such line counts.
func value(text, key, separator string) string {
	for line := range strings.Lines(text) {
		if name, rest, found := strings.Cut(line, separator); found && strings.TrimSpace(name) == key {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}
