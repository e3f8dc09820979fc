package floor_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"netdyno/internal/hist"
	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/floor"
	"netdyno/internal/run/rig"
)

// TestMain lets this test binary act as netdyno-host, as far as a measurement starts it.
func TestMain(m *testing.M) {
	if len(os.Args) > 4 && os.Args[1] == "floor" {
		if err := end(os.Args[2:]); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func end(args []string) error {
	var cpus []int
	if len(args) > 4 {
		cpus, _ = cpuset.Parse(args[4])
	}
	if args[0] == "serve" {
		return floor.Serve(args[1], args[2], cpus, os.Stdout)
	}
	steps, err := floor.Ask(args[1], args[2], cpus)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(steps)
}

func self(t *testing.T) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func seat(cpus ...int) rig.Seat {
	return rig.Seat{Host: rig.Host{Name: "local", Address: "127.0.0.1"}, CPUs: cpus}
}

// Of a server that computes longer every exchange takes at least as long, and more.
func TestMeasure(t *testing.T) {
	for _, path := range []floor.Path{{Server: seat(0), Client: seat(0)}, {Server: seat(), Client: seat()}} {
		f, err := floor.Measure(t.Context(), self(t), path)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Steps) < 4 || f.Steps[0].WorkNs != 0 {
			t.Fatalf("steps %+v, expected several from no work on", f.Steps)
		}
		for _, step := range f.Steps {
			h, err := hist.Decode(step.Times)
			if err != nil {
				t.Fatal(err)
			}
			least := h.Percentiles([]float64{0.05})
			if len(least) == 0 || least[0] < step.WorkNs {
				t.Errorf("%d exchanges with %d ns of work: 5 %% took up to %v ns, expected at least the work", h.Count(), step.WorkNs, least)
			}
		}
	}
}

func TestMeasureSaysWhyItCannot(t *testing.T) {
	nowhere := seat()
	nowhere.Address = "192.0.2.1" // of nobody (RFC 5737)
	if _, err := floor.Measure(t.Context(), self(t), floor.Path{Server: nowhere, Client: seat()}); err == nil || !strings.Contains(err.Error(), "listen") {
		t.Errorf("a server that cannot listen: %v", err)
	}
	if _, err := floor.Measure(t.Context(), self(t), floor.Path{Server: seat(), Client: seat(8191)}); err == nil || !strings.Contains(err.Error(), "take CPUs") {
		t.Errorf("a client without its CPU: %v", err)
	}
}

// serving starts a server in this process, and returns where it listens and how it ends.
func serving(t *testing.T, client string) (address string, ended chan error) {
	t.Helper()
	// A server's thread waits in a system call of which Go does not know: a collection of
	// garbage would wait for it, and all of this process with that.
	percent := debug.SetGCPercent(-1)
	runtime.GC() // and ends one that has begun
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	in, out := io.Pipe()
	ended = make(chan error, 1)
	go func() { ended <- floor.Serve("127.0.0.1", client, nil, out) }()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), ended
}

func TestServeTakesNoStranger(t *testing.T) {
	address, ended := serving(t, "127.0.0.1")
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	stranger, err := d.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if n, err := stranger.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a stranger was served")
	}
	if _, err := floor.Ask(address, "127.0.0.1", nil); err != nil {
		t.Errorf("the client after a stranger: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server: %v", err)
	}
}

func TestServeComputesNotForEver(t *testing.T) {
	address, ended := serving(t, "127.0.0.1")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(bytes.Repeat([]byte{0xff}, 4)); err != nil { // four seconds
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("the server: %v", err)
	}
}

// A floor is kept for a path since the host's boot, and not for longer than an hour.
func TestKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := floor.Path{Server: seat(0), Client: seat(0)}
	kept := func(boot string) record.Floor {
		t.Helper()
		f, err := floor.Kept(t.Context(), self(t), boot, path)
		if err != nil || len(f.Steps) == 0 || f.MeasuredAt.IsZero() {
			t.Fatalf("%+v, %v", f, err)
		}
		return f
	}
	same := func(a, b record.Floor) bool { return reflect.DeepEqual(a.Steps, b.Steps) }
	first := kept("boot")
	if !same(first, kept("boot")) {
		t.Error("it is measured again")
	}
	if same(first, kept("another")) {
		t.Error("it is kept beyond a boot")
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "netdyno/floors/*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if same(first, kept("boot")) {
		t.Error("an old one is taken")
	}
}
