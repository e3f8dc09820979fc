// Command netdyno-host is what a run starts on the hosts that it measures: the meter before
// every worker, the ends of the floor's measurement, the host's facts, and what holds servers
// on CPUs. It is a program of its own as a trial starts it twice, and starting netdyno takes
// five times the CPU time.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"netdyno/internal/printable"
	"netdyno/internal/run/meter"
)

// ended is that a worker ended with another status than 0.
type ended struct {
	code int
	err  error
}

func (e *ended) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

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
	c.AddCommand(meterCommand(), floorCommand(), factsCommand(), pinCommand())
	c.SetArgs(args)
	err := c.Execute()
	if err == nil {
		return 0
	}
	if said := err.Error(); said != "" {
		fmt.Fprintln(os.Stderr, "netdyno:", printable.Text(said))
	}
	if of := (*ended)(nil); errors.As(err, &of) {
		return of.code
	}
	return 2
}
