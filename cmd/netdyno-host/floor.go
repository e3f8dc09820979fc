package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/floor"
)

// floorCommand is an end of the measurement with which a run begins. A run starts it.
func floorCommand() *cobra.Command {
	var list string
	c := &cobra.Command{
		Use:   "floor serve ADDRESS CLIENT | floor ask SERVER SOURCE",
		Short: "Be one end of the measurement of what an exchange costs that asks for nothing",
		Long: `Be one end of the measurement of what an exchange costs that asks for nothing:
a run does it where its workers will sit, and records it. serve listens on a port of
ADDRESS, prints it, and serves one client, which must come from CLIENT; ask connects
from SOURCE to a SERVER that serve printed, and prints the times as JSON.`,
		Args: cobra.ExactArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			cpus, err := cpuset.Parse(list)
			if err != nil {
				return err
			}
			switch args[0] {
			case "serve":
				return floor.Serve(args[1], args[2], cpus, os.Stdout)
			case "ask":
				steps, err := floor.Ask(args[1], args[2], cpus)
				if err != nil {
					return err
				}
				return show(c, steps)
			}
			return fmt.Errorf("unknown end %q; expected serve or ask", args[0])
		},
	}
	c.Flags().StringVar(&list, "cpus", "", "CPUs for this end, such as 0,2-3")
	return c
}
