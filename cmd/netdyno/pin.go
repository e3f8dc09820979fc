package main

import (
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

const (
	pinFlag  = "pin-server"
	pinUsage = "for the run, hold the servers on the CPUs that its placement gives to servers"
)

// sayPinned says what --pin-server has done; nothing of a run without it.
func sayPinned(f record.Facts) {
	if f.Pinned() {
		whose := "the server's "
		if f.Standing.Servers > 1 {
			whose = "the servers' "
		}
		stdout.say("%s run on CPU %s for the run, as --pin-server asks", whose+quantity.Plural(f.Standing.Threads, "thread"), cpuset.Format(f.Standing.Plan))
	}
}
