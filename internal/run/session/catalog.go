package session

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/generate"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// Discover finds the workers beside this executable, then on PATH, and those of
// every build that the trials have.
func Discover(ctx context.Context, trials []record.Trial) (*bench.Catalog, error) {
	return new(Workers).Catalog(ctx, trials)
}

// Workers are the workers of this host, each asked once what it offers. The zero value
// has asked none; one goroutine may use it.
type Workers struct{ catalog *bench.Catalog }

// Catalog is Discover, which asks no worker twice.
func (w *Workers) Catalog(ctx context.Context, trials []record.Trial) (*bench.Catalog, error) {
	if w.catalog == nil {
		directories, err := places()
		if err != nil {
			return nil, err
		}
		found := bench.Discover(ctx, directories)
		if ctx.Err() != nil { // what is absent now is so because nobody waited for it
			return nil, context.Cause(ctx)
		}
		w.catalog = &found
	}
	catalog := w.catalog
	for _, t := range trials {
		directory := t.Levels["build"]
		if directory == "" || catalog.Builds[directory] != nil {
			continue
		}
		if err := catalog.Build(ctx, directory); err != nil {
			return nil, err
		}
	}
	return catalog, nil
}

// places are the directories in which workers are looked for, in order.
func places() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return append([]string{filepath.Dir(self)}, filepath.SplitList(os.Getenv("PATH"))...), nil
}

// HostProgram is the name of the program that runs start on hosts, beside netdyno or on PATH.
const HostProgram = "netdyno-host"

// hostProgram returns its path.
func hostProgram() (string, error) {
	directories, err := places()
	if err != nil {
		return "", err
	}
	for _, d := range directories {
		if path, err := filepath.Abs(filepath.Join(d, HostProgram)); err == nil {
			if path, err = exec.LookPath(path); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("no %s was found beside netdyno or on PATH; `make build` puts it into bin/", HostProgram)
}

// ownLimits reports why netdyno itself cannot start the plan's workers; nil when it
// can. Without this, too few descriptors look like workers that do not exist.
func (s *Session) ownLimits() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of descriptors: %w", err)
	}
	workers, each := 0, 0
	for _, k := range s.Kinds {
		workers = max(workers, k.Servers+k.Clients)
		if s.request.Rig == rig.LoopbackName { // those of other hosts have limits of their own
			each = max(each, needsOf(k.Work).Files())
		}
	}
	if err := doctor.OwnFiles(limit.Max, workers, each); err != nil {
		return err
	}
	if s.request.Rig != rig.LoopbackName {
		workers = 0
	}
	return RoomForTasks(workers)
}

// RoomForTasks refuses to begin where fewer threads and processes may begin than netdyno and
// so many workers of this host need: Go's runtime ends with a crash when it gets none.
func RoomForTasks(workers int) error {
	left, by, limited := rig.TasksLeft()
	return doctor.Tasks(left, by, limited, workers)
}

// needsOf is what a trial needs of a host that has all of its workers.
func needsOf(work study.Work) doctor.Needs {
	n := doctor.Needs{Connections: (work.Load.Connections + work.Clients - 1) / max(work.Clients, 1), Clients: work.Clients}
	if work.ServerOptions["address"] == "" { // what runs already has limits of its own
		n.Servers = work.Servers
	}
	return n
}

// OnLoopback returns a bench on loopback over netdyno and its workers in a
// directory, where `make build` puts them. It fails when there are no workers.
func OnLoopback(ctx context.Context, bin string) (*bench.Bench, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	catalog := bench.Discover(ctx, []string{bin})
	if len(catalog.Programs) == 0 {
		return nil, fmt.Errorf("find workers: no file in %s is named %s*; `make build` puts them into bin", bin, bench.WorkerPrefix)
	}
	return BenchOf(bin, &catalog), nil
}

// BenchOf returns a bench on loopback over the workers of catalog, with the meter
// in directory bin.
func BenchOf(bin string, catalog *bench.Catalog) *bench.Bench {
	return &bench.Bench{Rig: rig.Loopback{}, Catalog: catalog, Meter: []string{filepath.Join(bin, HostProgram), "meter"}}
}

// TrialsOf returns the trials of a study as it is typed, those of its further
// looks left out, and the header of its run, as far as the study makes it.
func TrialsOf(args ...string) (record.Header, []record.Trial, error) {
	s, err := source.ParseArgs(args, os.ReadFile)
	if err != nil {
		return record.Header{}, nil, err
	}
	trials, _, err := s.Plan()
	return record.Header{Schema: record.Schema, Study: study.Summary(s)}, study.Before(trials, s.Blocks), err
}

// Conduct carries out trials and returns their records, one of each, without a
// directory. It sets b.Keep and b.Messages.
func Conduct(ctx context.Context, b *bench.Bench, trials []record.Trial) ([]record.Record, error) {
	var records []record.Record
	b.Keep = func(r record.Record) error { records = append(records, r); return nil }
	var err error
	if b.Messages, err = resolveMessages(ctx, trials); err != nil {
		return nil, err
	}
	if err := b.Run(ctx, trials); err != nil {
		return records, err
	}
	if len(records) != len(trials) {
		return records, fmt.Errorf("%d trials left %d records", len(trials), len(records))
	}
	return records, nil
}

// compile makes the catalog offer workers with generated code for every message
// of the user's that a trial encodes as protobuf. All workers of such a message
// are built, those of other codecs too: what is compared is to come from one
// compiler. Where they cannot be built the message is encoded by reflection, and
// the plan is warned with the reason. A dry run builds nothing and warns of what
// will be built. say is told what is being built.
func (p *Plan) compile(ctx context.Context, catalog *bench.Catalog, say func(string), dry bool) error {
	builder := generate.Builder{Say: say}
	for _, level := range slices.Sorted(maps.Keys(p.Messages)) {
		m := p.Messages[level]
		workers, err := p.carriers(catalog, level)
		if err != nil {
			return err
		}
		if len(m.Descriptors) == 0 || len(workers) == 0 {
			continue
		}
		if dry {
			p.Warnings = append(p.Warnings, foretold(ctx, builder, m, workers)...)
			continue
		}
		built, err := builder.Build(ctx, m, workers)
		if err == nil {
			err = catalog.Message(ctx, level, built)
		}
		if stopped := context.Cause(ctx); stopped != nil {
			return stopped
		}
		if err != nil {
			p.Warnings = append(p.Warnings, byReflection(m, err))
		}
	}
	return nil
}

// carriers returns the workers of all trials with a message that can be built
// again; none when no trial encodes it as protobuf.
func (p *Plan) carriers(catalog *bench.Catalog, level string) ([]generate.Worker, error) {
	var all []generate.Worker
	protobuf := false
	for _, k := range p.Kinds {
		if k.Message != level {
			continue
		}
		protobuf = protobuf || k.Exchange.Codec == "proto"
		for _, program := range catalog.Carriers(k.Work) {
			if program.Hello.Source == "" {
				continue
			}
			sum, err := program.SHA256()
			if err != nil {
				return nil, err
			}
			worker := generate.Worker{Path: program.Path, SHA256: sum, Source: program.Hello.Source}
			if !slices.Contains(all, worker) {
				all = append(all, worker)
			}
		}
	}
	if !protobuf {
		return nil, nil
	}
	return all, nil
}

// foretold warns of what a run will do that is only planned now.
func foretold(ctx context.Context, b generate.Builder, m contract.Structure, workers []generate.Worker) []record.Warning {
	there, err := b.Built(ctx, m, workers)
	switch {
	case err != nil:
		return []record.Warning{byReflection(m, err)}
	case there:
		return nil
	}
	return []record.Warning{{About: "message", Text: "workers with the generated code of " + generate.Types(m) + " will be built when the run begins (once)"}}
}

func byReflection(m contract.Structure, err error) record.Warning {
	return record.Warning{
		About: "message",
		Text:  fmt.Sprintf("%s goes by reflection, so codecs will not be compared: %v", generate.Types(m), err),
		Advice: "put the Go that netdyno was built with on PATH, with the modules that it was built from (docs/messages.md), " +
			"so that netdyno can build workers with the generated code",
	}
}
