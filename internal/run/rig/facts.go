package rig

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"netdyno/internal/record"
)

// maxFactFile bounds what is read of one file in bytes. Of a longer one, such
// as cpuinfo on a large machine, the beginning is enough.
const maxFactFile = 64 << 10

// Collect returns the facts of the host whose file system lies under root: "/"
// in production, a copy of another machine's /proc, /sys and /etc in tests.
// Keys are dotted and lower case; what the host does not tell is an absent
// key. It takes some milliseconds and changes nothing.
func Collect(root string) record.Host {
	f := facts{root: root, values: make(map[string]string)}
	for key, path := range plainFacts {
		f.set(key, f.text(path))
	}
	f.cpu()
	f.host()
	f.network()
	return record.Host{Values: f.values}
}

// plainFacts are those that one file holds as they are.
var plainFacts = map[string]string{
	"host.name":       "proc/sys/kernel/hostname",
	"host.boot_id":    "proc/sys/kernel/random/boot_id",
	"kernel.release":  "proc/sys/kernel/osrelease",
	"kernel.version":  "proc/sys/kernel/version",
	"kernel.arch":     "proc/sys/kernel/arch",
	"kernel.cmdline":  "proc/cmdline",
	"clocksource":     "sys/devices/system/clocksource/clocksource0/current_clocksource",
	"cpu.smt":         "sys/devices/system/cpu/smt/control",
	"cpu.isolated":    "sys/devices/system/cpu/isolated",
	"limits.file_max": "proc/sys/fs/file-max",

	"net.somaxconn":           "proc/sys/net/core/somaxconn",
	"net.rmem_max":            "proc/sys/net/core/rmem_max",
	"net.wmem_max":            "proc/sys/net/core/wmem_max",
	"net.default_qdisc":       "proc/sys/net/core/default_qdisc",
	"net.busy_poll":           "proc/sys/net/core/busy_poll",
	"net.congestion_control":  "proc/sys/net/ipv4/tcp_congestion_control",
	"net.tcp_mem":             "proc/sys/net/ipv4/tcp_mem",
	"net.tcp_rmem":            "proc/sys/net/ipv4/tcp_rmem",
	"net.tcp_wmem":            "proc/sys/net/ipv4/tcp_wmem",
	"net.tcp_tw_reuse":        "proc/sys/net/ipv4/tcp_tw_reuse",
	"net.tcp_max_syn_backlog": "proc/sys/net/ipv4/tcp_max_syn_backlog",
	"net.port_range":          "proc/sys/net/ipv4/ip_local_port_range",
}

// facts gathers the values of one host.
type facts struct {
	root   string
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
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// target returns the last element of a link's target; "" when it is no link.
func (f *facts) target(path string) string {
	to, err := os.Readlink(filepath.Join(f.root, path))
	if err != nil {
		return ""
	}
	return filepath.Base(to)
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
