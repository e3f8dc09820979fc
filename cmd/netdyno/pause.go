package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/run/rig/containers"
)

// pauseCommand is the first process of a container of rig podman, docker or k8s. Users never
// type it.
func pauseCommand() *cobra.Command {
	var lease time.Duration
	c := &cobra.Command{
		Use:   "pause",
		Short: "Be the first process of a container until stdin ends; kill all others for each empty line of it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return containers.Pause(cmd.Context(), os.Stdin, stdout.passing(), lease)
		},
	}
	c.Flags().DurationVar(&lease, "lease", 0, "end when no line comes for this long (0: never), and speak when spoken to")
	return c
}
