package main

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/doctor"
)

// ownLimits reports why netdyno itself cannot start a plan's workers; nil when it
// can. Without this, too few descriptors look like workers that do not exist.
func (p *plan) ownLimits() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of descriptors: %w", err)
	}
	workers := 0
	for _, k := range p.kinds {
		workers = max(workers, k.Work.Servers+k.Work.Clients)
	}
	return doctor.OwnFiles(limit.Max, workers)
}
