package rig

import (
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

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
