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
)

// Discover finds the workers beside this executable, then on PATH, and those of
// every build that the trials have.
func Discover(ctx context.Context, trials []record.Trial) (*bench.Catalog, error) {
	directories, err := places()
	if err != nil {
		return nil, err
	}
	catalog := bench.Discover(ctx, directories)
	if ctx.Err() != nil { // what is absent now is so because nobody waited for it
		return nil, context.Cause(ctx)
	}
	for _, t := range trials {
		directory := t.Levels["build"]
		if directory == "" || catalog.Builds[directory] != nil {
			continue
		}
		if err := catalog.Build(ctx, directory); err != nil {
			return nil, err
		}
	}
	return &catalog, nil
}

// places are the directories in which workers are looked for, in order.
func places() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return append([]string{filepath.Dir(self)}, filepath.SplitList(os.Getenv("PATH"))...), nil
}

// ownLimits reports why netdyno itself cannot start a plan's workers; nil when it
// can. Without this, too few descriptors look like workers that do not exist.
func ownLimits(kinds []Kind) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of descriptors: %w", err)
	}
	workers := 0
	for _, k := range kinds {
		workers = max(workers, k.Servers+k.Clients)
	}
	return doctor.OwnFiles(limit.Max, workers)
}
