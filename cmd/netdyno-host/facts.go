package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"netdyno/internal/printable"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
)

func factsCommand() *cobra.Command {
	var idle, load bool
	c := &cobra.Command{
		Use:   "facts",
		Short: "Print what netdyno records of this host, as JSON",
		Long: `Print what netdyno records of this host, as JSON: docs/facts.md says what each
fact is.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			host := rig.Here()
			if load {
				now, err := doctor.Observe(cmd.Context(), doctor.SampleFor)
				if err != nil {
					return err
				}
				now.AddTo(host)
			}
			if idle {
				rest, err := doctor.Rest(cmd.Context(), doctor.IdleFor)
				if err != nil {
					return err
				}
				rest.AddTo(host)
			}
			return show(cmd, rig.Timed(host).Values)
		},
	}
	c.Flags().BoolVar(&load, "load", true, "watch for 200 ms how busy the host is; --load=false leaves that out")
	c.Flags().BoolVar(&idle, "idle", false, "also measure what the idle host does to a spinning thread and to timers; half a second for each CPU")
	return c
}

// show prints a value as JSON.
func show(c *cobra.Command, value any) error {
	document, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = c.OutOrStdout().Write(append(printable.JSON(document), '\n'))
	return err
}
