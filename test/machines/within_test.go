package machines

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// This program stands inside a machine, too: as the server that a URL names, and as what
// forbids system calls.
const (
	serve  = "--serve"  // ARGV…: serves on the loopback and runs ARGV, in which URL stands for its own
	forbid = "--forbid" // ERRNO CALL,… ARGV…: becomes ARGV, which is refused these system calls
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case serve:
			os.Exit(served(os.Args[2:]))
		case forbid:
			fmt.Fprintln(os.Stderr, forbidden(os.Args[2], os.Args[3], os.Args[4:]))
			os.Exit(126)
		}
	}
	os.Exit(m.Run())
}

// served runs a command beside a server, and returns its exit status.
func served(argv []string) int {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })) // until this process ends
	}()
	for i, a := range argv {
		if a == "URL" {
			argv[i] = "http://" + l.Addr().String() + "/"
		}
	}
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	return 0
}

// calls are the system calls that machines forbid, by name.
var calls = map[string]uint32{
	"io_uring_setup": unix.SYS_IO_URING_SETUP, "io_uring_enter": unix.SYS_IO_URING_ENTER, "io_uring_register": unix.SYS_IO_URING_REGISTER,
	"perf_event_open": unix.SYS_PERF_EVENT_OPEN,
}

// forbidden has the kernel answer some system calls with an error, as the filter of a
// container does, and becomes the command. It returns only what went wrong.
func forbidden(number, names string, argv []string) error {
	errno, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return err
	}
	code := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}} // struct seccomp_data: nr is first
	for name := range strings.SplitSeq(names, ",") {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: calls[name], SkipTrue: 1}, bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	raw, err := bpf.Assemble(append(code, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}))
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread() // the filter is of a thread, and goes on through exec
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return err
	}
	at, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return unix.Exec(at, argv, os.Environ())
}
