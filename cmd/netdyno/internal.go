package main

import "github.com/spf13/cobra"

// internalCommand holds what runs start on the hosts of a rig, and people seldom type.
func internalCommand() *cobra.Command {
	c := &cobra.Command{
		Use:    "internal",
		Hidden: true,
		Short:  "What a run starts on the hosts that it measures",
		Args:   cobra.NoArgs,
	}
	c.AddCommand(meterCommand(), floorCommand(), factsCommand(), pinCommand())
	return c
}
