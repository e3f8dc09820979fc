package rig

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"netdyno/internal/contract"
)

// The test binary plays the workers: with this variable set it is one.
const childVariable = "NETDYNO_RIG_CHILD"

var children = map[string]func(){
	"echo": func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"ticks": func() {
		n, _ := strconv.Atoi(os.Args[1])
		out := bufio.NewWriter(os.Stdout)
		for i := range n {
			fmt.Fprintf(out, `{"tick":{"at_ns":%d,"exchanges":0,"received_bytes":0}}`+"\n", i)
		}
		_ = out.Flush()
	},
	"noise": func() {
		fmt.Println("listening on port 4000")
		fmt.Print(strings.Repeat("more noise\n", 1<<17))
	},
	"deaf":  func() { time.Sleep(time.Minute) },
	"exit3": func() { os.Exit(3) },
	"loud":  func() { fmt.Fprint(os.Stderr, strings.Repeat("x", 100_000)+"the end") },
	"family": func() { // a grandchild in the same group, which outlives its parent
		announceGrandchild(&syscall.SysProcAttr{})
	},
	"escape": func() { // a grandchild that leaves the group and holds the pipes
		announceGrandchild(&syscall.SysProcAttr{Setsid: true})
	},
	"parent": func() { // starts a Process and waits to be killed
		p, err := Start([]string{os.Args[0]}, Options{Env: []string{childVariable + "=deaf"}})
		if err != nil {
			panic(err)
		}
		fmt.Println(p.cmd.Process.Pid)
		time.Sleep(time.Minute)
	},
}

func announceGrandchild(attr *syscall.SysProcAttr) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=deaf")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, attr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Printf(`{"error":{"kind":"bug","text":"%d"}}`+"\n", cmd.Process.Pid)
}

func TestMain(m *testing.M) {
	if play := children[os.Getenv(childVariable)]; play != nil {
		play()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func start(t *testing.T, child string, args ...string) *Process {
	t.Helper()
	p, err := Start(append([]string{os.Args[0]}, args...), Options{Env: []string{childVariable + "=" + child}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if p.Wait(10 * time.Second).Running {
			t.Error("the process outlived its test")
		}
	})
	return p
}

func wait(t *testing.T, p *Process) Exit {
	t.Helper()
	exit := p.Wait(20 * time.Second)
	if exit.Running {
		t.Fatal("the process did not end")
	}
	return exit
}

func TestConversation(t *testing.T) {
	p := start(t, "echo")
	for id := range 100 {
		if err := p.Send(contract.Message{Mark: &contract.Mark{ID: id}}); err != nil {
			t.Fatal(err)
		}
		got := <-p.Messages()
		if got.Err != nil || got.Message.Mark == nil || got.Message.Mark.ID != id {
			t.Fatalf("received %+v, expected mark %d", got, id)
		}
	}
	if err := p.SendRaw([]byte("no message\n")); err != nil {
		t.Fatal(err)
	}
	var bad *contract.LineError
	if got := <-p.Messages(); !errors.As(got.Err, &bad) {
		t.Fatalf("received %+v, expected a line error", got)
	}
	p.CloseInput()
	if exit := wait(t, p); exit.Code != 0 || exit.Signal != "" {
		t.Fatalf("exit %+v, expected 0", exit)
	}
	if err := p.Send(contract.Message{Stop: &contract.Stop{}}); err == nil {
		t.Fatal("sending to an ended process succeeded")
	}
	p.Kill()
}

func TestNothingSaidBeforeTheEndIsLost(t *testing.T) {
	const n = 5000
	p := start(t, "ticks", strconv.Itoa(n))
	wait(t, p)
	for i := range n {
		if got := <-p.Messages(); got.Message.Tick == nil || got.Message.Tick.AtNs != int64(i) {
			t.Fatalf("received %+v, expected tick %d", got, i)
		}
	}
	if got, open := <-p.Messages(); open {
		t.Fatalf("received %+v after the last tick", got)
	}
}

func TestFloodIsAnErrorAndBlocksNobody(t *testing.T) {
	p := start(t, "ticks", strconv.Itoa(10*MaxUnread))
	if exit := wait(t, p); exit.Code != 0 {
		t.Fatalf("exit %+v: the worker was stuck or killed", exit)
	}
	n := 0
	for got := range p.Messages() {
		if got.Err == nil {
			n++
			continue
		}
		if !errors.Is(got.Err, ErrFlood) {
			t.Fatal(got.Err)
		}
	}
	if n != MaxUnread {
		t.Fatalf("received %d messages before the flood, expected %d", n, MaxUnread)
	}
}

func TestNoiseEndsTheStreamAndBlocksNobody(t *testing.T) {
	p := start(t, "noise")
	got := <-p.Messages()
	var bad *contract.LineError
	if !errors.As(got.Err, &bad) || !strings.HasPrefix(bad.Line, "listening") {
		t.Fatalf("received %+v, expected the noise as a line error", got)
	}
	if got, open := <-p.Messages(); open {
		t.Fatalf("received %+v after the error", got)
	}
	if exit := wait(t, p); exit.Code != 0 {
		t.Fatalf("exit %+v: the worker was stuck", exit)
	}
}

func TestWorkerThatDoesNotReadCannotHangUs(t *testing.T) {
	p := start(t, "deaf")
	err := p.SendRaw(make([]byte, 1<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "has not read its stdin") {
		t.Fatalf("sending gave %v, expected a deadline", err)
	}
	if exit := p.Wait(time.Millisecond); !exit.Running {
		t.Fatalf("exit %+v, expected it to run", exit)
	}
	p.Kill()
	if exit := wait(t, p); exit.Code != 137 || exit.Signal != "killed" {
		t.Fatalf("exit %+v, expected 137, killed", exit)
	}
}

func TestExitStatusIsKept(t *testing.T) {
	if exit := wait(t, start(t, "exit3")); exit != (Exit{Code: 3}) {
		t.Fatalf("exit %+v, expected code 3", exit)
	}
}

func TestStartSaysWhatItCouldNotStart(t *testing.T) {
	_, err := Start([]string{"/no/such/worker"}, Options{})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "start /no/such/worker") {
		t.Fatalf("error %v", err)
	}
	if _, err := Start(nil, Options{}); err == nil {
		t.Fatal("started nothing")
	}
}

func TestStderrKeepsItsEnd(t *testing.T) {
	p := start(t, "loud")
	wait(t, p)
	text := p.Stderr()
	wantHead := fmt.Sprintf("[%d bytes dropped]\n", 100_000+len("the end")-keepStderr)
	if !strings.HasPrefix(text, wantHead) || !strings.HasSuffix(text, "xthe end") || len(text) != len(wantHead)+keepStderr {
		t.Fatalf("stderr of %d bytes: %.40q … %q", len(text), text, text[len(text)-10:])
	}
}

func TestGroupDiesWithItsLeader(t *testing.T) {
	p := start(t, "family")
	pid := grandchild(t, p)
	wait(t, p)
	gone(t, pid)
}

func TestEscapedDescendantDoesNotHoldTheWait(t *testing.T) {
	p := start(t, "escape")
	pid := grandchild(t, p)
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	if exit := wait(t, p); exit.Code != 0 {
		t.Fatalf("exit %+v", exit)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the descendant is gone (%v), so this test proved nothing", err)
	}
}

func TestProcessDiesWithItsParent(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	_, err = fmt.Fscan(out, &pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
}

func grandchild(t *testing.T, p *Process) int {
	t.Helper()
	got := <-p.Messages()
	if got.Message.Error == nil {
		t.Fatalf("received %+v", got)
	}
	pid, err := strconv.Atoi(got.Message.Error.Text)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// gone waits until the process is dead; one that nobody reaps is dead as a zombie.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 200 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Fatalf("process %d is alive", pid)
}
