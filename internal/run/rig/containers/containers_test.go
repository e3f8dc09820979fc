package containers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/rig"
)

// The test binary plays what runs in a container, and a netdyno
// that is killed. Tests run in a network namespace of their own: podman leaves a bridge.
func TestMain(m *testing.M) {
	const apart = "NETDYNO_TEST_APART"
	if len(os.Args) > 1 {
		if play, is := parts[os.Args[1]]; is {
			if err := play(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	if unshare, err := exec.LookPath("unshare"); err == nil && os.Geteuid() == 0 && os.Getenv(apart) == "" {
		c := exec.Command(unshare, append([]string{"--net", "sh", "-c", `ip link set lo up; exec "$0" "$@"`}, os.Args...)...)
		c.Env = append(os.Environ(), apart+"=1")
		c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := c.Run(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var parts = map[string]func() error{
	"look": func() error { // at the bounds of a container
		memory := "none"
		for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
			if text, err := os.ReadFile(file); err == nil {
				memory = strings.TrimSpace(string(text))
			}
		}
		_, err := fmt.Println(cpuset.Format(cpuset.Of(0)), memory)
		return err
	},
	"nothing": func() error { return nil },
	"deaf":    func() error { time.Sleep(time.Hour); return nil }, // never looks at its stdin
	"hold": func() error { // a rig until somebody kills it
		r, err := standing(context.Background(), "bridge")
		if err != nil {
			return err
		}
		fmt.Println(r.run)
		time.Sleep(time.Hour)
		return nil
	},
}

// standing has containers on the networks: on one as its own, on several for trials that
// name them.
func standing(ctx context.Context, networks ...string) (*Rig, error) {
	o := Options{Program: "podman", Hosts: 2, MemoryBytes: 256 << 20}
	if len(cpuset.Of(0)) > 1 {
		o.CPUs = 1
	}
	if len(networks) == 1 {
		o.Network = networks[0]
	}
	r, err := New(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(networks) > 1 {
		if err := r.On(networks); err != nil {
			return nil, err
		}
	}
	self, err := os.Executable()
	if err == nil {
		err = r.Deploy(ctx, []string{self})
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// lab gives podman a storage of the test's own, and skips where podman runs no container.
func lab(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts containers: make test-all, or go test without -short")
	}
	if _, err := exec.LookPath("podman"); err != nil || os.Geteuid() != 0 {
		t.Skip("needs root, podman and an OCI runtime (Debian: podman, runc, containernetworking-plugins, iptables)")
	}
	dir, err := os.MkdirTemp("", "podman")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// podman leaves its storage mounted; what removes a killed run's containers may
		// still look whether they are gone.
		until(t, "the storage is removed", func() bool {
			_ = unix.Unmount(dir+"/root/overlay", unix.MNT_DETACH)
			return os.RemoveAll(dir) == nil
		})
	})
	runtime := "crun"
	if _, err := exec.LookPath(runtime); err != nil {
		runtime = "runc"
	}
	for name, text := range map[string]string{
		"CONTAINERS_CONF":         fmt.Sprintf("[engine]\nruntime = %q\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n[network]\nnetwork_config_dir = %q\n", runtime, dir+"/net"),
		"CONTAINERS_STORAGE_CONF": fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n", dir+"/root", dir+"/run"),
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, file)
	}
	runs(t, dir)
}

// runs skips the test, by podman's own words, where podman is installed and runs no
// container: its runtime may refuse the host's control groups. Of ours the container that
// is tried has the limits alone.
func runs(t *testing.T, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.Mkdir(dir+"/tried", 0o755)
	}
	var program []byte
	if err == nil {
		program, err = os.ReadFile(self)
	}
	if err == nil {
		err = os.WriteFile(dir+"/tried/self", program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("podman", slices.Concat([]string{"run", "--rm"}, ulimits(), []string{"--rootfs", dir + "/tried", "/self", "nothing"})...).CombinedOutput(); err != nil {
		t.Skipf("podman runs no container here: %v: %s", err, bytes.TrimSpace(said))
	}
}

// left returns what podman still has of a run. It errs while an image goes that it is
// about to list.
func left() string {
	boxes, err1 := exec.Command("podman", "ps", "-aq").Output()
	images, err2 := exec.Command("podman", "images", "-q").Output()
	if err := errors.Join(err1, err2); err != nil {
		return err.Error()
	}
	return string(boxes) + string(images)
}

// Containers of two networks at once have the bounds that were asked for, are swept, and go.
func TestContainers(t *testing.T) {
	lab(t)
	r, err := standing(t.Context(), "bridge", "host")
	if err != nil {
		t.Fatal(err)
	}
	hosts := r.Hosts()
	if hosts[0].Address == hosts[1].Address {
		t.Errorf("both have the address %s", hosts[0].Address)
	}
	if hosts[2].Address != "127.0.0.1" || hosts[2].Network != "host" || !slices.Equal(hosts[2].CPUs, hosts[0].CPUs) {
		t.Errorf("the server's host on the host's network is %+v; want the CPUs %v", hosts[2], hosts[0].CPUs)
	}
	self, _ := os.Executable()
	for _, h := range hosts {
		want := fmt.Sprintf("%s %d\n", cpuset.Format(h.CPUs), 256<<20)
		if got, err := h.Ask(t.Context(), nil, self, "look"); err != nil || string(got) != want {
			t.Errorf("%s: %v; CPUs and memory are %q, want %q", h.Name, err, got, want)
		}
	}
	sweeps(t, r, self)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if rest := left(); rest != "" {
		t.Errorf("podman still has %s", rest)
	}
}

// sweeps leaves a process behind whose command was killed, and has it ended.
func sweeps(t *testing.T, r *Rig, self string) {
	t.Helper()
	h := r.Hosts()[0]
	line := h.Command(self, "deaf")
	c := exec.Command(line[0], line[1:]...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	deaf := func() bool {
		out, err := exec.Command("podman", "top", r.nameOf(0), "args").Output()
		return err == nil && bytes.Contains(out, []byte(" deaf"))
	}
	until(t, "the process runs", deaf)
	_ = c.Process.Kill()
	_ = c.Wait()
	if !deaf() {
		t.Log("it ended with its command")
	}
	if err := r.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	if deaf() {
		t.Error("it still runs after Recover")
	}
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	const timeout = time.Minute // a busy machine
	for begun := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > timeout {
			t.Fatalf("not within %v: %s", timeout, what)
		}
	}
}

// Whoever holds a rig is killed, and nothing of it stays. make soak kills at fifty moments
// of its start.
func TestNothingOutlivesASIGKILL(t *testing.T) {
	lab(t)
	times := 1
	if os.Getenv("NETDYNO_SOAK") != "" {
		times = 51
	}
	for i := range times {
		c := exec.Command(os.Args[0], "hold")
		out, err := c.StdoutPipe()
		c.Stderr = os.Stderr
		if err = errors.Join(err, c.Start()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := t.Context(), context.CancelFunc(func() {})
		if i > 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(i)*50*time.Millisecond)
		}
		run, err := rig.FirstLine(ctx, out)
		cancel()
		if i == 0 && (err != nil || !strings.HasPrefix(run, "netdyno-")) {
			t.Fatal(run, err)
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		until(t, "nothing is left", func() bool { return left() == "" })
	}
}

// A container whose first process was killed is named; a trial there fails.
func TestAContainerThatEnded(t *testing.T) {
	lab(t)
	r, err := standing(t.Context(), "host")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("podman", "kill", r.nameOf(1)).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if hosts := r.Hosts(); hosts[0].Address != "127.0.0.1" || hosts[1].Address != "127.0.0.1" {
		t.Errorf("on the host's network the addresses are %s and %s", hosts[0].Address, hosts[1].Address)
	}
	err = r.Recover(t.Context())
	if here := rig.ErrorOf(err, "container2"); here == nil || rig.ErrorOf(err, "container1") != nil {
		t.Errorf("Recover: %v; want an error of container2 alone", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// What cannot be is refused before anything is made, with what to do.
func TestRefusals(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	kind := Kinds[0]
	for name, c := range map[string]struct {
		argument string
		options  map[string]string
		says     string
	}{
		"no podman":     {"2", nil, "podman is not installed; install it (Debian: sudo apt-get install podman)"},
		"many":          {"65", nil, "65 containers; expected from 1 to 64"},
		"no network":    {"", map[string]string{"network": "none"}, "expected host, bridge or the name of a network"},
		"a flag":        {"", map[string]string{"network": "--x"}, "expected host, bridge or the name of a network"},
		"half a CPU":    {"", map[string]string{"cpus": "0.5"}, "quota=0.5 bounds their time"},
		"no quota":      {"", map[string]string{"quota": "NaN"}, "quota=NaN; expected the CPUs"},
		"little memory": {"", map[string]string{"memory": "1MiB"}, "expected at least 64MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := kind.Build(t.Context(), rig.Choice{Text: "podman", Argument: c.argument, Form: kind.Form, Options: c.options})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("built %v, error %v, want in it %q", r, err, c.says)
			}
		})
	}
}

// A rig says in its name which network it has, unless trials name networks; then it may
// not be told one too.
func TestNetworksOfARig(t *testing.T) {
	build := func(network string) *Rig {
		r := &Rig{options: Options{Program: "podman", Hosts: 1, Network: network, Bounds: "cpus=1"}}
		r.plan("container", "")
		return r
	}
	one, several := build(""), build("")
	if err := several.On([]string{"bridge", "host"}); err != nil {
		t.Fatal(err)
	}
	if a, b := one.Name(), several.Name(); a != "podman:1?network=bridge&cpus=1" || b != "podman:1?cpus=1" {
		t.Errorf("names are %s and %s", a, b)
	}
	var names []string
	for i, h := range several.Hosts() {
		names = append(names, h.Name+" "+several.networkOf(i))
	}
	if want := []string{"bridge-1 bridge", "host-1 host"}; !slices.Equal(names, want) || len(several.boxes) != 2 {
		t.Errorf("hosts %q in %d boxes, want %q", names, len(several.boxes), want)
	}
	if err := build("host").On([]string{"bridge"}); err == nil || !strings.Contains(err.Error(), "leave network out of the rig") {
		t.Errorf("a network given twice: %v", err)
	}
	if err := build("").On([]string{"none"}); err == nil || !strings.Contains(err.Error(), "expected host, bridge") {
		t.Errorf("network none: %v", err)
	}
}
