package input

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFilesAreReadWithinTheirBound(t *testing.T) {
	read := Within(t.Context(), 5)
	if text, err := read(file(t, "12345")); err != nil || string(text) != "12345" {
		t.Errorf("read %q, %v; want all of a file at the bound", text, err)
	}
	if _, err := read(file(t, "123456")); err == nil || !strings.Contains(err.Error(), "has 6 bytes; expected at most 5") {
		t.Errorf("error %v, want that the file has 6 bytes", err)
	}
	if text, err := read(file(t, "")); err != nil || len(text) != 0 {
		t.Errorf("read %q, %v; want nothing of an empty file", text, err)
	}
	if _, err := read(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that there is no such file", err)
	}
	// The kernel's own files have no size and yet more than five bytes.
	if _, err := read("/proc/self/status"); err == nil || !strings.Contains(err.Error(), "more than 5 bytes") {
		t.Errorf("error %v, want that the file has more than 5 bytes", err)
	}
}

// A file of a terabyte is refused without reading it.
func TestAHugeFileIsNotRead(t *testing.T) {
	name := file(t, "")
	if err := os.Truncate(name, 1<<40); err != nil {
		t.Skip("the file system has no sparse files of a terabyte:", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Within(t.Context(), 1<<20)(name)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "1099511627776 bytes") {
		t.Errorf("error %v, want the file's size", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes were allocated to refuse a file", got)
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, want := range map[string]string{
		"/dev/zero": "it is a device; expected a file", "/dev/full": "it is a device", "/dev/ptmx": "it is a device",
		t.TempDir(): "it is a directory; expected a file", socket: "it is a socket",
	} {
		for what, read := range map[string]func(string) error{
			"Within":       func(n string) error { _, err := Within(t.Context(), 1<<10)(n); return err },
			"Open":         func(n string) error { _, err := Open(n); return err },
			"OpenToAppend": func(n string) error { _, err := OpenToAppend(n); return err },
		} {
			if err := read(name); err == nil || what != "OpenToAppend" && !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %s: %v, want %q", what, name, err, want)
			}
		}
	}
	if _, err := Open(fifo(t)); err == nil || !strings.Contains(err.Error(), "it is a pipe; expected a file") {
		t.Errorf("a FIFO: %v, want that it is refused at once", err)
	}
}

func TestAPipeIsReadUntilItsWritersAreGone(t *testing.T) {
	name := fifo(t)
	written := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(name, os.O_WRONLY, 0) // waits until it is read
		if err == nil {
			_, err = w.WriteString("one ")
		}
		if err == nil {
			_, err = w.WriteString("two")
			w.Close()
		}
		written <- err
	}()
	text, err := Within(t.Context(), 100)(name)
	if err != nil || string(text) != "one two" {
		t.Errorf("read %q, %v", text, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestAPipeIsBounded(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() { // until the reader has had enough
		defer w.Close()
		for {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	}()
	_, err = Within(t.Context(), 5000)("/dev/fd/" + fd(r))
	if err == nil || !strings.Contains(err.Error(), "more than 5000 bytes") {
		t.Errorf("error %v, want that there are more than 5000 bytes", err)
	}
}

// fd is a descriptor's number as text; Fd would make the pipe block.
func fd(f *os.File) (number string) {
	raw, err := f.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { number = strconv.Itoa(int(fd)) })
	}
	if err != nil {
		return ""
	}
	return number
}

// Nobody writes, or somebody who never ends: the context does.
func TestAWaitEndsWithItsContext(t *testing.T) {
	silent := fifo(t)
	w, err := os.OpenFile(silent, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString("half a stu"); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"without a writer": fifo(t), "with a writer that is silent": silent} {
		why := errors.New("told to end")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := Within(ctx, 100)(path)
			ended <- err
		}()
		select {
		case err := <-ended:
			t.Errorf("%s: it ended by itself: %v", name, err)
		case <-time.After(100 * time.Millisecond): // long enough to be inside the wait; a shorter one tests less
		}
		cancel(why)
		if err := <-ended; !errors.Is(err, why) {
			t.Errorf("%s: error %v, want the context's cause", name, err)
		}
	}
}
