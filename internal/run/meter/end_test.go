package meter

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

// wasKilled checks how a killed worker ended.
func wasKilled(t *testing.T, m *metered, reason string) []contract.Message {
	t.Helper()
	messages, exit, code := m.rest()
	if exit.Reason != reason || exit.Signal != "SIGKILL" || exit.Code != 137 || code != 137 {
		t.Errorf("exit %+v, meter's code %d; want SIGKILL, 137 and reason %q", exit, code, reason)
	}
	return messages
}

func TestBoundsKill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bounds bounds
		worker string
		reason string
	}{
		{bounds{deadline: "300ms"}, "stubborn", Deadline},
		{bounds{memory: 64 << 20}, "hog", Memory},
		{bounds{deadline: "300ms"}, "silent", Deadline},
	} {
		t.Run(c.reason+" "+c.worker, func(t *testing.T) {
			t.Parallel()
			wasKilled(t, run(t, c.bounds, c.worker), c.reason)
		})
	}
}

func TestEndOfStdinKillsTheStubborn(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "stubborn")
	m.next()
	m.in.Close()
	wasKilled(t, m, StdinClosed)
}

// A bench that was heard of, and is not any more, does not come back: the way to it is
// cut, and the end of stdin never arrives.
func TestALeaseThatNobodyRenews(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "stubborn")
	m.next()
	m.send(`{"lease":{"for_ns":3600000000000}}`)
	m.send(`{"lease":{"for_ns":100000000}}`)
	wasKilled(t, m, LeaseEnded)
}

func TestSignalEnds(t *testing.T) {
	t.Parallel()
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT} {
		t.Run(unix.SignalName(signal), func(t *testing.T) {
			t.Parallel()
			m := run(t, bounds{}, "stubborn")
			m.next()
			if err := m.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			wasKilled(t, m, Interrupted)

			m = run(t, bounds{}, "honest")
			m.next()
			if err := m.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if _, exit, code := m.rest(); code != 0 || exit.Reason != "" {
				t.Errorf("exit %+v, code %d; want the end of its stdin to end an honest worker", exit, code)
			}
		})
	}
}

func TestEndOfStdinAtEveryMoment(t *testing.T) {
	t.Parallel()
	commands := []string{`{"setup":{}}`, `{"mark":{"id":1,"reset":true}}`, `{"mark":{"id":2}}`, `{"stop":{}}`}
	for taken := 0; taken <= len(commands); taken++ {
		for _, answered := range []bool{false, true} {
			m := run(t, bounds{}, "honest")
			if answered {
				m.next() // hello
			}
			for _, command := range commands[:taken] {
				m.send(command)
				if answered {
					m.next()
				}
			}
			m.in.Close()
			messages, exit, code := m.rest()
			if code != 0 || exit.Reason != "" {
				t.Errorf("end after %d commands: exit %+v, code %d; want 0", taken, exit, code)
			}
			if want := taken + 1; !answered && len(messages) != want {
				t.Errorf("end after %d commands: %d messages, want all %d", taken, len(messages), want)
			}
		}
	}
	m := run(t, bounds{}, "honest")
	if _, err := io.WriteString(m.in, `{"set`); err != nil {
		t.Fatal(err)
	}
	m.in.Close()
	if _, exit, code := m.rest(); code != 0 || exit.Reason != "" {
		t.Errorf("end within a command: exit %+v, code %d; want 0", exit, code)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"stay", "go", "code"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			m := run(t, bounds{}, "orphans", how)
			told, line := m.next()
			if told.Error == nil {
				t.Fatalf("got %q, want the orphan's pid", line)
			}
			orphan, err := strconv.Atoi(told.Error.Text)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			switch how {
			case "stay":
				ready, line := m.next()
				if ready.Meter == nil || ready.Meter.Process.Processes != 2 {
					t.Errorf("got %q, want a reading with the orphan in it", line)
				}
				m.in.Close()
				wasKilled(t, m, StdinClosed)
			case "code":
				want = 7
				fallthrough
			default:
				if _, exit, code := m.rest(); code != want || exit.Reason != "" {
					t.Errorf("exit %+v, code %d; want %d without a reason", exit, code, want)
				}
			}
			gone(t, orphan)
		})
	}
}

func TestWorkerDiesWithAKilledMeter(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "sleeper")
	ready, line := m.next()
	if ready.Meter == nil {
		t.Fatalf("got %q, want a decorated ready", line)
	}
	worker := ready.Meter.Threads[0].ID // any thread shows whether its process lives
	if err := m.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone(t, worker)
}

func TestWorkerThatBreaksTheContract(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"free text":     "listening on port 80\n",
		"empty line":    "\n",
		"command":       `{"setup":{}}` + "\n",
		"exit":          `{"exit":{"code":0}}` + "\n",
		"own meter":     `{"ready":{},"meter":{"at_ns":1}}` + "\n",
		"torn mark":     `{"mark":{"id":1}` + "\n",
		"trailing text": `{"ready":{}} x` + "\n",
		"two keys":      `{"mark":{"id":1},"ready":{}}` + "\n",
		"unknown":       `{"howdy":{}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := wasKilled(t, run(t, bounds{}, "says", `{"hello":{"contract":1}}`+"\n", text), Invalid)
			if len(messages) != 2 || messages[0].Hello == nil || messages[1].Error == nil {
				t.Fatalf("messages %+v, want hello and an error", messages)
			}
			e := messages[1].Error
			if e.Kind != contract.Invalid || !e.Fatal || !strings.Contains(e.Text, "CONTRACT.md") {
				t.Errorf("error %+v, want a fatal invalid one that teaches", e)
			}
		})
	}
	messages := wasKilled(t, run(t, bounds{}, "long"), Invalid)
	if len(messages) != 1 || messages[0].Error == nil || !strings.Contains(messages[0].Error.Text, "longer than") {
		t.Errorf("endless line: messages %+v, want one error", messages)
	}
}

func TestWorkerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "stubborn")
	m.next()
	// More than any pipe holds, then the end: it must be seen all the same.
	command := `{"setup":{"trial":"` + strings.Repeat("x", 60<<10) + `"}}`
	for range 8 {
		m.send(command)
	}
	m.in.Close()
	wasKilled(t, m, StdinClosed)

	m = run(t, bounds{}, "stubborn")
	m.next()
	for range 2 * maxWaitingBytes / len(command) {
		if _, err := io.WriteString(m.in, command+"\n"); err != nil {
			break // the meter has given up, as it should
		}
	}
	messages := wasKilled(t, m, Invalid)
	if len(messages) != 1 || messages[0].Error == nil || !strings.Contains(messages[0].Error.Text, "does not read") {
		t.Errorf("messages %+v, want an error that says so", messages)
	}
}

func TestBenchThatDoesNotRead(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "flood")
	// The worker floods; the bench takes a little, and the meter must not take
	// much more from the worker than the pipes hold.
	for range 10 {
		m.next()
	}
	before := resident(t, m.cmd.Process.Pid)
	for range 50 {
		time.Sleep(10 * time.Millisecond) // enough for tens of MB, if they were kept
		if now := resident(t, m.cmd.Process.Pid); now > before+32<<20 {
			t.Fatalf("the meter grew from %d to %d bytes", before, now)
		}
	}
	m.in.Close()
	_ = m.cmd.Wait()
	if code := m.cmd.ProcessState.ExitCode(); code != 137 {
		t.Errorf("code %d, want 137 for the worker killed after the bench's end; stderr %s", code, m.stderr.String())
	}
}

func TestBenchThatIsGone(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "flood")
	m.next()
	m.closeOut() // stdin stays open: only the failing write can tell
	_ = m.cmd.Wait()
	if code := m.cmd.ProcessState.ExitCode(); code != 137 {
		t.Errorf("code %d, want 137; stderr %s", code, m.stderr.String())
	}
}

// TestRunLeavesNothingInItsProcess runs the meter within the test, so that its
// goroutines can be counted; it must not run beside tests with children.
func TestRunLeavesNothingInItsProcess(t *testing.T) {
	for _, c := range []struct {
		worker []string
		bounds Options
		end    bool // of the bench's commands
		code   int
	}{
		{worker: []string{"honest"}, end: true},
		{worker: []string{"code", "5"}, code: 5},
		{worker: []string{"stubborn"}, bounds: Options{Deadline: 50 * time.Millisecond}, code: 137},
		{worker: []string{"says", "nonsense\n"}, code: 137},
	} {
		t.Run(c.worker[0], func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			in, commands, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if c.end {
				commands.Close()
			} else {
				defer commands.Close()
			}
			var out, stderr bytes.Buffer
			o := c.bounds
			o.Argv = append([]string{os.Args[0], "worker"}, c.worker...)
			o.In, o.Out, o.Err = in, &out, &stderr
			code, err := Run(t.Context(), o)
			if err != nil || code != c.code {
				t.Errorf("code %d, %v; want %d; stderr %s", code, err, c.code, stderr.String())
			}
			if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); !strings.HasPrefix(lines[len(lines)-1], `{"exit":`) {
				t.Errorf("out %q, want exit as the last line", out.String())
			}
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	in, commands, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer commands.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	code, err := Run(ctx, Options{Argv: []string{os.Args[0], "worker", "honest"}, In: in, Out: &out})
	if err != nil || code != 0 {
		t.Errorf("code %d, %v; want an honest worker to end at the end of its stdin", code, err)
	}
}

func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
