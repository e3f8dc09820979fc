package meter

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

// metered is one meter process with its worker, as the bench sees it.
type metered struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer

	closeOut func()
}

type bounds struct {
	deadline string
	memory   int64
	cpus     string
}

// timeout bounds every test of something that must end.
const timeout = 20 * time.Second

func run(t *testing.T, b bounds, worker ...string) *metered {
	t.Helper()
	return runArgv(t, b, append([]string{os.Args[0], "worker"}, worker...))
}

func runArgv(t *testing.T, b bounds, argv []string) *metered {
	t.Helper()
	if b.deadline == "" {
		b.deadline = "0s"
	}
	m := &metered{t: t}
	m.cmd = exec.Command(os.Args[0], append([]string{"meter", b.deadline, strconv.FormatInt(b.memory, 10), b.cpus}, argv...)...)
	// The race detector's runtime would sleep for 1 s before each exit.
	m.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	m.cmd.Stderr = &m.stderr
	var err error
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	m.closeOut = func() { out.Close() }
	m.out = bufio.NewReaderSize(out, contract.MaxLine)
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(timeout, func() {
		t.Errorf("the meter did not end in %s", timeout)
		_ = m.cmd.Process.Kill()
	})
	t.Cleanup(func() {
		m.in.Close()
		_ = m.cmd.Wait()
		guard.Stop()
	})
	return m
}

func (m *metered) send(text string) {
	m.t.Helper()
	if _, err := io.WriteString(m.in, text+"\n"); err != nil {
		m.t.Fatalf("send %s: %v", text, err)
	}
}

// next returns the next message and its line.
func (m *metered) next() (contract.Message, string) {
	m.t.Helper()
	line, err := m.out.ReadString('\n')
	if err != nil {
		m.t.Fatalf("read a message: %v; stderr: %s", err, m.stderr.String())
	}
	message, err := contract.Parse([]byte(line))
	if err != nil {
		m.t.Fatal(err)
	}
	return message, line
}

// rest returns the messages up to the exit, which must be the last, and the
// meter's exit code.
func (m *metered) rest() ([]contract.Message, contract.Exit, int) {
	m.t.Helper()
	var messages []contract.Message
	for {
		line, err := m.out.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			break
		}
		if err != nil {
			m.t.Fatalf("read the rest: %v, %q", err, line)
		}
		message, err := contract.Parse([]byte(line))
		if err != nil {
			m.t.Fatal(err)
		}
		messages = append(messages, message)
	}
	_ = m.cmd.Wait()
	code := m.cmd.ProcessState.ExitCode()
	if len(messages) == 0 || messages[len(messages)-1].Exit == nil {
		m.t.Fatalf("the last message is not exit: %+v; stderr: %s", messages, m.stderr.String())
	}
	last := len(messages) - 1
	return messages[:last], *messages[last].Exit, code
}

func TestConversationIsDecorated(t *testing.T) {
	m := run(t, bounds{}, "honest")
	if hello, line := m.next(); hello.Hello == nil || hello.Meter != nil {
		t.Errorf("first message %q, want an undecorated hello", line)
	}
	m.send(`{"setup":{}}`)
	ready, line := m.next()
	if ready.Ready == nil || ready.Meter == nil || !strings.Contains(line, `"colour":"green"`) {
		t.Errorf("got %q, want ready with its unknown field and a reading", line)
	}
	if ready.Meter.SkewNs != 0 || ready.Meter.Process.Processes != 1 || ready.Meter.Process.RSSBytes == 0 ||
		ready.Meter.Process.PeakRSSBytes < ready.Meter.Process.RSSBytes {
		t.Errorf("reading at ready: %+v", *ready.Meter)
	}
	m.send(`{"mark":{"id":7,"reset":true}}`)
	mark, line := m.next()
	if mark.Mark == nil || mark.Mark.ID != 7 || !mark.Mark.Reset || mark.Mark.Reading.Counts.ReceivedBytes != 5 {
		t.Errorf("got %q, want the answer to mark 7", line)
	}
	if !strings.Contains(line, `"later":[1,{"x":"}"}]`) {
		t.Errorf("the unknown field is gone from %q", line)
	}
	if mark.Meter == nil || mark.Meter.SkewNs <= 0 || mark.Meter.AtNs <= ready.Meter.AtNs {
		t.Errorf("reading at the mark: %+v, want a positive skew and a later time", mark.Meter)
	}
	m.send(`{"stop":{}}`)
	if result, line := m.next(); result.Result == nil || result.Meter == nil || result.Meter.Process.CPUNs < mark.Meter.Process.CPUNs {
		t.Errorf("got %q, want a decorated result", line)
	}
	m.in.Close()
	messages, exit, code := m.rest()
	if len(messages) != 0 || code != 0 || exit.Code != 0 || exit.Reason != "" || exit.CPUNs <= 0 {
		t.Errorf("end: %v %+v, meter's code %d; want a clean exit", messages, exit, code)
	}
}

// cpuAtMark runs a worker that answers with its own account and returns both.
func cpuAtMark(t *testing.T, name string) (metered, own int64, m *metered) {
	t.Helper()
	m = run(t, bounds{}, name)
	m.send(`{"mark":{"id":1}}`)
	mark, line := m.next()
	if mark.Mark == nil || mark.Meter == nil {
		t.Fatalf("got %q, want a decorated mark", line)
	}
	return mark.Meter.Process.CPUNs, mark.Mark.Reading.CPUNs, m
}

func TestCPUAgreesWithGetrusage(t *testing.T) {
	for _, name := range []string{"busy", "forker"} {
		t.Run(name, func(t *testing.T) {
			metered, own, m := cpuAtMark(t, name)
			if ratio := float64(metered) / float64(own); own == 0 || ratio < 0.95 || ratio > 1.05 {
				t.Errorf("metered %d ns, the workers' own account %d ns: ratio %.3f, want within 5 %%", metered, own, ratio)
			}
			m.in.Close()
			_, exit, _ := m.rest()
			all := m.cmd.ProcessState // of the meter, and of all that it waited for
			if most := all.UserTime() + all.SystemTime(); float64(exit.CPUNs) < 0.95*float64(own) || exit.CPUNs > int64(most) {
				t.Errorf("account at the exit %d ns, at the mark %d ns, the kernel's of the meter and its worker %d ns", exit.CPUNs, own, most)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		worker []string
		code   int
		signal string
	}{
		{[]string{"code", "0"}, 0, ""},
		{[]string{"code", "3"}, 3, ""},
		{[]string{"suicide"}, 137, "SIGKILL"},
	} {
		_, exit, code := run(t, bounds{}, c.worker...).rest()
		if code != c.code || exit.Code != c.code || exit.Signal != c.signal || exit.Reason != "" {
			t.Errorf("%v: exit %+v, meter's code %d; want %d %s without a reason", c.worker, exit, code, c.code, c.signal)
		}
	}
}

func TestWorkerThatCannotStart(t *testing.T) {
	messages, exit, code := runArgv(t, bounds{}, []string{"/nowhere/worker"}).rest()
	if code != 127 || exit.Code != 127 || len(messages) != 1 || messages[0].Error == nil ||
		messages[0].Error.Kind != contract.SetupFailed || !strings.Contains(messages[0].Error.Text, "/nowhere/worker") {
		t.Errorf("messages %+v, exit %+v, code %d; want a setup error that names the file, and 127", messages, exit, code)
	}
}

func TestCPUSetIsInherited(t *testing.T) {
	m := run(t, bounds{cpus: "0"}, "says", `{"ready":{}}`+"\n")
	if ready, line := m.next(); ready.Meter == nil || len(ready.Meter.CPUSet) != 1 || ready.Meter.CPUSet[0] != 0 {
		t.Errorf("got %q, want CPU set [0]", line)
	}
	messages, _, code := run(t, bounds{cpus: "0,900"}, "honest").rest()
	if code != 126 || len(messages) != 1 || messages[0].Error == nil || !strings.Contains(messages[0].Error.Text, "0,900") {
		t.Errorf("CPU 900: messages %+v, code %d; want a setup error that names the set, and 126", messages, code)
	}
}

func TestStderrPasses(t *testing.T) {
	m := run(t, bounds{}, "stderr")
	m.rest()
	if got := m.stderr.String(); got != "free text\n{not json\n" {
		t.Errorf("stderr %q, want it untouched", got)
	}
}

// gone waits until no process has the pid; a zombie counts as gone.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || bytes.Contains(text, []byte(") Z ")) || unix.Kill(pid, 0) != nil {
			return
		}
		if time.Now().After(end) {
			t.Errorf("process %d is still there: %s", pid, text)
			return
		}
	}
}
