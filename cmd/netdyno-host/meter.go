package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/meter"
)

// meterCommand is what stands before every worker's argv. A run starts it. It tells with which
// status the worker ended.
func meterCommand(ended *int) *cobra.Command {
	var cpus, roam, memory string
	var deadline time.Duration
	c := &cobra.Command{
		Use:   "meter [--cpus LIST [--roam LIST]] [--deadline D] [--memory SIZE] -- WORKER [ARGS…]",
		Short: "Run one worker and add to its messages what the kernel knows of it",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			o := meter.Options{Argv: argv, Deadline: deadline, In: contract.Stdin(), Out: os.Stdout, Err: os.Stderr}
			var err error
			if o.CPUs, err = cpuset.Parse(cpus); err != nil {
				return err
			}
			if o.Roam, err = cpuset.Parse(roam); err != nil {
				return err
			}
			if memory != "" {
				if o.MemoryBytes, err = quantity.ParseBytes(memory); err != nil {
					return err
				}
			}
			*ended, err = meter.Run(cmd.Context(), o)
			return err
		},
	}
	c.Flags().StringVar(&cpus, "cpus", "", "CPUs for the worker, such as 0,2-3")
	c.Flags().StringVar(&roam, "roam", "", "CPUs that the worker changes to and back at random times")
	c.Flags().DurationVar(&deadline, "deadline", 0, "kill the worker after this long (0: never)")
	c.Flags().StringVar(&memory, "memory", "", "kill the worker above this resident size, such as 4GiB")
	return c
}
