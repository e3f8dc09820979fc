package sampling

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/printable"
)

// The bounds of what is kept of a perf script: whoever names a thread or a
// function may not decide how much memory the meter takes.
const (
	maxText   = 512 << 20 // read, never held
	maxStacks = 50_000
	maxFrames = 100_000
	maxDepth  = 256
	maxName   = 240
)

// frame is a function of a stack, or an address in a file that has no name yet.
type frame struct {
	name string
	file string // contract.KernelMapping for the kernel's
	at   uint64 // in file; 0 where the name is known
}

// stack is what samples have in common. Its frames are numbers of frames, the
// executing function first.
type stack struct {
	thread  string
	frames  []int
	samples int64
	ns      int64
}

// stacks are the samples of a window.
type stacks struct {
	frames        []frame
	byFrame       map[frame]int
	list          []*stack
	byKey         map[string]*stack
	samples, lost int64
}

// parse reads the output of perf script and keeps the samples between two instants. Lines
// that it does not know are passed over: a thread may have any name.
func parse(r io.Reader, fromNs, toNs int64) (*stacks, error) {
	s := &stacks{byFrame: map[frame]int{}, byKey: map[string]*stack{}}
	limited := &io.LimitedReader{R: r, N: maxText}
	lines := bufio.NewReaderSize(limited, 64<<10)
	var now *sample
	for {
		line, err := lines.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // no function is called that
			_, err = lines.ReadSlice('\n')
		}
		switch text := bytes.TrimRight(line, "\r\n"); {
		case len(text) == 0:
			s.addSample(now)
			now = nil
		case text[0] == '\t':
			s.addFrame(now, string(text))
		default:
			s.addSample(now)
			now = s.header(string(text), fromNs, toNs)
		}
		if errors.Is(err, io.EOF) {
			s.addSample(now)
			if limited.N <= 0 {
				return nil, fmt.Errorf("perf script printed more than %d MiB", maxText>>20)
			}
			return s, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// sample is one that is being read.
type sample struct {
	thread string
	ns     int64
	frames []int
}

// header reads the first line of a sample, "COMM PID/TID SECONDS.NS: PERIOD:", nil
// for one outside the window. A name may have spaces, so it is read from the right.
func (s *stacks) header(text string, fromNs, toNs int64) *sample {
	if _, count, found := strings.Cut(text, "PERF_RECORD_LOST lost "); found {
		if n, err := strconv.ParseInt(strings.TrimSpace(count), 10, 64); err == nil && n > 0 {
			s.lost += n
		}
		return nil
	}
	words := strings.Fields(text)
	if len(words) < 3 {
		return nil
	}
	last := len(words) - 1
	period, err := strconv.ParseInt(strings.TrimSuffix(words[last], ":"), 10, 64)
	if err != nil || period <= 0 || period > 1e12 {
		return nil
	}
	seconds, rest, _ := strings.Cut(strings.TrimSuffix(words[last-1], ":"), ".")
	whole, err1 := strconv.ParseInt(seconds, 10, 64)
	part, err2 := strconv.ParseInt(rest, 10, 64)
	if err1 != nil || err2 != nil || len(rest) != 9 || whole < 0 || whole > 1e9 || part < 0 {
		return nil
	}
	if at := whole*1e9 + part; at < fromNs || at > toNs {
		return nil
	}
	return &sample{thread: short(strings.Join(words[:last-2], " ")), ns: period}
}

// addFrame reads "\tADDRESS NAME (FILE)". Frames that are in no file are what
// code without frame pointers leaves, and are passed over.
func (s *stacks) addFrame(to *sample, text string) {
	if to == nil || len(to.frames) == maxDepth {
		return
	}
	digits, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	at, err := strconv.ParseUint(digits, 16, 64)
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, ")"), " (deleted)")
	open := strings.LastIndex(rest, "(")
	if err != nil || open < 0 {
		return
	}
	f := frame{name: strings.TrimSpace(rest[:open]), file: rest[open+1:]}
	unknown := f.name == "" || f.name == "[unknown]"
	switch {
	case at >= 1<<63: // the kernel and its modules
		f.file = contract.KernelMapping
		if unknown {
			f.name = "[kernel, names hidden by kernel.kptr_restrict]"
		}
	case unknown && f.file == "[unknown]":
		return
	case unknown:
		f.name, f.at = "", at
		if len(to.frames) > 0 && at > 0 {
			f.at-- // it is where the call returns to
		}
	}
	f.name, f.file = short(f.name), short(f.file)
	n, known := s.byFrame[f]
	if !known {
		if len(s.frames) == maxFrames {
			f = frame{name: "[more functions than are kept]"}
		}
		if n, known = s.byFrame[f]; !known {
			n = len(s.frames)
			s.frames = append(s.frames, f)
			s.byFrame[f] = n
		}
	}
	to.frames = append(to.frames, n)
}

// addSample files a sample that is whole.
func (s *stacks) addSample(one *sample) {
	if one == nil || one.ns == 0 {
		return
	}
	if len(one.frames) == 0 {
		s.addFrame(one, "\t0 [no stack] ()")
	}
	s.samples++
	s.putStack(one.thread, one.frames, 1, one.ns)
}

func (s *stacks) putStack(thread string, frames []int, samples, ns int64) {
	key := fmt.Sprint(thread, frames)
	at, known := s.byKey[key]
	if !known && len(s.list) >= maxStacks {
		thread, frames = "", frames[:1]
		key = fmt.Sprint(thread, frames)
		at, known = s.byKey[key]
	}
	if !known {
		at = &stack{thread: thread, frames: frames}
		s.list = append(s.list, at)
		s.byKey[key] = at
	}
	at.samples, at.ns = at.samples+samples, at.ns+ns
}

// short makes a name of somebody else's one printable line of bounded length.
func short(text string) string {
	text = printable.Text(strings.TrimSpace(text))
	if len(text) > maxName {
		text = strings.ToValidUTF8(text[:maxName], "") + "…"
	}
	return text
}
