// Package sampling takes a profile of a process tree from outside it, with perf:
// the stacks of user code and of the kernel together, of any program. What keeps
// perf from it becomes a sentence, never a failure.
package sampling

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/each"
)

// Hz is a prime number, so that samples do not fall in step with periodic work of the
// sampled process, as 1000 Hz would with a timer of 1 ms.
const Hz = 997

const (
	attachTimeout = 2 * time.Second
	writeTimeout  = 4 * time.Second // after the window; the bench waits 10 s for a result
	readTimeout   = 4 * time.Second // after that
	maxRecording  = "48M"           // of perf.data, which is in memory
)

// Recorder is one perf that samples. One goroutine may use it, but for Kill.
type Recorder struct {
	start func(*exec.Cmd) error
	perf  string
	cmd   *exec.Cmd
	file  *os.File // in memory, so that nothing is left behind
	ended chan struct{}
	err   bytes.Buffer // perf's stderr, whole once ended is closed
	why   string
	done  chan contract.Sampled
}

// Start attaches perf to processes, to their threads and to what both start later, and
// returns once perf samples. start starts perf as the caller's own child, which is not
// part of what the caller meters. When there are no samples, the result of Sampled says
// why.
func Start(pids []int, start func(*exec.Cmd) error) *Recorder {
	r := &Recorder{start: start, ended: make(chan struct{}), done: make(chan contract.Sampled, 1)}
	var err error
	if r.perf, err = exec.LookPath("perf"); err != nil {
		r.why = "perf is not on this host's PATH; install it (Debian: linux-perf)"
		return r
	}
	if err := r.attach(pids); err != nil {
		r.why = "perf could not be started: " + short(err.Error())
	}
	return r
}

func (r *Recorder) attach(pids []int) error {
	fd, err := unix.MemfdCreate("perf.data", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("make a file in memory: %w", err)
	}
	r.file = os.NewFile(uintptr(fd), "perf.data")
	control, ask, err := os.Pipe()
	if err != nil {
		return err
	}
	defer control.Close()
	answer, ack, err := os.Pipe()
	if err != nil {
		return errors.Join(err, ask.Close())
	}
	hangUp := func() {
		ask.Close()
		answer.Close()
	}
	ids := each.Of(pids, strconv.Itoa)
	r.cmd = r.command("record", "-q", "-F", strconv.Itoa(Hz), "-e", "cpu-clock", "--call-graph", "fp",
		"-k", "CLOCK_MONOTONIC", "-D", "-1", "--control", "fd:3,4", "--max-size", maxRecording,
		"-o", "/proc/self/fd/5", "-p", strings.Join(ids, ","))
	r.cmd.ExtraFiles = []*os.File{control, ack, r.file}
	r.cmd.Stderr = &r.err
	err = r.start(r.cmd)
	ack.Close()
	if err != nil {
		r.cmd = nil
		hangUp()
		return err
	}
	go func() {
		_ = r.cmd.Wait() // stderr tells, and what it has written
		hangUp()         // not earlier: perf would read the end over and over
		close(r.ended)
	}()
	_ = answer.SetReadDeadline(time.Now().Add(attachTimeout)) // a pipe has one
	_, err = ask.WriteString("enable\n")
	if err == nil {
		_, err = bufio.NewReader(answer).ReadString('\n')
	}
	if err != nil {
		r.Kill()
		r.why = r.refusal(errors.Is(err, os.ErrDeadlineExceeded))
	}
	return nil
}

// command is a perf that ends with the meter and says nothing of the locale.
func (r *Recorder) command(arguments ...string) *exec.Cmd {
	c := exec.Command(r.perf, arguments...)
	c.Env = append(os.Environ(), "LC_ALL=C", "PERF_CONFIG=/dev/null", "DEBUGINFOD_URLS=")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c.WaitDelay = time.Second
	return c
}

// refusal says why perf did not begin.
func (r *Recorder) refusal(late bool) string {
	if late {
		return fmt.Sprintf("perf did not begin to sample within %s", attachTimeout)
	}
	said := r.err.String()
	for _, sign := range []string{"perf_event_paranoid", "No permission", "Permission denied", "not permitted"} {
		if strings.Contains(said, sign) {
			return "perf may not sample here: " + permission()
		}
	}
	return "perf ended early" + because(said)
}

// Refusal tells why this process may not sample its own CPU time, with that in the kernel or
// without; nil where it may. The kernel's setting answers unix.EACCES.
func Refusal(kernel bool) error {
	event := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Size: unix.PERF_ATTR_SIZE_VER0}
	event.Bits = unix.PerfBitDisabled | unix.PerfBitExcludeHv
	if !kernel {
		event.Bits |= unix.PerfBitExcludeKernel
	}
	fd, err := unix.PerfEventOpen(&event, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func permission() string {
	if err := Refusal(false); err != nil && !errors.Is(err, unix.EACCES) {
		return "perf_event_open: " + err.Error() + ", by a filter of system calls"
	}
	level, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return "this kernel has no perf events"
	}
	return fmt.Sprintf("kernel.perf_event_paranoid is %s; sudo sysctl kernel.perf_event_paranoid=1 permits it", short(string(level)))
}

// Close ends the sampling and begins to read the samples that fell between two
// instants of CLOCK_MONOTONIC. Sampled waits for the result.
func (r *Recorder) Close(fromNs, toNs int64) {
	go func() { r.done <- r.readSamples(fromNs, toNs) }()
}

// Sampled returns what was sampled, after Close.
func (r *Recorder) Sampled() *contract.Sampled {
	s := <-r.done
	r.done <- s
	return &s
}

// Kill ends perf. It may be called at any time.
func (r *Recorder) Kill() {
	if r.cmd != nil {
		_ = r.cmd.Process.Kill() // it may have ended
		<-r.ended
	}
}

func (r *Recorder) readSamples(fromNs, toNs int64) contract.Sampled {
	s := contract.Sampled{Source: "perf", Hz: Hz}
	if r.file != nil {
		defer r.file.Close()
	}
	if r.why == "" {
		r.why = r.end()
	}
	if r.why == "" {
		r.why = r.fill(&s, fromNs, toNs)
	}
	s.Why = r.why
	return s
}

// end lets perf write what it still holds.
func (r *Recorder) end() string {
	select {
	case <-r.ended:
		return "perf ended early" + because(r.err.String())
	default:
	}
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		return "perf ended early" + because(r.err.String())
	}
	select {
	case <-r.ended:
		return ""
	case <-time.After(writeTimeout):
		r.Kill()
		return fmt.Sprintf("perf did not write its samples within %s", writeTimeout)
	}
}

// fill reads the recording through perf script.
func (r *Recorder) fill(s *contract.Sampled, fromNs, toNs int64) string {
	script := r.command("script", "-i", "/proc/self/fd/3", "--ns", "--no-inline", "--show-lost-events",
		"-F", "comm,pid,tid,time,period,ip,sym,dso")
	var said bytes.Buffer
	script.ExtraFiles, script.Stderr = []*os.File{r.file}, &said
	text, err := script.StdoutPipe()
	if err != nil {
		return "perf script could not be started: " + short(err.Error())
	}
	if err := r.start(script); err != nil {
		return "perf script could not be started: " + short(err.Error())
	}
	late := time.AfterFunc(readTimeout, func() { _ = script.Process.Kill() })
	found, parseErr := parse(text, fromNs, toNs)
	if parseErr != nil {
		_ = script.Process.Kill()
	}
	err = script.Wait()
	switch {
	case !late.Stop():
		return fmt.Sprintf("perf script did not read the samples within %s", readTimeout)
	case parseErr != nil:
		return "the samples of perf could not be read: " + short(parseErr.Error())
	case err != nil:
		return "perf script failed" + because(said.String())
	case found.samples == 0:
		return fmt.Sprintf("perf took no sample in the window of %s", time.Duration(toNs-fromNs).Round(time.Millisecond))
	}
	found.symbolise()
	s.Samples, s.Lost = found.samples, found.lost
	if s.Pprof, err = found.pprof(maxPprof); err != nil {
		return "the samples could not be kept: " + short(err.Error())
	}
	return ""
}

// because is the first line that perf said that is worth repeating.
func because(said string) string {
	for line := range strings.Lines(said) {
		if line = short(line); line != "" && !strings.HasPrefix(line, "WARNING") {
			return ": " + line
		}
	}
	return " and said nothing"
}
