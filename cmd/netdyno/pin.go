package main

import (
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/pin"
)

const (
	pinFlag  = "pin-server"
	pinUsage = "for the run, hold the servers on the CPUs that its placement gives to servers"
)

// pinCommand is what --pin-server starts. Only the end of its stdin ends it, as whatever ends
// the run ends that.
func pinCommand() *cobra.Command {
	var cpus, pids []int
	c := &cobra.Command{
		Use:   "pin --cpu N… --pid N…",
		Short: "Hold processes on CPUs until stdin ends",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
			return pin.Guard(pids, cpus, contract.Stdin(), stdout.passing())
		},
	}
	c.Flags().IntSliceVar(&cpus, "cpu", nil, "CPUs, rising")
	c.Flags().IntSliceVar(&pids, "pid", nil, "processes, which hold what they start too")
	return c
}

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
