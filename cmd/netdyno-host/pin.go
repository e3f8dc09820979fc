package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/run/pin"
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
			return pin.Guard(pids, cpus, contract.Stdin(), os.Stdout)
		},
	}
	c.Flags().IntSliceVar(&cpus, "cpu", nil, "CPUs, rising")
	c.Flags().IntSliceVar(&pids, "pid", nil, "processes, which hold what they start too")
	return c
}
