package qemu

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Three guests fail to boot: one ends, one says what it lacks, one says nothing. Each
// error holds the end of the console, and no process is left.
func TestGuestThatDoesNotBoot(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"it ends":      {"echo 'Kernel panic: no init'; exit 1", "QEMU ended (exit status 1); the end of its console: Kernel panic: no init"},
		"it says so":   {"echo 'netdyno: failed: load module rdma_rxe.ko'; exec sleep 60", "boot guest1: load module rdma_rxe.ko"},
		"it is silent": {"exec sleep 60", "enough; the end of its console: (it said nothing)"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			if err := os.WriteFile(filepath.Join(bin, "qemu-system-x86_64"), []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			ctx, cancel := context.WithCancelCause(t.Context())
			if strings.HasPrefix(c.want, "enough") {
				go func() {
					time.Sleep(100 * time.Millisecond) // of silence, in the place of the bound
					cancel(enoughError{})
				}()
			}
			g := newGuest(Options{Guests: 1, MemoryBytes: 1 << 30, CPUs: 1}, 0, image{}, t.TempDir())
			err := g.boot(ctx)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if !g.gone() {
				t.Error("its process stays")
			}
			cancel(nil)
		})
	}
}

type enoughError struct{}

func (enoughError) Error() string { return "enough" }

// One guest has both ends on an interface of its own; two have a cable.
func TestArgumentsOfGuests(t *testing.T) {
	at := image{"/cache/vmlinux", "/cache/files.cpio"}
	one := strings.Join(newGuest(Options{Guests: 1, MemoryBytes: 512 << 20, CPUs: 3}, 0, at, "/tmp/a,b").arguments(), " ")
	for _, part := range []string{"-accel tcg,thread=multi -smp 3 -m 512M", "netdyno.data=dummy0", "path=/tmp/a,,b,mount_tag=rig,security_model=none,readonly=on", "restrict=on"} {
		if !strings.Contains(one, part) {
			t.Errorf("the arguments lack %q: %s", part, one)
		}
	}
	if strings.Contains(one, "dgram") {
		t.Errorf("a guest alone has a cable: %s", one)
	}
	second := strings.Join(newGuest(Options{Guests: 2, MemoryBytes: 512 << 20, CPUs: 2}, 1, at, "/tmp/d").arguments(), " ")
	for _, part := range []string{"netdyno.host=guest2 netdyno.address=10.77.0.2 netdyno.data=eth1", "local.path=/tmp/d/cable1,remote.type=unix,remote.path=/tmp/d/cable0", "host_mtu=9000"} {
		if !strings.Contains(second, part) {
			t.Errorf("the arguments lack %q: %s", part, second)
		}
	}
}
