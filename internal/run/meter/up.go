package meter

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/beat"
	"netdyno/internal/run/meter/usage"
)

// up carries the worker's messages to the bench. It runs in one goroutine.
type up struct {
	reader   *usage.Reader
	tree     usage.Tree
	orphans  *orphans
	marks    *marks
	tcp      *connections
	udp      *datagrams
	sampler  *sampler
	beat     *beat.Watch  // from the first mark on, before the load
	windowNs func() int64 // as the setup says
	server   *attached    // that the worker stands for; nil as a rule
	others   *strangers   // that may answer in the place of a program that the worker started; nil as a rule
	out      io.Writer
	log      io.Writer
	begun    *startUp
	opened   bool  // the window was; a worker may hold a program that it has started until then
	stopped  bool  // the bench was told of a process that is
	peak     int64 // largest peak RSS so far: a zombie has forgotten its own
}

// errGone is a bench that no longer takes messages.
var errGone = errors.New("the bench takes no more messages")

// pass carries messages until the worker's stdout ends (nil), the bench is
// gone (errGone) or a line breaks the contract (*contract.LineError).
func (u *up) pass(stdout io.Reader) error {
	defer func() { u.beat.End() }()
	for lines := newLines(stdout); ; {
		line, err := lines.nextLine()
		switch {
		case errors.Is(err, errLong):
			return lineError(line, errLong.Error())
		case err != nil && len(line) > 0:
			return lineError(line, "the stream ended in the middle of a line")
		case err != nil:
			return nil // the end of stdout is the end of the worker's word, however it came
		}
		if line, err = u.decorate(line); err != nil {
			return err
		}
		if _, err := u.out.Write(line); err != nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
	}
}

// introduced notes a worker's hello.
func (u *up) introduced(name string, line []byte) {
	if name == "hello" {
		u.begun.saidHello()
		u.udp.hello(line)
	}
}

// decorate returns the line as the bench shall see it. Only lines that cross a
// window edge are parsed, and those only after the reading was taken.
func (u *up) decorate(line []byte) ([]byte, error) {
	name := key(line)
	var reading *contract.Meter
	switch name {
	case "tick", "hello", "error":
		u.introduced(name, line)
		return line, nil
	case "ready", "mark", "part", "result":
		if name == "mark" && u.marks.latest() == contract.WarmingMark {
			return u.warming(line)
		}
		reading = u.readMeter()
	}
	m, err := contract.Parse(line)
	if err != nil {
		return nil, err
	}
	if m.Meter != nil {
		return nil, lineError(line, `the key "meter" is the meter's own`)
	}
	switch m.Name() {
	case "tick", "hello", "error":
		return line, nil // with its key not in the first place
	case "ready", "mark", "part", "result":
	default:
		return nil, lineError(line, m.Name()+" does not come from a worker")
	}
	if reading == nil {
		reading = u.readMeter()
	}
	if reading == nil {
		return line, nil
	}
	switch {
	case m.Ready != nil:
		reading = u.readied(m.Ready, reading)
	case m.Mark != nil:
		reading = u.marked(m.Mark, reading)
	case m.Part != nil:
		reading.Beat = u.beat.SoFar()
	default:
		reading.TCP, reading.UDP = u.account(false)
		reading.Sampled = u.sampler.taken()
		reading.Beat = u.beat.End()
	}
	if u.opened = u.opened || m.Mark != nil && m.Mark.Reset; u.opened {
		u.tellStopped()
	}
	u.beside(m.Mark, reading)
	return u.joined(line, *reading), nil
}

// beside enters what does not belong to the worker itself: the meter's own CPU time, and who
// else answers or serves; mark is nil but at a mark.
func (u *up) beside(mark *contract.Mark, reading *contract.Meter) {
	reading.OwnCPUNs = usage.OwnCPU()
	if u.others != nil {
		if mark != nil && !mark.Reset && !mark.Keep {
			u.others.look(u.processes)
		}
		reading.Attached = u.others.against(u.reader.Unseen())
	}
	if u.server != nil && mark != nil {
		u.server.lookAgain(reading, mark.Reset) // in no account, as what the server costs is
	}
}

// readied learns where a worker listens and whose account its is, and returns the reading
// that belongs to that.
func (u *up) readied(r *contract.Ready, reading *contract.Meter) *contract.Meter {
	u.tcp.ready(r)
	if r.Elsewhere {
		reading = u.attach(r.Addresses, reading)
	} else {
		reading.Start = u.begun.until(reading.AtNs)
		if r.Foreign && u.tcp.setup().Role == contract.Server {
			u.others = strangersAt(r.Addresses, u.tcp.setup())
		}
	}
	if u.tcp.setup().Role == contract.Hop { // the worker that starts it is no part of it
		u.reader.LeaveOut()
		u.peak = 0
		reading = cmp.Or(u.readMeter(), reading)
	}
	u.sampler.ready(u.processes)
	return reading
}

// joined returns the line with the reading: without its samples where they have no room, and
// as it is where the reading has none.
func (u *up) joined(line []byte, reading contract.Meter) []byte {
	decorated, err := withMeter(line, reading)
	if err != nil && reading.Sampled != nil {
		reading.Sampled.Pprof, reading.Sampled.Why = nil, "the result with the samples would be longer than a line may be"
		decorated, err = withMeter(line, reading)
	}
	if err != nil {
		fmt.Fprintln(u.log, "netdyno meter:", err)
		return line
	}
	return decorated
}

// warming adds a brief reading to the answer to a mark that reads while the load warms up:
// there are many of them, and they must not disturb it. Of a server that the worker did
// not start it is whole.
func (u *up) warming(line []byte) ([]byte, error) {
	m, err := contract.Parse(line)
	switch {
	case err != nil:
		return nil, err
	case m.Meter != nil:
		return nil, lineError(line, `the key "meter" is the meter's own`)
	case m.Mark == nil:
		return line, nil
	}
	reading, err := u.reader.Glance(u.orphans.living(&u.tree))
	if u.server != nil {
		if whole := u.readMeter(); whole != nil {
			reading = *whole
		}
	}
	if err != nil {
		fmt.Fprintln(u.log, "netdyno meter:", err)
		return line, nil
	}
	if u.server == nil {
		u.orphans.addTo(&reading.Process)
	}
	reading.SkewNs = u.marks.skew(m.Mark.ID, reading.AtNs)
	return withMeter(line, reading)
}

// marked completes the reading of an answer to a mark; it may be a later one.
func (u *up) marked(mark *contract.Mark, reading *contract.Meter) *contract.Meter {
	if u.beat == nil {
		u.beat = beat.Start(beat.Every(time.Duration(u.windowNs())))
	}
	if mark.Reset && !u.opened {
		u.beat.Look(u.started())
	}
	if u.server != nil && !mark.Reset && u.server.follow() {
		if again := u.readMeter(); again != nil {
			reading = again
		}
	}
	if u.server != nil && u.server.finder != nil && !mark.Reset {
		_, ports := u.server.finder.Ends()
		u.tcp.follows(ports)
	}
	reading.SkewNs = u.marks.skew(mark.ID, reading.AtNs)
	reading.TCP, reading.UDP = u.account(mark.Reset)
	u.sampler.mark(mark.Reset, reading.AtNs)
	return reading
}

// readMeter returns a reading; nil, with a line on stderr, when there is none. The
// message is passed all the same: what its lack means is the reader's to say.
func (u *up) readMeter() *contract.Meter {
	m, err := u.reader.Read(u.orphans.living(&u.tree))
	if err != nil {
		fmt.Fprintln(u.log, "netdyno meter:", err)
		return nil
	}
	u.orphans.addTo(&m.Process)
	if u.server != nil {
		return u.server.readAttached(&m)
	}
	u.peak = max(u.peak, m.Process.PeakRSSBytes)
	m.Process.PeakRSSBytes = u.peak
	return &m
}

// processes returns those that are read now: of the server, or of the worker.
func (u *up) processes() []int {
	if u.server != nil && u.server.account != nil {
		return u.tree.Processes(u.server.server.PIDs)
	}
	return u.reader.Processes(u.orphans.living(&u.tree))
}

// started returns those of them that the worker has started: the kernel tells by itself
// when the worker is stopped.
func (u *up) started() []int {
	return slices.DeleteFunc(u.processes(), func(pid int) bool { return pid == u.orphans.worker })
}

// attach begins to read a server of this host in the place of the worker that
// stands for it.
func (u *up) attach(addresses []string, own *contract.Meter) *contract.Meter {
	if u.server = attach(addresses, u.tcp.setup()); u.server == nil {
		return own
	}
	return u.server.readAttached(own)
}

// tellStopped tells the bench, once, of a process that the worker started and that
// is held: the worker itself goes on answering.
func (u *up) tellStopped() {
	stopped := u.reader.Stopped()
	if len(stopped) == 0 || u.stopped {
		return
	}
	u.stopped = true
	s := stopped[0]
	by := "SIGSTOP"
	if s.Traced {
		by = "by a debugger"
	}
	message := contract.Message{Error: stoppedError(fmt.Sprintf("%s, which the worker started,", s.Name), s.PID, by)}
	_ = contract.NewWriter(u.out).Write(message) // the answer that follows tells when nobody is there
}

// account returns the kernel's counters of the worker's connections. They are read
// after everything else: a thousand of them take longer than all of that.
func (u *up) account(opens bool) (*contract.TCP, *contract.UDP) {
	held := func() map[uint32]bool { return u.reader.Sockets(u.orphans.living(&u.tree)) }
	ends := held
	if u.server != nil && u.server.finder != nil {
		ends = func() map[uint32]bool {
			its, _ := u.server.finder.Ends()
			return its
		}
	}
	tcp, notTCP := u.tcp.readConnections(opens, ends)
	udp, notUDP := u.udp.readDatagrams(held)
	for _, err := range []error{notTCP, notUDP} {
		if err != nil {
			fmt.Fprintln(u.log, "netdyno meter:", err)
		}
	}
	return tcp, udp
}

func lineError(line []byte, reason string) *contract.LineError {
	return &contract.LineError{Line: excerpt(line), Reason: reason}
}

// excerpt keeps as much of a line as an error needs.
func excerpt(line []byte) string {
	const keep = 120
	if len(line) > keep {
		return string(line[:keep]) + "…"
	}
	return string(line)
}

// lines splits a stream into lines of at most contract.MaxLine bytes. One
// goroutine may use it.
type lines struct {
	buf  *bufio.Reader
	long []byte // a line that did not fit into buf
}

func newLines(r io.Reader) *lines { return &lines{buf: bufio.NewReaderSize(r, 64<<10)} }

// errLong is a line longer than contract.MaxLine.
var errLong = fmt.Errorf("longer than %d bytes", contract.MaxLine)

// nextLine returns the next line with its newline, valid until the next call. At
// the end of the stream it returns what is left, perhaps nothing, and io.EOF;
// for a line that is too long its beginning and errLong.
func (l *lines) nextLine() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.buf.ReadSlice('\n')
		if len(l.long)+len(part) > contract.MaxLine {
			return append(l.long, part...), errLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			l.long = append(l.long, part...)
			continue
		}
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		return part, err
	}
}

// key returns a line's message key by its first bytes, without parsing it;
// "" when the line does not begin like an object.
func key(line []byte) string {
	rest := bytes.TrimLeft(line, " \t")
	if len(rest) == 0 || rest[0] != '{' {
		return ""
	}
	rest = bytes.TrimLeft(rest[1:], " \t")
	if len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	name, _, found := bytes.Cut(rest[1:min(len(rest), 1+maxKey)], []byte{'"'})
	if !found {
		return ""
	}
	return string(name)
}

// maxKey bounds the search for a key's closing quote; the longest is "result".
const maxKey = 16

// withMeter returns a message's line with the reading added. The bytes of the
// message stay as the worker wrote them, unknown fields included. The line
// must be a whole JSON object.
func withMeter(line []byte, m contract.Meter) ([]byte, error) {
	reading, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the meter's reading: %w", err)
	}
	body := bytes.TrimSuffix(bytes.TrimRight(line, " \t\r\n"), []byte{'}'})
	if length := len(body) + len(reading) + len(`,"meter":}`) + 1; length > contract.MaxLine {
		return nil, fmt.Errorf("add the meter's reading: the line would have %d bytes, at most %d are allowed", length, contract.MaxLine)
	}
	out := make([]byte, 0, len(body)+len(reading)+16)
	out = append(append(out, body...), `,"meter":`...)
	return append(append(out, reading...), "}\n"...), nil
}
