// Package worker is the contract's state machine for transports written in
// Go: it speaks the lines, owns the state, and calls the transport.
//
//	born ─hello→ idle ─setup/ready→ ready ─start→ running ─mark(reset)→ window ─mark, stop/result→ done ─EOF→ exit
//
// One goroutine reads stdin, one runs the client's load, one drives the state.
package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/work/load"
)

// TickEvery is the interval of progress messages.
const TickEvery = 200 * time.Millisecond

// Program is a worker's executable.
type Program struct {
	Name       string
	Transports []load.Transport

	// Sources writes what the program is built from, as package sources does; nil
	// when it cannot be built again for a message of the user's.
	Sources func(to io.Writer) error
}

// Main runs a worker without sources; see Program.Main.
func Main(name string, transports ...load.Transport) {
	Program{Name: name, Transports: transports}.Main()
}

// Main runs a worker on the process's own stdin and stdout and exits. With the
// one argument "sources" it writes its sources to stdout instead.
func (p Program) Main() {
	if p.Sources != nil && len(os.Args) == 2 && os.Args[1] == contract.SourcesArgument {
		if err := p.Sources(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, p.Name+": "+err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	raiseDescriptors()
	os.Exit(p.run(contract.Stdin(), os.Stdout))
}

// Run speaks the contract until in ends and returns the exit status: 0, or 1
// after a fatal error.
func Run(name string, in io.Reader, out io.Writer, transports []load.Transport) int {
	return Program{Name: name, Transports: transports}.run(in, out)
}

func (p Program) run(in io.Reader, out io.Writer) int {
	m := &machine{
		out:        contract.NewWriter(out),
		transports: p.Transports,
		reader:     newReader(),
		prepared:   make(chan prepared, 1),
		finished:   make(chan error, 1),
		settled:    make(chan struct{}, 64),
	}
	m.send(contract.Message{Hello: p.hello()})
	return m.loop(commands(in))
}

func (p Program) hello() *contract.Hello {
	h := &contract.Hello{Contract: contract.Version, Worker: p.Name, Version: "devel"}
	if info, ok := debug.ReadBuildInfo(); ok {
		if p.Sources != nil {
			h.Source = info.Path
		}
		if info.Main.Version != "" {
			h.Version = info.Main.Version
		}
		h.Libraries = append(h.Libraries, contract.Library{Name: "go", Version: info.GoVersion})
		for _, d := range info.Deps {
			h.Libraries = append(h.Libraries, contract.Library{Name: d.Path, Version: d.Version})
		}
	}
	for _, t := range p.Transports {
		h.Transports = append(h.Transports, t.Describe())
	}
	return h
}

// received is a line from the bench or what was wrong with it.
type received struct {
	message contract.Message
	err     error
}

// commands reads lines until EOF closes the channel. Bad lines are delivered,
// not skipped: the bench is told of each.
func commands(in io.Reader) <-chan received {
	lines := make(chan received)
	go func() {
		defer close(lines)
		r := contract.NewReader(in)
		for {
			m, err := r.Read()
			var bad *contract.LineError
			if err != nil && !errors.As(err, &bad) {
				return
			}
			lines <- received{m, err}
			if bad != nil && bad.Torn {
				return
			}
		}
	}()
	return lines
}

// machine is the state of one worker. The loop goroutine owns it.
type machine struct {
	out        *contract.Writer
	transports []load.Transport
	reader     *reader

	setup    *contract.Setup // given; the ends exist once ready
	server   load.Server
	client   load.Client
	results  load.ResultSource // the client's
	prepared chan prepared     // the transport has set up an end, or could not
	started  bool
	stopping bool
	done     bool
	failed   bool
	finished chan error   // the client's Run has returned
	exited   <-chan error // the server has ended by itself; nil for one that cannot
	overdue  <-chan time.Time
	profiler profiler
	parts    []pendingPart // that are yet to be told
	settled  chan struct{} // one of them can be
}

// prepared is what a transport made of a setup: one end, or an error.
type prepared struct {
	server load.Server
	client load.Client
	err    error
}

func (m *machine) loop(lines <-chan received) int {
	ticker := time.NewTicker(TickEvery)
	defer ticker.Stop()
	defer m.close()
	for !m.failed {
		select {
		case line, ok := <-lines:
			if !ok {
				return 0
			}
			if line.err != nil {
				m.complain(contract.Invalid, line.err)
			} else if err := m.handle(line.message); err != nil {
				m.fail(err)
			}
		case p := <-m.prepared:
			m.introduce(p)
		case <-ticker.C:
			m.tick()
		case <-m.settled:
			m.tellPart()
		case err := <-m.finished:
			m.finish(err)
		case err := <-m.exited:
			if !m.done { // its clients may have been the first to end
				m.fail(err)
			}
		case <-m.overdue:
			m.overdue = nil
			m.closeClient()
		}
	}
	return 1
}

func (m *machine) handle(message contract.Message) error {
	switch {
	case message.Setup != nil:
		return m.prepare(*message.Setup)
	case message.Start != nil:
		m.start()
	case message.Mark != nil:
		m.mark(*message.Mark)
	case message.Stop != nil:
		m.stop()
	default:
		m.complain(contract.Invalid, fmt.Errorf("%s is not a command of the bench (CONTRACT.md, section Life)", message.Name()))
	}
	return nil
}

// prepare sets up an end in the background, so that the state machine hears
// EOF while ten thousand connections are being made. What it cannot carry out
// is fatal.
func (m *machine) prepare(setup contract.Setup) error {
	if m.setup != nil {
		m.complain(contract.Invalid, errors.New("setup came twice; a worker serves one trial (CONTRACT.md, section setup)"))
		return nil
	}
	t, err := m.find(setup)
	if err != nil {
		return load.Failure(contract.Unsupported, err)
	}
	if setup.Options, err = Complete(t.Describe(), setup.Role, setup.Options); err != nil {
		return load.Failure(contract.SetupFailed, err)
	}
	if setup.Threads > 0 {
		runtime.GOMAXPROCS(setup.Threads)
	}
	m.setup = &setup
	m.profiler.wanted = setup.Profile
	go func() {
		var p prepared
		if setup.Role.Serves() {
			p.server, p.err = t.Server(setup)
		} else {
			p.client, p.err = t.Client(setup)
		}
		m.prepared <- p
	}()
	return nil
}

// introduce answers setup.
func (m *machine) introduce(p prepared) {
	if p.err != nil {
		m.fail(p.err)
		return
	}
	var ready contract.Ready
	if p.server != nil {
		m.server, ready = p.server, p.server.Ready()
		if s, ok := p.server.(load.Exiter); ok {
			m.exited = s.Exited()
		}
	} else {
		m.client, m.results, ready = p.client, load.ResultSourceOf(p.client), p.client.Ready()
	}
	if ready.Options == nil {
		ready.Options = m.setup.Options
	}
	m.reader.foreign = ready.Foreign
	if ready.Threads == 0 && !ready.Foreign {
		ready.Threads = runtime.GOMAXPROCS(0)
	}
	m.send(contract.Message{Ready: &ready})
}

// ready reports whether an end exists.
func (m *machine) ready() bool { return m.server != nil || m.client != nil }

func (m *machine) find(setup contract.Setup) (load.Transport, error) {
	var names []string
	for _, t := range m.transports {
		d := t.Describe()
		names = append(names, d.Name)
		if d.Name != setup.Transport {
			continue
		}
		if !slices.Contains(d.Roles, setup.Role) {
			return nil, fmt.Errorf("transport %s has no role %q, it has %v", d.Name, setup.Role, d.Roles)
		}
		return t, able(d, setup)
	}
	return nil, fmt.Errorf("no transport %q here; %s", setup.Transport, quantity.Hint(setup.Transport, names))
}

// complain reports a protocol mistake of the bench; the worker lives on.
func (m *machine) complain(kind contract.ErrorKind, err error) {
	m.send(contract.Message{Error: &contract.Error{Kind: kind, Text: err.Error()}})
}

func (m *machine) fail(err error) {
	m.failed = true
	var known *contract.Error
	if !errors.As(err, &known) {
		known = &contract.Error{Kind: contract.SetupFailed, Text: err.Error()}
	}
	known.Fatal = true
	m.send(contract.Message{Error: known})
}

// send writes a message. When stdout is gone the bench is gone, and EOF on
// stdin will end the worker.
func (m *machine) send(message contract.Message) {
	if err := m.out.Write(message); err != nil {
		m.failed = true
	}
}

func (m *machine) closeClient() {
	if m.client != nil {
		_ = m.client.Close() // what it was still doing is already counted as unfinished
	}
}

// close lets go of everything without waiting: the process is about to exit.
func (m *machine) close() {
	m.closeClient()
	if m.server != nil {
		_ = m.server.Close() // the sockets go with the process in any case
	}
}
