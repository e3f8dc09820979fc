//go:build rdma

// Package rdma_test runs RDMA for real where no card is: in a guest with Soft-RoCE
// (make test-rdma).
package rdma_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/lab/qemu"
	"netdyno/test/programs"
)

// checkTimeout is for what takes a minute in a guest whose CPUs nobody else wants.
const checkTimeout = 6 * time.Minute

// The worker keeps the contract on a device, which no other test here can show.
func TestVerbsKeepsTheContract(t *testing.T) {
	netdyno, worker := programs.Path(t, "netdyno"), programs.Path(t, "netdyno-worker-verbs")
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	guest, err := qemu.Boot(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer guest.Close() // again is nothing
	devices, err := guest.Ask(ctx, "ls", "/sys/class/infiniband")
	if err != nil || strings.TrimSpace(string(devices)) != "rxe0" {
		t.Fatalf("the guest's devices are %q, error %v; want rxe0", devices, err)
	}
	// Its exit status is that of the cases, and what they said is worth more.
	said, _ := guest.Ask(ctx, "sh", "-c", `"$0" check "$1" 2>&1 || true`, netdyno, worker)
	if !strings.Contains(string(said), " 0 failed") {
		t.Errorf("netdyno check: %s", said)
	}
	if err := guest.Close(); err != nil {
		t.Error(err)
	}
	if left := guests(t); left != "" {
		t.Errorf("guests outlive it: processes %s", left)
	}
}

// Reads, writes and sends, by the worker and by perftest, in one run: the way is
// RDMA, and both ends count.
func TestOperations(t *testing.T) {
	for _, r := range trials(t, "rdma.yaml", "blocks=1", "window=500ms") {
		if r.Outcome == record.Failed || r.Outcome == record.Unsupported {
			t.Errorf("%s: %s: %+v", r.Trial.Arm, r.Outcome, r.Failure)
			continue
		}
		for _, w := range r.Workers {
			if w.Result != nil && w.Role == contract.Client && w.Result.Counts.SentBytes == 0 {
				t.Errorf("%s: the client moved nothing", r.Trial.Arm)
			}
			if w.Transport == "verbs" && w.Role == contract.Client && (w.Ready == nil || w.Ready.Path == nil || w.Ready.Path.Over != "rdma") {
				t.Errorf("%s: ready %+v, want the way rdma", r.Trial.Arm, w.Ready)
			}
		}
	}
}

// UCX finds the guest's device by what its ucx.conf there says.
func TestUCXTakesTheDevice(t *testing.T) {
	programs.Path(t, "netdyno-worker-ucx")
	for _, r := range trials(t, "", "transport=ucx", "opt.tls=rdma", "stream=up", "request=1MiB", "response=1B", "connections=1", "threads=1", "blocks=1", "window=300ms") {
		if r.Outcome != record.OK {
			t.Errorf("%s: %+v", r.Outcome, r.Failure)
		}
		for _, w := range r.Workers {
			if w.Role == contract.Client && (w.Ready == nil || w.Ready.Path == nil || w.Ready.Path.Over != "rdma") {
				t.Errorf("ready %+v, want the way rdma", w.Ready)
			}
		}
	}
}

// What cannot be had is refused, with what was found.
func TestRefusals(t *testing.T) {
	for option, want := range map[string]string{
		"opt.device=rxe1":   `did you mean "rxe0"?`,
		"opt.gid_index=200": "no port has a GID at index 200; there is rxe0:1 gid 0",
		"opt.inline=4096":   "make a queue pair of rxe0:1",
	} {
		records := trials(t, "", "transport=verbs", option, "connections=1", "blocks=1", "window=200ms")
		if f := records[0].Failure; f == nil || !strings.Contains(f.Text, want) {
			t.Errorf("%s: failure %+v, want one with %q", option, f, want)
		}
	}
}

// trials runs a study in a guest and returns its records.
func trials(t *testing.T, study string, arguments ...string) []record.Record {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	argv := []string{"run"}
	if study != "" {
		argv = append(argv, study)
	}
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	guest, err := qemu.Boot(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer guest.Close() // it never errs
	argv = append(append(argv, arguments...), "--rig", guest.Rig(), "--out", out)
	c := exec.CommandContext(ctx, programs.Path(t, "netdyno"), argv...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	said, err := c.CombinedOutput()
	t.Logf("netdyno %s\n%s", strings.Join(argv, " "), said)
	contents, unread := record.Read(filepath.Join(out, "records.jsonl"))
	if unread != nil {
		t.Fatalf("error %v after %v", unread, err)
	}
	if len(contents.Records) == 0 {
		t.Fatal("the run left no record")
	}
	return contents.Records
}

// guests names the processes of guests that this one has started.
func guests(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil || !strings.Contains(string(line), "netdyno.host=") {
			continue
		}
		status, err := os.ReadFile(filepath.Join("/proc", e.Name(), "status"))
		if err == nil && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			found = append(found, e.Name())
		}
	}
	return strings.Join(found, " ")
}
