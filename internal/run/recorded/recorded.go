// Package recorded makes recorded traffic of logs: when requests came, of
// which class each was, how much went up and down, and, only when asked for, which path
// it named. Bodies, headers, addresses and query strings are never kept. Everything is a
// stream: memory does not grow with the number of requests.
package recorded

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"netdyno/internal/each"
	"netdyno/internal/printable"
	"netdyno/internal/quantity"
	"netdyno/internal/traffic"
)

// Format is a kind of log.
type Format struct {
	Name, Doc string
	parser    func() parser // of a line; nil of a format that is read whole
	entries   func(from *bufio.Reader, visit func(number int, s seen, why reason) error) error
}

// formats are all of them; a new one is a file and a line here.
var formats = []Format{
	{Name: "nginx", Doc: "access log in the common or combined form, as nginx and Apache write it", parser: func() parser { return new(accessLog).parse }},
	{Name: "jsonl", Doc: "one JSON object a line, of time, method, path, status, up, down, class", parser: func() parser { return parseJSON }},
	{Name: "har", Doc: "an HTTP archive, as browsers save it", entries: harEntries},
}

// Formats returns all formats. The caller owns the slice.
func Formats() []Format { return slices.Clone(formats) }

// Named returns a format, or an error with the nearest name.
func Named(name string) (Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	names := each.Of(formats, func(f Format) string { return f.Name })
	return Format{}, fmt.Errorf("unknown format %q; %s", quantity.Clip(name, 40), quantity.Hint(name, names))
}

// Options say how a format is read and what is kept.
type Options struct {
	Paths   bool     // keep paths, without their query strings
	Methods []string // keep requests of these alone; none for all
	Only    []string // keep those alone whose path, or URL, has one of these texts; none for all
}

// Input is a file that is read, and its name for errors.
type Input struct {
	Name string
	From io.Reader
}

// parser takes a line apart, or says why it is no request. One goroutine uses it.
type parser func(line []byte) (seen, reason)

// reason says why a line is left out, in words that are the same for the same cause.
type reason string

const (
	foreign  reason = "not of this format"
	noTime   reason = "without a time that can be read"
	noMethod reason = "without a method of HTTP that can be replayed"
	noNumber reason = "with a number that cannot be read"
	noPath   reason = "with a path that cannot be asked for"
	tooLong  reason = "too long"
	goesBack reason = "earlier than what was written already; name the oldest file first"
	notOver  reason = "that the client gave up, or that became another protocol"
	noClass  reason = "with a class beyond the first 64"
	noRoom   reason = "with a body of more than 8 MiB, or beyond the 64 MiB and the paths that a recording holds"
	notAsked reason = "that --methods or --only does not name"
)

// seen is a request as a log shows it.
type seen struct {
	at       int64 // ns since 1970, begin or end
	grain    int64 // ns; what the log tells times to
	ended    bool  // at is the end
	takes    int64 // ns
	method   string
	path     string
	status   int
	up, down int64
	class    string // where the log names it
	known    bool   // what it carried is
	body     []byte // then; nil for nothing
	media    string // its type
}

// Summary is what became of a log.
type Summary struct {
	Requests   int64
	From       time.Time // of the first request
	Span       time.Duration
	Grain      time.Duration // the coarsest time of a request
	Classes    []Class
	Paths      int
	PathsLeft  int64  // requests whose path came after the most that are kept
	Bodies     int    // different ones, that are kept
	NotAsked   int64  // requests that Options leave out
	Hosts      []Host // that requests named, the most frequent first; none where none was named
	Sorted     int64  // requests that came after a later one
	LeftOut    []Left
	FirstShown []string // of those, printable
}

// Class is a class of requests.
type Class struct {
	Name, Method string
	Status       int // that replies had; 0 for any 2xx
	Requests     int64
	Up, Down     int64 // bytes in all
	MostUp       int64 // bytes of one
	MostDown     int64
	Known        int64 // requests whose bodies are known, and sent again
}

// Host is how many requests named a host.
type Host struct {
	Name     string // with scheme and port, printable
	Requests int64
}

// Left is how many lines were left out for a reason.
type Left struct {
	Why   string
	Count int64
}

// mostLine bounds a line, in bytes. A longer one is read past and left out.
const mostLine = 256 << 10

// mostShown is how many of the lines that are left out are shown.
const mostShown = 10

// maker makes one file. One goroutine uses it.
type maker struct {
	ctx     context.Context
	options Options
	order   sorting
	classes classes
	left    map[reason]int64
	lines   int64
	s       Summary
}

// Output is where recorded traffic goes. Spool takes the requests until their classes are
// known, and is read from its beginning then.
type Output struct {
	Spool io.ReadWriteSeeker
	To    io.Writer
}

// Make reads the inputs in order and writes recorded traffic.
func Make(ctx context.Context, f Format, inputs []Input, o Options, to Output) (Summary, error) {
	buffered := bufio.NewWriterSize(to.Spool, 1<<18)
	m := &maker{ctx: ctx, options: o, left: map[reason]int64{}, classes: newClasses(o)}
	m.order.to = traffic.NewWriter(buffered)
	for _, in := range inputs {
		if err := m.readInput(f, in); err != nil {
			return Summary{}, fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	if err := m.order.flush(); err != nil {
		return Summary{}, err
	}
	if err := buffered.Flush(); err != nil {
		return Summary{}, err
	}
	if m.summarise(); m.s.Requests == 0 {
		return m.s, fmt.Errorf("no request could be read: %s", m.s.leftOut())
	}
	if _, err := to.Spool.Seek(0, io.SeekStart); err != nil {
		return m.s, err
	}
	return m.s, traffic.Assemble(to.To, m.s.header(f.Name, o), m.classes.paths, m.classes.carried, to.Spool)
}

func (m *maker) readInput(f Format, in Input) error {
	text := bufio.NewReaderSize(in.From, mostLine)
	if begin, _ := text.Peek(2); string(begin) == "\x1f\x8b" {
		plain, err := gzip.NewReader(text) // nothing of it stays open
		if err != nil {
			return err
		}
		text = bufio.NewReaderSize(plain, mostLine)
	}
	if f.entries != nil {
		return f.entries(text, func(number int, s seen, why reason) error { return m.enter(in.Name, number, s, why, nil) })
	}
	parse := f.parser()
	return eachLine(text, func(number int, line []byte, long bool) error {
		s, why := seen{}, tooLong
		if !long {
			s, why = parse(line)
		}
		return m.enter(in.Name, number, s, why, line)
	})
}

// enter takes a request, or refuses what is none or comes too late.
func (m *maker) enter(file string, number int, s seen, why reason, line []byte) error {
	if why == "" {
		why, line = m.take(s), nil
	}
	if why == notAsked {
		m.s.NotAsked++
	} else if why != "" {
		if line == nil {
			path, _, _ := strings.Cut(s.path, "?")
			line = []byte(s.method + " " + path)
		}
		m.refuse(file, number, why, line)
	}
	return cmp.Or(m.order.err, m.alive())
}

// alive tells now and then that the command shall end.
func (m *maker) alive() error {
	if m.lines++; m.lines%1024 == 0 && m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	return nil
}

// refuse counts a line that is left out, and shows the first ones.
func (m *maker) refuse(file string, line int, why reason, text []byte) {
	if m.left[why]++; len(m.s.FirstShown) < mostShown {
		shown := printable.Text(quantity.Clip(string(text[:min(len(text), 400)]), 100))
		m.s.FirstShown = append(m.s.FirstShown, fmt.Sprintf("%s:%d: %s: %s", file, line, why, shown))
	}
}

// take enters a request, or says why not.
func (m *maker) take(s seen) reason {
	if s.ended {
		s.at -= s.takes
	}
	at := s.at + within(s.grain, uint64(m.lines))
	if m.order.late(at) {
		return goesBack
	}
	r, why := m.classes.enter(s)
	if why == "" {
		m.s.Grain = max(m.s.Grain, time.Duration(s.grain))
		m.order.add(s.at, at, r)
	}
	return why
}

// within returns a time in a grain, evenly likely: a log that tells whole seconds does
// not say when in them. n is splitmix64's state.
func within(grain int64, n uint64) int64 {
	if grain <= 1 {
		return 0
	}
	z := (n + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int64((z ^ z>>31) % uint64(grain))
}

func (m *maker) summarise() {
	m.s.Requests, m.s.Sorted = m.order.written, m.order.sorted
	m.s.From, m.s.Span = time.Unix(0, m.order.first).UTC(), time.Duration(m.order.last-m.order.first)
	m.s.Classes, m.s.Paths, m.s.PathsLeft, m.s.Bodies = m.classes.all, len(m.classes.byPath), m.classes.pathsLeft, len(m.classes.carried)
	for why, n := range m.left {
		m.s.LeftOut = append(m.s.LeftOut, Left{string(why), n})
	}
	for name, n := range m.classes.hosts {
		m.s.Hosts = append(m.s.Hosts, Host{printable.Text(name), n})
	}
	slices.SortFunc(m.s.Hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(m.s.LeftOut, func(a, b Left) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Why, b.Why))
	})
}

// leftOut says how many lines were left out, and why.
func (s Summary) leftOut() string {
	all := each.Of(s.LeftOut, func(l Left) string { return fmt.Sprintf("%d %s", l.Count, l.Why) })
	if len(all) == 0 {
		return "there is none"
	}
	return strings.Join(all, ", ")
}

// LeftOutWords says how many lines were left out, and why; "" for none.
func (s Summary) LeftOutWords() string {
	if len(s.LeftOut) == 0 {
		return ""
	}
	return s.leftOut()
}

// HostsWords says that requests named several hosts, of which a replay asks one; "" where
// they did not.
func (s Summary) HostsWords() string {
	if len(s.Hosts) < 2 {
		return ""
	}
	const most = 3
	shown := each.Of(s.Hosts[:min(most, len(s.Hosts))], func(h Host) string { return fmt.Sprintf("%s %d", quantity.Clip(h.Name, 60), h.Requests) })
	if n := len(s.Hosts) - most; n > 0 {
		shown = append(shown, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("requests named several hosts (%s), and a replay asks one for all: --only %s/ keeps those of one", strings.Join(shown, ", "), quantity.Clip(s.Hosts[0].Name, 60))
}

// header is the text of the file, which is a workload file's.
func (s Summary) header(format string, o Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Recorded traffic, made by netdyno record %s. What follows the line of dots is no text.\n", format)
	fmt.Fprintf(&b, "recorded:\n  version: 1\n  requests: %d\n  lasts: %dns\n  from: %s\n", s.Requests, s.Span.Nanoseconds(), s.From.Format(time.RFC3339Nano))
	fmt.Fprintf(&b, "  grain: %dns # times are known to this; within it requests were placed evenly likely\n", s.Grain.Nanoseconds())
	b.WriteString("classes:\n")
	for _, c := range s.Classes {
		fmt.Fprintf(&b, "  - {name: %s, requests: %d, up: %dB, down: %dB, most_up: %dB, most_down: %dB", quoted(c.Name), c.Requests, c.Up, c.Down, c.MostUp, c.MostDown)
		if c.Method != "" {
			fmt.Fprintf(&b, ", method: %s", c.Method)
		}
		if c.Status != 0 {
			fmt.Fprintf(&b, ", status: %d", c.Status)
		}
		if c.Known != 0 {
			fmt.Fprintf(&b, ", bodies: %d", c.Known)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// quoted is a text as YAML has it between quotes: JSON's escapes are YAML's.
func quoted(text string) string { return fmt.Sprintf("%q", printable.Text(text)) }
