package faults_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/running"
)

// The faults, as the table names them.
const (
	noServer       = "F1 no server"
	serverKilled   = "F2 server killed"
	serverStopped  = "F3 server stopped"
	clientStopped  = "F4 client stopped"
	interrupted    = "F5 INT, TERM, HUP, QUIT"
	garbage        = "F6 garbage in the place of a reply"
	halfReply      = "F7 half a reply, then silence"
	fullDisk       = "F8 full disk"
	noDescriptors  = "F9 too few descriptors"
	killedAndAgain = "F10 killed and run again"
	udpBlocked     = "F11 UDP blocked"
	linkPulled     = "F12 link pulled"
	tooLarge       = "F13 datagrams too large for the path"
)

// long are levels of trials that nothing but a fault ends. They think between
// exchanges, because a dozen of them run at once.
func (b *bed) long(blocks int) []string {
	window := "window=60s"
	if b.foreign() {
		window = "window=5s" // what holds a program of somebody else's shows when the window closes
	}
	return append(b.ends(), "connections=2", "think=5ms", "warmup=10ms", window, "placement=free", fmt.Sprintf("blocks=%d", blocks))
}

// short are levels of trials that fail before their load.
func short(blocks int) []string {
	return []string{"warmup=10ms", "window=50ms", "placement=free", fmt.Sprintf("blocks=%d", blocks)}
}

// brokenWorkers hurts the workers of one run's trials, one after the other.
func brokenWorkers(t *testing.T, b *bed) {
	r := b.start(t, b.long(2)...) // 4 trials
	cell(t, serverKilled, func(t *testing.T) {
		server, _ := r.underLoad(t)
		signal(t, server, syscall.SIGKILL)
		failed(t, r.Next(t, 0), "server", "kill")
	})
	cell(t, serverStopped, func(t *testing.T) {
		server, _ := r.underLoad(t)
		signal(t, server, syscall.SIGSTOP)
		failed(t, r.Next(t, 1), "server", "is stopped (SIGSTOP)")
	})
	cell(t, clientStopped, func(t *testing.T) {
		_, client := r.underLoad(t)
		signal(t, client, syscall.SIGSTOP)
		failed(t, r.Next(t, 2), "client-1", "is stopped (SIGSTOP)")
	})
	r.rest(t, 3)
}

// rest ends the trials that are left by killing their servers, and demands a whole
// run of which nothing is left.
func (r *run) rest(t *testing.T, from int) {
	t.Helper()
	planned, err := record.ReadTrials(filepath.Join(r.Dir, record.TrialsFile))
	if err != nil {
		t.Fatal(err)
	}
	for number := from; number < len(planned); number++ {
		server, _ := r.underLoad(t)
		signal(t, server, syscall.SIGKILL)
		r.Next(t, number)
	}
	r.end(t, 1)
	r.whole(t)
	r.nothingLeft(t)
}

// brokenServers drives servers that are none, or speak nonsense.
func brokenServers(t *testing.T, b *bed) {
	for _, c := range []struct {
		fault, mode string
		worker      string
		blocks      int
	}{{noServer, "", "server", 1}, {garbage, "garbage", "client-1", 1}, {halfReply, "half", "client-1", 2}} {
		if c.mode != "" && b.overUDP() {
			continue // a server that nobody can tell from none: UDP that is blocked
		}
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			own := b.again(t)
			cell(t, c.fault, func(t *testing.T) {
				server := []string{"server=address", "opt.server.wire=" + b.wire, "opt.server.address=" + b.server + ":9"}
				if c.mode != "" {
					server = []string{"server=exec", "opt.server.wire=" + b.wire, "opt.server.command=" + own.fake(c.mode)}
				}
				r := own.start(t, slices.Concat(short(c.blocks), server, b.security(), []string{"client=" + b.clientName(), "connections=2"})...)
				r.end(t, 1)
				r.whole(t)
				for i, one := range r.Contents(t).Records {
					failed(t, one, c.worker)
					if one.Failure != nil && one.Failure.Kind == contract.Bug {
						t.Errorf("trial %s is a bug: %s", one.Trial.ID, one.Failure.Text)
					}
					says(t, c.fault, i, one)
				}
				own.nothingLeft(t)
			})
		})
	}
}

// says checks the words about a server that is none, or half of one.
func says(t *testing.T, fault string, number int, r record.Record) {
	t.Helper()
	text := ""
	if r.Failure != nil {
		text = r.Failure.Text
	}
	switch {
	case fault == noServer && !strings.Contains(text, "refused"):
		t.Errorf("trial %s says %q, want that the connection was refused", r.Trial.ID, text)
	case fault == halfReply && number >= 2 && r.Failure != nil && r.Failure.Kind == contract.Timeout && !strings.Contains(text, "not tried again after"):
		t.Errorf("trial %s says %q, want it not tried again", r.Trial.ID, text)
	}
}

// brokenPath hurts the path of datagrams between two namespaces.
func brokenPath(t *testing.T, b *bed) {
	cell(t, udpBlocked, func(t *testing.T) {
		own := b.again(t)
		r := own.start(t, own.long(1)...) // 2 trials
		server, _ := r.underLoad(t)
		within(t, server, "iptables", "-A", "INPUT", "-p", "udp", "-j", "DROP")
		signal(t, server, syscall.SIGKILL)
		failed(t, r.Next(t, 0), "server", "kill")
		failed(t, r.Next(t, 1), "client-1", "no datagram came back", "drops UDP")
		r.end(t, 1)
		r.whole(t)
		own.nothingLeft(t)
	})
	r := b.start(t, append(b.long(2), "opt.idle_timeout=2s", "opt.client.keep_alive=500ms")...) // 4 trials
	cell(t, linkPulled, func(t *testing.T) {
		server, _ := r.underLoad(t)
		within(t, server, "ip", "link", "set", "nd0", "down")
		failed(t, r.Next(t, 0), "client-1", "every connection was lost")
	})
	cell(t, tooLarge, func(t *testing.T) {
		server, client := r.underLoad(t)
		within(t, client, "ip", "link", "set", "nd0", "mtu", "1100") // the connections that there are carry less at once
		signal(t, server, syscall.SIGKILL)
		failed(t, r.Next(t, 1), "server", "kill")
		for number := 2; number < 4; number++ {
			failed(t, r.Next(t, number), "client-1", "the path takes no datagram of 1,200 bytes")
		}
	})
	r.end(t, 1)
	r.whole(t)
	r.nothingLeft(t)
}

// within runs a program in the network namespace of a process.
func within(t *testing.T, pid int, argv ...string) {
	t.Helper()
	c := exec.Command("nsenter", append([]string{"--net", "--target", strconv.Itoa(pid), "--"}, argv...)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out)
	}
}

// fewDescriptors gives netdyno, and then its workers, less than they need.
func fewDescriptors(t *testing.T, b *bed) {
	cell(t, noDescriptors, func(t *testing.T) {
		whole, dir := b.command(slices.Concat(short(1), b.ends())...)
		c := b.argv(append([]string{"sh", "-c", `ulimit -n 16; exec "$@"`, "few"}, netdynoOf(whole.Args, b)...)...)
		r := &run{bed: b, Run: running.Start(t, c, dir, hang), t: t}
		r.end(t, 2)
		r.saying(t, "ulimit -n")

		own := b.again(t)
		for _, worker := range own.workers {
			limit(t, own.program(worker))
		}
		r = own.start(t, slices.Concat(short(1), own.ends(), []string{"connections=100"})...)
		r.end(t, 1)
		r.whole(t)
		for _, one := range r.Contents(t).Records {
			if own.foreign() && one.Failure != nil && strings.Contains(one.Failure.Text, "too many open files") {
				continue // the program's own words
			}
			if one.Failure == nil || !strings.Contains(one.Failure.Text, "descriptors") || one.Failure.Kind != contract.SetupFailed {
				t.Errorf("trial %s: %+v, want a failure of kind setup about descriptors", one.Trial.ID, one.Failure)
			}
		}
		own.nothingLeft(t)
	})
}

// netdynoOf returns netdyno's own argv of a command that may run it elsewhere.
func netdynoOf(argv []string, b *bed) []string {
	return argv[slices.Index(argv, filepath.Join(b.programs, "netdyno")):]
}

// limit puts a program behind a limit of descriptors that a hello needs no more of.
func limit(t *testing.T, program string) {
	t.Helper()
	path := filepath.Join(filepath.Dir(program), "limited-"+filepath.Base(program))
	if err := os.Rename(program, path); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nulimit -n 48\nexec %s\n", path)
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// brokenNetdyno hurts netdyno itself and what it writes to, trial after trial of one
// run, which goes on every time.
func brokenNetdyno(t *testing.T, b *bed) {
	disk := filepath.Join(b.results, "run")
	mounted := mountSmall(t, disk)
	r := b.start(t, b.long(2)...)
	again := func(t *testing.T, number int) {
		t.Helper()
		r.nothingLeft(t)
		if got := len(r.Contents(t).Records); got != number {
			t.Errorf("there are %d records, want %d: a trial under way leaves none", got, number)
		}
		r.resume()
	}
	cell(t, interrupted, func(t *testing.T) {
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
			r.underLoad(t)
			signal(t, r.Cmd.Process.Pid, s)
			r.end(t, 1)
			r.saying(t, "--continue goes on")
			again(t, 0)
		}
	})
	cell(t, killedAndAgain, func(t *testing.T) {
		r.underLoad(t)
		signal(t, r.Cmd.Process.Pid, syscall.SIGKILL)
		r.end(t, -1)
		again(t, 0)
	})
	if mounted {
		cell(t, fullDisk, func(t *testing.T) {
			server, _ := r.underLoad(t)
			ballast := fillUp(t, disk)
			signal(t, server, syscall.SIGKILL)
			r.end(t, 1)
			r.saying(t, "no space left on device")
			r.saying(t, "the records are safe in")
			if hidden, err := filepath.Glob(filepath.Join(disk, ".*")); err != nil || len(hidden) > 0 {
				t.Errorf("temporary files are left: %v, %v", hidden, err)
			}
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			again(t, 0)
		})
	}
	r.rest(t, 0)
}

// mountSmall mounts a small file system at a directory; false, with a word, where
// none can be mounted.
func mountSmall(t *testing.T, dir string) bool {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("faults", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Logf("no fault of a full disk: mount a small one: %v", err)
		return false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return true
}

// fillUp writes a file until the disk is full and returns its path.
func fillUp(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for len(block) > 0 {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	return path
}
