package usage

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxFile bounds one file of /proc in bytes; a list of 100,000 children fits.
const maxFile = 1 << 20

// tick is the unit of CPU times in /proc in ns. Linux fixes USER_HZ at 100 for
// user space on every architecture Go runs on (time(7)).
const tick = 10_000_000

// procfile reads files of /proc/PID through one reused buffer: a reading opens
// some sixty of them, and the meter shares its worker's CPUs. One goroutine.
type procfile struct {
	path []byte
	text []byte
}

// process returns the content of /proc/PID/NAME, valid until the next call.
func (f *procfile) process(pid int, name string) ([]byte, error) {
	f.path = strconv.AppendInt(append(f.path[:0], "/proc/"...), int64(pid), 10)
	f.path = append(append(f.path, '/'), name...)
	return f.readProc()
}

// stat returns what /proc/PID/stat says; false of a process that has ended.
func (f *procfile) stat(pid int) (stat, bool) {
	text, err := f.process(pid, "stat")
	if err != nil {
		return stat{}, false
	}
	return parseStat(text)
}

// resident returns the resident memory of one process in bytes; 0 when it has ended.
func (f *procfile) resident(pid int) int64 {
	text, err := f.process(pid, "statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	return number(fields[1]) * int64(os.Getpagesize()) // proc_pid_statm(5): size, resident
}

// thread returns the content of /proc/PID/task/TID/NAME, valid until the next
// call.
func (f *procfile) thread(pid, tid int, name string) ([]byte, error) {
	f.path = strconv.AppendInt(append(f.path[:0], "/proc/"...), int64(pid), 10)
	f.path = strconv.AppendInt(append(f.path, "/task/"...), int64(tid), 10)
	f.path = append(append(f.path, '/'), name...)
	return f.readProc()
}

func (f *procfile) readProc() ([]byte, error) {
	path := string(f.path)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }() // opened for reading
	if f.text == nil {
		f.text = make([]byte, 8<<10)
	}
	length := 0
	for {
		n, err := unix.Read(fd, f.text[length:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", path, err)
		case n == 0:
			return f.text[:length], nil
		}
		if length += n; length == len(f.text) {
			if length >= maxFile {
				return nil, fmt.Errorf("read %s: longer than %d bytes", path, maxFile)
			}
			f.text = append(f.text, make([]byte, length)...)
		}
	}
}

// field returns the text after key up to the end of the line, trimmed; nil when no line
// has the key. Keys carry the newline before them, so that a process cannot forge a line
// by its name.
func field(text []byte, key string) []byte {
	_, rest, found := bytes.Cut(text, []byte(key))
	if !found {
		return nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return bytes.TrimSpace(line)
}

// number parses the leading decimal digits; 0 when there are none.
func number(text []byte) int64 {
	var n int64
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int64(c-'0')
	}
	return n
}
