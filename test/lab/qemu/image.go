package qemu

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the guest's first process
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"netdyno/internal/run/rig"
)

// buildTimeout is for 70 MB over a slow line.
const buildTimeout = 5 * time.Minute

// image is what QEMU boots: two files of this host.
type image struct {
	kernel string // uncompressed
	files  string // archive of the first files
}

//go:embed init.sh
var initScript []byte

// applets are the names by which the guest's first process calls busybox.
var applets = []string{"cat", "chmod", "chroot", "cp", "hostname", "insmod", "ip", "mkdir", "mount", "sh", "sleep"}

// findImage returns the image of this release's kernel, from the user's cache or
// built anew: the cache is by what an image is built from, and a directory of it
// is whole or absent.
func findImage(ctx context.Context) (image, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, buildTimeout, fmt.Errorf("not built within %v", buildTimeout))
	defer cancel()
	busybox, err := readBusybox()
	if err != nil {
		return image{}, err
	}
	newest, err := newestKernel(ctx)
	if err != nil {
		return image{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return image{}, err
	}
	directory := filepath.Join(cache, "netdyno", "guest", key(newest, busybox))
	at := image{filepath.Join(directory, "vmlinux"), filepath.Join(directory, "files.cpio")}
	if _, err := os.Stat(directory); err == nil {
		return at, nil
	}
	return at, buildImage(ctx, directory, newest, busybox)
}

// key is of everything that an image is made of.
func key(k kernelPackage, busybox []byte) string {
	sum := sha256.New()
	for _, part := range [][]byte{[]byte(k.name), []byte(k.version), []byte(strings.Join(wanted, " ")), []byte(strings.Join(applets, " ")), initScript, busybox} {
		fmt.Fprintf(sum, "%d\n%s", len(part), part)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:32]
}

// readBusybox reads the one program that the guest has before it has the host's.
func readBusybox() ([]byte, error) {
	file, err := exec.LookPath("busybox")
	if err != nil {
		return nil, err
	}
	body, err := os.ReadFile(file)
	if err == nil && bytes.Contains(body, []byte("/ld-linux-x86-64.so.2\x00")) {
		err = fmt.Errorf("%s needs libraries, which a guest does not have yet: sudo apt-get install busybox-static", file)
	}
	return body, err
}

// buildImage builds an image beside its place and moves it there.
func buildImage(ctx context.Context, directory string, from kernelPackage, busybox []byte) error {
	if err := os.MkdirAll(filepath.Dir(directory), 0o700); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(directory), "building-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // what could not be removed is in a cache, and named so
	deb, err := from.download(ctx, work)
	if err != nil {
		return err
	}
	k, err := unpack(ctx, deb)
	if err != nil {
		return err
	}
	modules, err := inOrder(k.modules, k.builtIn)
	if err != nil {
		return err
	}
	done := filepath.Join(work, "done")
	if err := os.Mkdir(done, 0o700); err != nil {
		return err
	}
	if err := uncompress(ctx, k.compressed, filepath.Join(done, "vmlinux")); err != nil {
		return err
	}
	if err := writeFiles(filepath.Join(done, "files.cpio"), modules, busybox); err != nil {
		return err
	}
	err = os.Rename(done, directory)
	if errors.Is(err, fs.ErrExist) {
		return nil // another run was faster
	}
	return err
}

// uncompress writes the kernel proper: an ELF file that QEMU enters directly.
func uncompress(ctx context.Context, compressed []byte, to string) error {
	part, err := payload(compressed)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "xz", "--decompress", "--stdout")
	var said rig.Tail
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(part), out, &said
	err = c.Run()
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("uncompress the kernel: %w; xz said: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}

// writeFiles writes the guest's first files.
func writeFiles(to string, modules []module, busybox []byte) error {
	entries := []entry{
		{name: "bin/", mode: 0o755}, {name: "dev/", mode: 0o755}, {name: "proc/", mode: 0o755}, {name: "sys/", mode: 0o755}, {name: "modules/", mode: 0o755},
		{name: "init", mode: 0o755, body: initScript},
		{name: "bin/busybox", mode: 0o755, body: busybox},
	}
	for _, name := range applets {
		entries = append(entries, entry{name: "bin/" + name, mode: 0o777, target: "busybox"})
	}
	var order strings.Builder
	for _, m := range modules {
		name := path.Base(m.file)
		fmt.Fprintln(&order, name)
		entries = append(entries, entry{name: "modules/" + name, mode: 0o644, body: m.body})
	}
	entries = append(entries, entry{name: "modules/order", mode: 0o644, body: []byte(order.String())})
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	err = writeArchive(out, entries)
	if closing := out.Close(); err == nil {
		err = closing
	}
	return err
}

// entry is a file of a guest's first file system. A directory has no content and
// ends in a slash; a link has a target.
type entry struct {
	name   string
	mode   uint32 // permissions
	body   []byte
	target string
}

// writeArchive writes entries in the form that a kernel unpacks while it boots:
// cpio's "new ASCII" one. Directories come before what is in them.
// Source: Linux kernel, Documentation/driver-api/early-userspace/buffer-format.rst.
func writeArchive(w io.Writer, entries []entry) error {
	const directory, regular, link = 0o040000, 0o100000, 0o120000
	end := entry{name: "TRAILER!!!"}
	for i, e := range append(entries, end) {
		kind, body := uint32(regular), e.body
		switch {
		case e.target != "":
			kind, body = link, []byte(e.target)
		case e.name[len(e.name)-1] == '/':
			kind, e.name = directory, e.name[:len(e.name)-1]
		}
		// Number of the file, its mode, user, group, links, time, size, four numbers of
		// devices, the length of the name with its end, and no sum.
		head := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
			i+1, kind|e.mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(e.name)+1, 0)
		if err := writePadded(w, []byte(head+e.name+"\x00")); err != nil {
			return err
		}
		if err := writePadded(w, body); err != nil {
			return err
		}
	}
	return nil
}

// writePadded writes b and zeros to the next multiple of four bytes.
func writePadded(w io.Writer, b []byte) error {
	_, err := w.Write(append(b[:len(b):len(b)], make([]byte, -len(b)&3)...))
	return err
}
