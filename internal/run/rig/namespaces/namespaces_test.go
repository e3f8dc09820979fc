package namespaces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
)

// built returns a rig of n namespaces; without the privilege the test is skipped.
func built(t *testing.T, o Options) *Rig {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	r, err := Build(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func ask(t *testing.T, h rig.Host, argv ...string) string {
	t.Helper()
	out, err := h.Ask(t.Context(), nil, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestPlacesReachEachOther(t *testing.T) {
	r := built(t, Options{Hosts: 3, MTU: 9000})
	hosts := r.Hosts()
	if len(hosts) != 3 || r.Name() != "netns:3?mtu=9000" {
		t.Fatalf("%s has hosts %v", r.Name(), hosts)
	}
	for i, from := range hosts {
		if got := ask(t, from, "cat", "/sys/class/net/lo/mtu"); got == "" {
			t.Error("no loopback")
		}
		for j, to := range hosts {
			if i == j {
				continue
			}
			for _, address := range []string{to.Address, to.Sources[253]} {
				received := exchange(t, from, to, address)
				if received != "hello\n" {
					t.Errorf("%s to %s at %s: %q came", from.Name, to.Name, address, received)
				}
			}
		}
	}
	if out := ask(t, hosts[0], "ip", "-brief", "link", "show", inside); !strings.Contains(out, "UP") {
		t.Errorf("the cable: %s", out)
	}
	if out := ask(t, hosts[0], "cat", "/proc/self/net/dev"); strings.Count(out, ":") != 2 {
		t.Errorf("a host has interfaces beside lo and %s:\n%s", inside, out)
	}
}

// exchange sends a line between two namespaces and returns what came.
func exchange(t *testing.T, from, to rig.Host, address string) string {
	t.Helper()
	listener := listen(t, to, address)
	defer listener.Close()
	line := from.Command("bash", "-c", fmt.Sprintf("echo hello >/dev/tcp/%s", strings.ReplaceAll(listener.Addr().String(), ":", "/")))
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("connect: %v: %s", err, out)
	}
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text, _ := io.ReadAll(c)
	return string(text)
}

func listen(t *testing.T, h rig.Host, address string) net.Listener {
	t.Helper()
	var listener net.Listener
	inNamespace(t, h, func() (err error) {
		listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp4", address+":0")
		return err
	})
	return listener
}

func TestShapeIsWhatTheLinkIs(t *testing.T) {
	r := built(t, Options{Hosts: 2})
	place := r.Hosts()[0]
	qdisc := func() string { return ask(t, place, "tc", "qdisc", "show", "dev", inside) }
	for _, step := range []struct {
		link record.Link
		want string
	}{
		{record.Link{}, "noqueue"},
		{record.Link{RateBitsPerS: 1e9}, "rate 1Gbit"},
		{record.Link{RateBitsPerS: 1e10}, "rate 10Gbit"},
		{record.Link{RateBitsPerS: 1e8, Delay: time.Millisecond}, "rate 100Mbit"},
		{record.Link{Delay: time.Millisecond}, ""},
		{record.Link{}, "noqueue"},
	} {
		err := r.Shape(t.Context(), step.link)
		if errors.Is(err, ErrNoNetem) && step.link.Delay > 0 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := qdisc(); !strings.Contains(got, step.want) {
			t.Errorf("%+v: %s, want %s", step.link, got, step.want)
		}
	}
}

func TestDelayIsThere(t *testing.T) {
	r := built(t, Options{Hosts: 2})
	const delay = 3 * time.Millisecond
	err := r.Shape(t.Context(), record.Link{Delay: delay})
	if errors.Is(err, ErrNoNetem) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	hosts := r.Hosts()
	listener := listen(t, hosts[0], hosts[0].Address)
	defer listener.Close()
	var took time.Duration
	inNamespace(t, hosts[1], func() error {
		begun := time.Now()
		c, err := net.Dial("tcp4", listener.Addr().String())
		took = time.Since(begun)
		if err == nil {
			c.Close()
		}
		return err
	})
	if took < 2*delay {
		t.Errorf("connecting took %v, less than two delays of %v", took, delay)
	}
}

func TestNothingIsLeft(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	before := namespacesHeld(t)
	r := built(t, Options{Hosts: 4})
	if err := r.Shape(t.Context(), record.Link{RateBitsPerS: 1e9}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // closing twice is fine
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := namespacesHeld(t); after != before {
		t.Errorf("%d namespaces are held, before it were %d", after, before)
	}
	if len(r.Hosts()) != 0 {
		t.Error("a closed rig has hosts")
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, hosts := range []int{-1, 0, 1, MaxHosts + 1} {
		if _, err := Build(Options{Hosts: hosts}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("expected from 2 to %d", MaxHosts)) {
			t.Errorf("%d hosts: %v", hosts, err)
		}
	}
}

// namespacesHeld counts descriptors of this process that are network namespaces.
func namespacesHeld(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, e := range entries {
		if target, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.HasPrefix(target, "net:") {
			held++
		}
	}
	return held
}

// The first and the last host of a large rig reach each other, and every address is of
// one host. make soak has the largest.
func TestALargeRig(t *testing.T) {
	n := 257 // more than the second half of an address counts
	if os.Getenv("NETDYNO_SOAK") != "" {
		n = MaxHosts
	}
	r := built(t, Options{Hosts: n})
	hosts := r.Hosts()
	first, last := hosts[0], hosts[n-1]
	if got := exchange(t, first, last, last.Sources[253]); got != "hello\n" {
		t.Errorf("from the first to the last: %q came", got)
	}
	owner := map[string]string{}
	for _, h := range hosts {
		for _, a := range h.Sources {
			if other := owner[a]; other != "" {
				t.Fatalf("%s is an address of %s and of %s", a, other, h.Name)
			}
			owner[a] = h.Name
		}
	}
}
