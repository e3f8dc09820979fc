package namespaces

import (
	"runtime"
	"strings"
	"testing"

	"github.com/vishvananda/netns"

	"netdyno/internal/run/rig"
)

// inNamespace calls do on a thread of the host's namespace, which is thrown
// away afterwards.
func inNamespace(t *testing.T, h rig.Host, do func() error) {
	t.Helper()
	path, found := strings.CutPrefix(h.Prefix[1], "--net=")
	if !found {
		t.Fatalf("the prefix %q enters no namespace", h.Prefix)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		ns, err := netns.GetFromPath(path)
		if err == nil {
			err = netns.Set(ns)
			ns.Close()
		}
		if err == nil {
			err = do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
