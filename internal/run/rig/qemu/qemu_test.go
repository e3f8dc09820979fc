package qemu

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/run/rig"
)

func TestOptionsOutOfRangeAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"0": "expected from 1 to 2", "3": "3 guests", "x": "not a number of hosts",
		"1?memory=1MiB": "from 256MiB", "1?memory=much": "not a size", "1?cpus=0": "cpus=0", "1?cpus=65": "from 1 to 64", "1?cpus=two": "cpus=two",
	} {
		argument, options, _ := strings.Cut(text, "?")
		c := rig.Choice{Text: "qemu:" + text, Form: Kind.Form, Argument: argument, Options: map[string]string{}}
		if key, value, given := strings.Cut(options, "="); given {
			c.Options[key] = value
		}
		// None of these gets as far as a guest.
		if _, err := build(context.Background(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("qemu:%s: error %v, want one with %q", text, err, want)
		}
	}
}

// What the guest says on its console, in whatever pieces it comes.
func TestConsoleFindsTheVerdict(t *testing.T) {
	for said, want := range map[string]string{
		"[    1.2] loading\r\nnetdyno: ready\r\n":             "ready",
		"netdyno: failed: load module rdma_rxe.ko\r\n":        "load module rdma_rxe.ko",
		"netdyno: failed: a\x1b[31m\r\nnetdyno: ready\r\n":    "a\u00b7[31m",
		strings.Repeat("x", 3*maxLine) + "\nnetdyno: ready\n": "ready",
		"it says netdyno: ready\nnetdyno: ready":              "",
	} {
		for _, piece := range []int{1, 7, len(said)} {
			c := newConsole()
			for rest := []byte(said); len(rest) > 0; {
				n := min(piece, len(rest))
				if wrote, err := c.Write(rest[:n]); wrote != n || err != nil {
					t.Fatalf("wrote %d of %d, error %v", wrote, n, err)
				}
				rest = rest[n:]
			}
			got := ""
			select {
			case err := <-c.verdict:
				if got = "ready"; err != nil {
					got = err.Error()
				}
			default:
			}
			if got != want {
				t.Errorf("%.60q by %d: %q, want %q", said, piece, got, want)
			}
		}
	}
}

func TestKernelOfAptsAnswer(t *testing.T) {
	got, err := parseKernel("Package: linux-image-amd64\nVersion: 6.1.192-2\nDepends: linux-image-6.1.0-56-amd64 (= 6.1.192-2)\n")
	if want := (kernelPackage{"linux-image-6.1.0-56-amd64", "6.1.192-2"}); err != nil || got != want {
		t.Errorf("%+v, error %v; want %+v", got, err, want)
	}
	for _, text := range []string{"", "Depends: initramfs-tools", "Depends: linux-image-6.1 (>= 6)"} {
		if got, err := parseKernel(text); err == nil {
			t.Errorf("%q: %+v, want an error", text, got)
		}
	}
}

func TestModulesComeAfterWhatTheyNeed(t *testing.T) {
	modules := map[string]module{}
	for _, name := range wanted {
		modules[name] = module{file: name + ".ko", needs: []string{"core"}}
	}
	modules["core"] = module{file: "core.ko", needs: []string{"inside"}}
	ordered, err := inOrder(modules, map[string]bool{"inside": true})
	if err != nil || len(ordered) != len(wanted)+1 || ordered[0].file != "core.ko" {
		t.Errorf("%d modules, error %v; want %d, core first", len(ordered), err, len(wanted)+1)
	}
	if _, err := inOrder(modules, nil); err == nil || !strings.Contains(err.Error(), "no module inside, which core needs") {
		t.Errorf("error %v, want one that names inside", err)
	}
	delete(modules, "overlay")
	if _, err := inOrder(modules, map[string]bool{"inside": true, "overlay": true}); err != nil {
		t.Errorf("what is built in is asked for: %v", err)
	}
}

func TestPayloadOfAKernel(t *testing.T) {
	packed := []byte("\xfd7zXZ\x00packed")
	image := make([]byte, 1024+len(packed)+4)
	image[0x1f1] = 0
	copy(image[0x202:], "HdrS")
	binary.LittleEndian.PutUint32(image[0x248:], 512)
	binary.LittleEndian.PutUint32(image[0x24c:], uint32(len(packed)+4))
	copy(image[1024:], packed)
	if got, err := payload(image); err != nil || !bytes.Equal(got, packed) {
		t.Errorf("%q, error %v", got, err)
	}
	for name, spoil := range map[string]func([]byte){
		"no header":      func(b []byte) { b[0x202] = 0 },
		"too long":       func(b []byte) { binary.LittleEndian.PutUint32(b[0x24c:], 1<<31) },
		"too short":      func(b []byte) { binary.LittleEndian.PutUint32(b[0x24c:], 3) },
		"another format": func(b []byte) { b[1024] = 0x1f },
	} {
		spoiled := bytes.Clone(image)
		spoil(spoiled)
		if got, err := payload(spoiled); err == nil {
			t.Errorf("%s: %q, want an error", name, got)
		}
	}
	if _, err := payload(image[:100]); err == nil {
		t.Error("an image that is cut short was read")
	}
}

// Every entry begins at a multiple of four bytes, and its size is that of its content.
func TestArchive(t *testing.T) {
	var out bytes.Buffer
	err := writeArchive(&out, []entry{{name: "bin/", mode: 0o755}, {name: "bin/x", mode: 0o644, body: []byte("hello")}, {name: "bin/y", mode: 0o777, target: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rest := out.Bytes(); len(rest) > 0; {
		var mode, size, length int
		if _, err := fmt.Sscanf(string(rest[14:22])+" "+string(rest[54:62])+" "+string(rest[94:102]), "%x %x %x", &mode, &size, &length); err != nil {
			t.Fatal(err)
		}
		body := (110 + length + 3) &^ 3
		got = append(got, fmt.Sprintf("%s %o %s", rest[110:110+length-1], mode, rest[body:body+size]))
		rest = rest[(body+size+3)&^3:]
	}
	want := "bin 40755 |bin/x 100644 hello|bin/y 120777 x|TRAILER!!! 100000 "
	if strings.Join(got, "|") != want {
		t.Errorf("entries %q, want %q", strings.Join(got, "|"), want)
	}
}

// The first process of a guest is called by a name, which says what the process has to
// do.
func TestFirstProcessCallsWhatItHas(t *testing.T) {
	for _, name := range applets {
		if !strings.Contains(string(initScript), name+" ") && name != "sh" {
			t.Errorf("applet %s is not called", name)
		}
	}
}

func TestKeyIsOfEverything(t *testing.T) {
	k := kernelPackage{"linux-image-6", "6.1"}
	keys := map[string]bool{key(k, []byte("a")): true, key(k, []byte("b")): true, key(kernelPackage{"linux-image-6", "6.2"}, []byte("a")): true}
	if len(keys) != 3 {
		t.Errorf("%d keys of 3 images", len(keys))
	}
}

func TestConfigurationOfSSH(t *testing.T) {
	directory := t.TempDir()
	file, err := writeConfig(directory, []*guest{{name: "guest1", port: 40001}, {name: "guest2", port: 40002}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Host guest2\n  HostName 127.0.0.1\n  Port 40002\n", "StrictHostKeyChecking yes", filepath.Join(directory, clientKey)} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the configuration lacks %q:\n%s", part, text)
		}
	}
}
