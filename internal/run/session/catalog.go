package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// Discover finds the workers beside this executable, then on PATH, and those of
// every build that the trials have.
func Discover(ctx context.Context, trials []record.Trial) (*bench.Catalog, error) {
	return new(Workers).Catalog(ctx, trials)
}

// Workers are those of this host, which are asked once what they offer. The zero value
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
		if s.request.Rig == rig.LoopbackName && !leftToHosts(s.All) { // those of other hosts have limits of their own
			each = max(each, needsOf(k.Work).Files())
		}
	}
	return doctor.OwnFiles(limit.Max, workers, each)
}

// needsOf is what a trial needs of a host that has all of its workers.
func needsOf(work study.Work) doctor.Needs {
	n := doctor.Needs{Connections: (work.Load.Connections + work.Clients - 1) / max(work.Clients, 1), Clients: work.Clients}
	if work.ServerOptions["address"] == "" { // what runs already has limits of its own
		n.Servers = work.Servers
	}
	return n
}
