package remote

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/rig"
)

// bare is a host whose root holds nothing but a static busybox under the names of its
// applets, without those left out, and the directories.
func bare(t *testing.T, without []string, directories ...string) rig.Host {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("needs root, and a static busybox (package busybox-static)")
	}
	root := t.TempDir()
	for _, d := range append(directories, "bin", "dev") {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	names, err := exec.Command(busybox, "--list").Output()
	err = errors.Join(err, os.WriteFile(filepath.Join(root, "bin/busybox"), text, 0o755),
		unix.Mknod(filepath.Join(root, "dev/null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(names)) {
		if name == "busybox" || slices.Contains(without, name) {
			continue
		}
		if err := os.Symlink("busybox", filepath.Join(root, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	chroot, err := exec.LookPath("chroot")
	if err != nil {
		t.Fatal(err)
	}
	return rig.Host{Name: "bare", Prefix: []string{"/usr/bin/env", "-i", "PATH=/bin", chroot, root}}
}

// An image of busybox alone is brought programs wherever it
// has room for them, and is left as it was.
func TestAnImageOfBusyboxAlone(t *testing.T) {
	for name, directories := range map[string][]string{"/tmp": {"tmp"}, "a full root": nil} {
		t.Run(name, func(t *testing.T) {
			h := bare(t, nil, directories...)
			root := h.Prefix[len(h.Prefix)-1]
			before := contents(t, root)
			file := program(t, "#!/bin/sh\necho here: \"$1\"\n")
			r := New("test", []rig.Host{h}, false)
			if err := r.Deploy(t.Context(), []string{file}); err != nil {
				t.Fatal(err)
			}
			if got, err := r.Hosts()[0].Ask(t.Context(), nil, file, "words; 'quoted'"); err != nil || string(got) != "here: words; 'quoted'\n" {
				t.Errorf("the program says %q, %v", got, err)
			}
			if err := errors.Join(r.Recover(t.Context()), r.Close()); err != nil {
				t.Error(err)
			}
			if after := contents(t, root); !slices.Equal(after, before) {
				t.Errorf("the root has %v, before %v", after, before)
			}
		})
	}
}

// An image that has no shell is refused with what to do.
func TestAnImageWithoutAShell(t *testing.T) {
	r := New("test", []rig.Host{bare(t, []string{"sh"}, "tmp")}, false)
	const says = "an image without sh (distroless) cannot be brought programs: add busybox"
	if err := r.Deploy(t.Context(), []string{program(t, "")}); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v, want in it %q", err, says)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A directory for temporary files from which nothing may run is not taken.
func TestADirectoryWhereNothingRuns(t *testing.T) {
	h := bare(t, nil, "tmp", "run")
	root := h.Prefix[len(h.Prefix)-1]
	tmp := filepath.Join(root, "tmp")
	if err := unix.Mount("tmpfs", tmp, "tmpfs", unix.MS_NOEXEC, "size=64k"); err != nil {
		t.Skip("mount: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(tmp, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	file := program(t, "#!/bin/sh\necho runs\n")
	r := New("test", []rig.Host{h}, false)
	if err := r.Deploy(t.Context(), []string{file}); err != nil {
		t.Fatal(err)
	}
	if there := r.Hosts()[0].Files[file]; !strings.HasPrefix(there, "/run/") {
		t.Errorf("the program lies in %s, want in /run", there)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// An interface's address is read from what busybox's ip prints too.
func TestTheAddressOfAnInterfaceByBusybox(t *testing.T) {
	h := bare(t, nil)
	if err := h.ResolveAddress(t.Context(), "lo"); err != nil || h.Address != "127.0.0.1" {
		t.Errorf("address %q, %v", h.Address, err)
	}
}
