package session

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// ServerRequest says which server of a trial is to stand by itself, and where.
type ServerRequest struct {
	Args        []string          // a study or a file, with keys and levels, without the address
	Bind        string            // host:port
	Certificate string            // file to which the certificate of an encrypting server is written
	Say         func(text string) // told of what takes long; may be nil
	Hold        func()            // called before the server is started; may be nil
}

// Server is one trial's server made ready to stand by itself. One goroutine uses it.
type Server struct {
	Plan
	Catalog *bench.Catalog

	request ServerRequest
}

// PrepareServer makes a server ready. Nothing is written before it listens.
func PrepareServer(ctx context.Context, r ServerRequest) (*Server, error) {
	r.Say = orSilent(r.Say)
	chosen, err := readServer(ctx, r.Args)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(ctx, chosen, &workloads{texts: &texts{}, made: new(Recordings), say: orSilent(nil)})
	if err != nil {
		return nil, err
	}
	if err := plan.onlyOne(); err != nil {
		return nil, err
	}
	s := &Server{Plan: *plan, request: r}
	s.Warnings = nil // those of a study, which this is not
	if s.Catalog, err = Discover(ctx, s.Trials); err != nil {
		return nil, err
	}
	return s, s.compile(ctx, s.Catalog, r.Say, false)
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

// Serve stands the server up until ctx ends, which is no error. observe is told
// of the server when it listens and after every reading. It returns the server's part of
// a record, which holds less where it did not come to an end.
func (s *Server) Serve(ctx context.Context, observe func(record.Worker)) (record.Worker, error) {
	program, err := hostProgram()
	if err != nil {
		return record.Worker{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if s.request.Hold != nil {
		s.request.Hold()
	}
	b := bench.Bench{Rig: rig.Loopback{}, Catalog: s.Catalog, Meter: []string{program, "meter"}, Messages: s.Messages, Workload: s.workloads.enter}
	worker, err := b.Serve(ctx, s.All[0], bench.Standing{Listen: s.request.Bind, Observe: func(w record.Worker) {
		if w.Close == nil && w.Setup.TLS != nil {
			if err := record.WriteFileAtomic(s.request.Certificate, []byte(w.Setup.TLS.Certificate)); err != nil {
				stop(fmt.Errorf("write the server's certificate: %w", err))
			}
		}
		observe(w)
	}})
	if cause := context.Cause(ctx); err == nil && !meant(cause) {
		err = cause // the certificate could not be written
	}
	return worker, err
}

// meant reports whether a server was to end: by the user or by its time.
func meant(cause error) bool {
	return cause == nil || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded)
}
