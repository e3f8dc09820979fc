package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// ServerRequest says which server of a trial is to stand by itself, and where.
type ServerRequest struct {
	Args    []string // a study or a file, with keys and levels, without the address
	Bind    string   // host:port
	Out     Directory
	Version string
	Say     func(text string) // told of what takes long; may be nil
	Hold    func()            // called before the server is started; may be nil
}

// Server is one trial's server made ready to stand by itself. The server's
// directory holds its counts: a record for every time in which a client drove it.
// One goroutine uses it.
type Server struct {
	Plan
	Catalog *bench.Catalog
	Dir     Directory

	request ServerRequest
	header  record.Header
	yaml    []byte
	file    *record.File // nil until the server listens
}

// listenName begins the name of a server's directory under results/.
const listenName = "listen"

// PrepareServer makes a server ready. Nothing is written before it listens, but a
// directory that holds anything is refused now.
func PrepareServer(ctx context.Context, r ServerRequest) (*Server, error) {
	r.Say = orSilent(r.Say)
	chosen, err := readServer(ctx, r.Args)
	if err != nil {
		return nil, err
	}
	for _, hint := range chosen.Renamed() {
		r.Say(hint)
	}
	plan, err := newPlan(ctx, chosen, &workloads{texts: &texts{}, say: orSilent(nil)})
	if err != nil {
		return nil, err
	}
	if err := plan.onlyOne(); err != nil {
		return nil, err
	}
	s := &Server{Plan: *plan, Dir: r.Out, request: r}
	s.Warnings = nil // those of a study, which this is not
	if s.Catalog, err = Discover(ctx, s.Trials); err != nil {
		return nil, err
	}
	if err := s.compile(ctx, s.Catalog, r.Say, false); err != nil {
		return nil, err
	}
	if s.yaml, err = source.YAML(s.Study); err != nil {
		return nil, err
	}
	if s.Dir, err = s.Dir.OrFresh(listenName); err != nil {
		return nil, err
	}
	tools, err := s.tools(s.Catalog)
	if err != nil {
		return nil, err
	}
	host := rig.Loopback{}.Hosts()[0].Name
	s.header = record.Header{
		Netdyno: r.Version, Study: study.Summary(s.Study), Command: append(append([]string{"netdyno", "listen"}, r.Args...), "bind="+r.Bind),
		Facts: record.Facts{Rig: listenName, Seats: map[string]record.Host{host: rig.Here()}, Tools: tools},
	}
	return s, nil
}

// readServer reads the study of a server. One that is named alone is enough: its
// clients are the user's.
func readServer(ctx context.Context, args []string) (*study.Study, error) {
	a, err := source.ReadArguments(args)
	if err != nil {
		return nil, err
	}
	if a.Named() == "" && a.Sets("server") && !a.Sets("client") && !a.Sets("transport") {
		if err := a.Set("listen", "client", a.First("server")); err != nil {
			return nil, err
		}
	}
	return a.Study(input.Within(ctx, source.MaxFile))
}

// onlyOne demands that all trials are alike.
func (p *Plan) onlyOne() error {
	for _, t := range p.All[1:] {
		if !reflect.DeepEqual(t.Levels, p.All[0].Levels) {
			return fmt.Errorf("%s varies %s: one server stands at a time, so name one level of each",
				p.Study.Name, strings.Join(varied(p.All), ", "))
		}
	}
	return nil
}

// varied names the factors in which trials differ.
func varied(trials []record.Trial) []string {
	var names []string
	for _, f := range study.Factors() {
		differs := func(t record.Trial) bool { return t.Levels[f.Name] != trials[0].Levels[f.Name] }
		if slices.ContainsFunc(trials, differs) {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return []string{"options"}
	}
	return names
}

// Opened reports whether the server came to listen, and so has a directory.
func (s *Server) Opened() bool { return s.file != nil }

// Serve stands the server up until ctx ends, which is no error. observe is told
// of the server when it listens and after every reading, segment of every time
// in which it was driven. It returns the server's part of a record, which holds
// less where it did not come to an end. Serve closes the server's file.
func (s *Server) Serve(ctx context.Context, observe func(record.Worker), segment func(record.Record)) (record.Worker, error) {
	self, err := os.Executable()
	if err != nil {
		return record.Worker{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if s.request.Hold != nil {
		s.request.Hold()
	}
	b := bench.Bench{Rig: rig.Loopback{}, Catalog: s.Catalog, Meter: []string{self, "internal", "meter"}, Messages: s.Messages, Workload: s.workloads.enter, Keep: s.keep}
	worker, err := b.Serve(ctx, s.All[0], bench.Standing{Listen: s.request.Bind, Segment: segment, Observe: func(w record.Worker) {
		if w.Close == nil {
			if err := s.openSegment(w); err != nil {
				stop(err)
			}
		}
		observe(w)
	}})
	if cause := context.Cause(ctx); err == nil && !meant(cause) {
		err = cause // the directory could not be made
	}
	if closed := s.close(); err == nil {
		err = closed
	}
	return worker, err
}

// meant reports whether a server was to end: by the user or by its time.
func meant(cause error) bool {
	return cause == nil || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded)
}

// openSegment makes the directory of a server that has come to listen.
func (s *Server) openSegment(w record.Worker) error {
	s.header.CreatedAt, s.header.Listen = time.Now().UTC(), w.Ready.Addresses
	var err error
	if s.file, err = s.Dir.Create(s.yaml, s.header, s.All[:1]); err != nil || w.Setup.TLS == nil {
		return err
	}
	return record.WriteFileAtomic(s.Dir.Certificate(), []byte(w.Setup.TLS.Certificate))
}

// keep makes one record durable.
func (s *Server) keep(r record.Record) error {
	if s.file == nil {
		return errors.New("keep a server's record: its directory is not open")
	}
	return s.file.Append(r)
}

func (s *Server) close() error {
	if s.file == nil {
		_ = os.Remove(string(s.Dir)) // a directory that was made for it is empty; any other stays
		return nil
	}
	return s.file.Close()
}
