package qemu

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/run/rig"
)

// kernelPackage is a Debian package of a kernel.
type kernelPackage struct{ name, version string }

// metaPackage names the newest kernel of this release. That of virtual machines in
// clouds has neither Soft-RoCE nor 9p.
const metaPackage = "linux-image-amd64"

// newestKernel asks apt which package is this release's kernel.
func newestKernel(ctx context.Context) (kernelPackage, error) {
	said, err := rig.Host{Name: "this host"}.Ask(ctx, nil, "apt-cache", "show", "--no-all-versions", metaPackage)
	if err != nil {
		return kernelPackage{}, err
	}
	return parseKernel(string(said))
}

// parseKernel reads the line "Depends: linux-image-6.1.0-56-amd64 (= 6.1.192-2)".
func parseKernel(control string) (kernelPackage, error) {
	for line := range strings.Lines(control) {
		list, found := strings.CutPrefix(line, "Depends:")
		if !found {
			continue
		}
		for item := range strings.SplitSeq(list, ",") {
			fields := strings.Fields(item)
			if len(fields) == 3 && strings.HasPrefix(fields[0], "linux-image-") && fields[1] == "(=" {
				return kernelPackage{fields[0], strings.TrimSuffix(fields[2], ")")}, nil
			}
		}
	}
	return kernelPackage{}, fmt.Errorf("apt's package %s names no kernel: apt-get update, then again", metaPackage)
}

// download brings the package's file into a directory and returns its path.
func (k kernelPackage) download(ctx context.Context, directory string) (string, error) {
	c := exec.CommandContext(ctx, "apt-get", "download", "-q", k.name+"="+k.version)
	c.Dir = directory
	var said rig.Tail
	c.Stdout, c.Stderr = &said, &said
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("download %s: %w; apt-get said: %s", k.name, err, strings.TrimSpace(said.String()))
	}
	files, err := filepath.Glob(filepath.Join(directory, k.name+"_*.deb"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("download %s: apt-get left %d files of that name, expected one", k.name, len(files))
	}
	return files[0], nil
}

// kernel is what a guest needs of the package.
type kernel struct {
	compressed []byte            // vmlinuz
	modules    map[string]module // by name
	builtIn    map[string]bool   // modules that are part of it
}

// parts are the directories of modules that a guest may need some of.
var parts = []string{
	"arch/x86/", "crypto/", "lib/", "net/", "fs/9p/", "fs/netfs/", "fs/fscache/", "fs/overlayfs/", "fs/configfs/",
	"drivers/infiniband/core/", "drivers/infiniband/sw/", "drivers/virtio/", "drivers/net/",
}

// maxKernelFile bounds one file of the package, in bytes.
const maxKernelFile = 64 << 20

// unpack reads the package's files without installing it.
func unpack(ctx context.Context, deb string) (kernel, error) {
	k := kernel{modules: map[string]module{}, builtIn: map[string]bool{}}
	c := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	var said rig.Tail
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		return k, err
	}
	if err := c.Start(); err != nil {
		return k, err
	}
	err = k.readFiles(tar.NewReader(out))
	_, _ = io.Copy(io.Discard, out) // so that it can end
	if ended := c.Wait(); ended != nil && err == nil {
		err = fmt.Errorf("dpkg-deb: %w; it said: %s", ended, strings.TrimSpace(said.String()))
	}
	if err == nil && k.compressed == nil {
		err = errors.New("it has no file boot/vmlinuz-*")
	}
	if err != nil {
		return k, fmt.Errorf("unpack %s: %w", filepath.Base(deb), err)
	}
	return k, nil
}

func (k *kernel) readFiles(files *tar.Reader) error {
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Clean(head.Name)
		_, part, isModule := strings.Cut(name, "/kernel/")
		isModule = isModule && path.Ext(name) == ".ko" && slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(part, p) })
		isKernel := strings.HasPrefix(name, "boot/vmlinuz-")
		isList := path.Base(name) == "modules.builtin"
		if head.Typeflag != tar.TypeReg || !isModule && !isKernel && !isList {
			continue
		}
		if head.Size > maxKernelFile {
			return fmt.Errorf("%s has %d bytes, expected at most %d", name, head.Size, maxKernelFile)
		}
		body, err := io.ReadAll(io.LimitReader(files, maxKernelFile))
		if err != nil {
			return err
		}
		switch {
		case isKernel:
			k.compressed = body
		case isList:
			for line := range strings.Lines(string(body)) {
				k.builtIn[moduleName(strings.TrimSpace(line))] = true
			}
		default:
			m, err := readModule(name, body)
			if err != nil {
				return err
			}
			k.modules[moduleName(name)] = m
		}
	}
}

// payload finds the compressed kernel proper in a bzImage: it ends in four bytes that
// tell how long it is uncompressed. Source: Linux kernel,
// Documentation/arch/x86/boot.rst, fields setup_sects, payload_offset and payload_length.
func payload(image []byte) ([]byte, error) {
	const sectors, magic, offset, length, sector = 0x1f1, 0x202, 0x248, 0x24c, 512
	if len(image) < length+4 || string(image[magic:magic+4]) != "HdrS" {
		return nil, errors.New("the kernel's image has no header of the boot protocol")
	}
	from := (int64(image[sectors])+1)*sector + int64(binary.LittleEndian.Uint32(image[offset:]))
	size := int64(binary.LittleEndian.Uint32(image[length:]))
	if size < 4 || from+size > int64(len(image)) {
		return nil, fmt.Errorf("the kernel's image says that its kernel lies at %d to %d of %d bytes", from, from+size, len(image))
	}
	part := image[from : from+size-4]
	if !bytes.HasPrefix(part, []byte("\xfd7zXZ\x00")) {
		return nil, fmt.Errorf("the kernel's image begins with %x, expected one compressed by xz", part[:min(6, len(part))])
	}
	return part, nil
}
