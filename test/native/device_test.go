package native_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
)

// standIn builds a driver that stands in for CUDA's and returns its file.
func standIn(t *testing.T) (library string) {
	t.Helper()
	if hasGPU() {
		t.Skip("this host has a GPU, with a driver of its own")
	}
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("g++ is not installed: `make packages-build` installs it")
	}
	library = filepath.Join(t.TempDir(), "libcuda.so.1")
	build := exec.CommandContext(t.Context(), compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, "testdata/driver.cc")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the stand-in: %v: %s", err, said)
	}
	return library
}

// found lets workers find the stand-in, and returns the directory in which each process
// counts what was copied.
func found(t *testing.T, library string) (counts string) {
	t.Helper()
	counts = t.TempDir()
	t.Setenv("LD_LIBRARY_PATH", filepath.Dir(library))
	t.Setenv("STANDIN_COUNTS", counts)
	return counts
}

// copied is what the stand-in's processes have counted together (Counts of driver.cc).
type copied struct{ ToDevice, ToDeviceBytes, ToHost, ToHostBytes, Unpinned uint64 }

func readCopied(t *testing.T, dir string) (sum copied, processes int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		var one copied
		if err := binary.Read(content, binary.NativeEndian, &one); err != nil {
			t.Fatal(err)
		}
		_ = content.Close() // it was read
		sum.ToDevice += one.ToDevice
		sum.ToDeviceBytes += one.ToDeviceBytes
		sum.ToHost += one.ToHost
		sum.ToHostBytes += one.ToHostBytes
		sum.Unpinned += one.Unpinned
	}
	return sum, len(files)
}

const staged = 10 // exchanges of a trial

// memoryTrial streams both ways, with messages longer than what any library sends at
// once, and compares what both ends count; the workers compare the first exchanges' bytes.
func memoryTrial(t *testing.T, transport string, options map[string]any) {
	t.Helper()
	trial{
		server: transport, client: transport,
		exchange: streamed(contract.StreamBoth, 300_000, 200_000, 64<<10),
		load:     contract.Load{Connections: 2, InFlight: 3, Amount: staged},
		options:  options,
	}.run(t)
}

// Messages that are staged come from a device and end in one, by every library: nothing
// of it can be touched but by the driver's copies, and each of them is waited for.
func TestStagedMessages(t *testing.T) {
	type point struct {
		transport string
		options   map[string]any
	}
	var points []point
	for _, operation := range []string{"tag", "stream", "put", "get"} {
		points = append(points, point{"ucx", map[string]any{"operation": operation, "tls": "tcp", "wait": "event"}})
	}
	library := standIn(t)
	points = append(points, point{"mpi", map[string]any{"fabric": "tcp"}}, point{"mpich", map[string]any{"fabric": "tcp"}})
	for _, p := range points {
		operation, _ := p.options["operation"].(string)
		t.Run(p.transport+" "+operation, func(t *testing.T) {
			program(t, p.transport)
			counts := found(t, library)
			p.options["memory"] = "cuda-staged"
			memoryTrial(t, p.transport, p.options)
			sum, processes := readCopied(t, counts)
			const bytes = staged * (300_000 + 200_000)
			if processes != 2 || sum.ToHostBytes < bytes || sum.ToDeviceBytes < bytes {
				t.Errorf("%d processes copied %+v, want 2 and at least %d bytes each way", processes, sum, bytes)
			}
			// An end's own copies of its messages, and what a library holds in buffers of its own.
			if operation == "" && sum.Unpinned*5 > sum.ToDevice+sum.ToHost {
				t.Errorf("%d of %d copies had memory that is not pinned", sum.Unpinned, sum.ToDevice+sum.ToHost)
			}
		})
	}
}

// A library that says it reaches the device is given its memory, and nothing is copied
// but what is compared.
func TestMessagesOfADevice(t *testing.T) {
	program(t, "mpi")
	library := standIn(t)
	counts := found(t, library)
	t.Setenv("STANDIN_REACHABLE", "1")
	t.Setenv("LD_PRELOAD", library)
	memoryTrial(t, "mpi", map[string]any{"fabric": "tcp", "memory": "cuda"})
	if sum, processes := readCopied(t, counts); processes != 2 || sum.ToDeviceBytes == 0 || sum.ToHostBytes >= staged*(300_000+200_000) {
		t.Errorf("%d processes copied %+v: what is sent goes to the device once, and nothing but what is compared comes back", processes, sum)
	}
}

// Without a driver the cells of both arms are empty, and their reasons name what was
// looked for; so are the cells of a library that does not reach a device that is there.
func TestNoDevice(t *testing.T) {
	if hasGPU() {
		t.Skip("this host has a GPU")
	}
	for _, transport := range []string{"ucx", "mpi", "mpich", "verbs"} {
		for _, memory := range []string{"cuda", "cuda-staged"} {
			t.Run(transport+" "+memory, func(t *testing.T) {
				server := start(t, transport)
				server.send(contract.Message{Setup: &contract.Setup{
					Transport: transport, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(100, 100), Options: map[string]any{"memory": memory},
				}})
				if text := server.fatal(contract.Unsupported); !strings.Contains(text, "no CUDA driver: libcuda.so.1 not found") {
					t.Errorf("the server says %q", text)
				}
			})
		}
	}
	t.Run("a library without CUDA", func(t *testing.T) {
		program(t, "ucx")
		found(t, standIn(t))
		server := start(t, "ucx")
		server.send(contract.Message{Setup: &contract.Setup{
			Transport: "ucx", Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(100, 100), Options: map[string]any{"memory": "cuda"},
		}})
		if text := server.fatal(contract.Unsupported); !strings.Contains(text, "has no transports for CUDA") {
			t.Errorf("the server says %q", text)
		}
	})
}
