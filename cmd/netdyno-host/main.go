// Command netdyno-host is what a run starts on the hosts that it measures: the meter before
// every worker, the ends of the floor's measurement, the host's facts, and what holds servers
// on CPUs. It is a program of its own as a trial starts it twice, and starting netdyno takes
// five times the CPU time.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"netdyno/internal/printable"
	"netdyno/internal/run/meter"
)

func main() {
	meter.LeaveNoCore() // nor its workers
	os.Exit(run(os.Args[1:]))
}

// run returns the exit status: 0, that of a worker, or 2 where nothing ran.
func run(args []string) int {
	c := &cobra.Command{
		Use: "netdyno-host", Short: "What a run starts on the hosts that it measures",
		Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
	}
	c.CompletionOptions.DisableDefaultCmd = true
	worker := 0
	c.AddCommand(meterCommand(&worker), floorCommand(), factsCommand(), pinCommand())
	c.SetArgs(args)
	err := c.Execute()
	if err != nil {
		fmt.Fprintln(os.Stderr, "netdyno:", printable.Text(err.Error()))
	}
	if err != nil && worker == 0 {
		return 2
	}
	return worker
}
