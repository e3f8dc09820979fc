package serving

import (
	"net"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/run/meter/usage"
)

// Clients returns the process under which a trial's clients run, seen from the meter
// of its server: the nearest ancestor that runs the same program as the meter does,
// which is the bench, else the parent.
func Clients() int {
	const deepest = 100 // processes may change while they are followed
	own, err := os.Readlink("/proc/self/exe")
	pid := os.Getppid()
	for range deepest {
		path, unseen := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		if err == nil && unseen == nil && path == own {
			return pid
		}
		if pid = usage.Parent(pid); pid <= 1 {
			break
		}
	}
	return os.Getppid()
}

// descendants returns a process and all that descend from it.
func descendants(pid int) []int {
	var tree usage.Tree
	return tree.Processes([]int{pid})
}

// OfThisHost tells whether an address is of this network namespace.
func OfThisHost(ip netip.Addr) bool {
	if ip.IsLoopback() {
		return true
	}
	own, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(own, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr() == ip.Unmap().WithZone("")
	})
}

// Executable returns the path of a process's executable, or the process's own name where
// the kernel does not show the path.
func Executable(pid int) string {
	if path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err == nil {
		return strings.TrimSuffix(filepath.Base(path), " (deleted)")
	}
	if text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err == nil {
		return strings.TrimSpace(string(text))
	}
	return "process " + strconv.Itoa(pid)
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}
