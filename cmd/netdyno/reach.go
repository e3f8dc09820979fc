package main

import (
	"os"

	"github.com/spf13/cobra"

	"netdyno/internal/run/rig/pods"
)

// reachCommand tells whether a host is reached at an address, which may be that of a service
// before it. Rig k8s types it.
func reachCommand() *cobra.Command {
	var serve bool
	c := &cobra.Command{
		Use:   "reach [--serve] HOST:PORT",
		Short: "Connect until another netdyno greets there; or, with --serve, be that one",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if serve {
				return pods.Greet(cmd.Context(), args[0], os.Stdin, stdout.passing())
			}
			return pods.Reach(cmd.Context(), args[0])
		},
	}
	c.Flags().BoolVar(&serve, "serve", false, "listen there and greet, until stdin ends")
	return c
}
