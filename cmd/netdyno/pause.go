package main

import (
	"os"

	"github.com/spf13/cobra"

	"netdyno/internal/run/rig/containers"
)

// pauseCommand is the first process of a container of rig podman or docker. Users never
// type it.
func pauseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pause",
		Short: "Be the first process of a container until stdin ends; kill all others for each line of it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return containers.Pause(cmd.Context(), os.Stdin, stdout.passing())
		},
	}
}
