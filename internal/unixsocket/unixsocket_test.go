package unixsocket_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"netdyno/internal/unixsocket"
)

func TestWhatIsNoSocket(t *testing.T) {
	for path, want := range map[string]string{
		"":                             "no path",
		"@":                            "no path",
		"/run/\x00":                    "a byte 0",
		"/" + strings.Repeat("x", 107): "108 bytes",
		"@" + strings.Repeat("x", 107): "108 bytes",
	} {
		if _, err := unixsocket.Absolute(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
	directory := t.TempDir()
	file := filepath.Join(directory, "plain")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(directory, "none"): "start the server first",
		directory:                        "is a directory",
		file:                             "is a file",
	} {
		_, err := unixsocket.Dial(t.Context(), net.Dialer{}, path)
		if said := unixsocket.Explain(path, err); err == nil || !strings.Contains(said.Error(), want) {
			t.Errorf("%s: %v, want %q", path, said, want)
		}
	}
}

// A connection waits for its place in the server's queue, as it does over TCP.
func TestDialWaitsForAFullQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b.sock")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	first, err := unixsocket.Dial(t.Context(), net.Dialer{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	short, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := unixsocket.Dial(short, onSecond(cancel), path); !errors.Is(err, syscall.EAGAIN) || !strings.Contains(unixsocket.Explain(path, err).Error(), "as its server lets wait") {
		t.Fatalf("a full queue: %v, want that it is full", err)
	}
	second, err := unixsocket.Dial(t.Context(), onSecond(func() {
		if accepted, _, err := unix.Accept(fd); err == nil {
			_ = unix.Close(accepted)
		}
	}), path)
	if err != nil {
		t.Fatalf("after a place was free: %v", err)
	}
	_ = second.Close()
}

// onSecond is a dialer that does something before its second attempt to connect.
func onSecond(do func()) net.Dialer {
	attempts := 0
	return net.Dialer{Control: func(string, string, syscall.RawConn) error {
		if attempts++; attempts == 2 {
			do()
		}
		return nil
	}}
}
