package main

import (
	"os"

	"github.com/spf13/cobra"

	"netdyno/internal/run/hold"
)

// holdCommand is what a run starts on a host whose settings a trial changes.
func holdCommand() *cobra.Command {
	var address string
	c := &cobra.Command{
		Use:   "hold [--address ADDRESS] KEY[=VALUE]…",
		Short: "Set sysctls of the network, or an MTU, until stdin ends; then put them back",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, settings []string) error {
			here, err := hold.Host(address)
			if err != nil {
				return err
			}
			ends.hold() // a first signal ends it in order: everything is put back
			return here.Hold(cmd.Context(), settings, os.Stdin, stdout.passing())
		},
	}
	c.Flags().StringVar(&address, "address", "127.0.0.1", "address of the interface that mtu is of")
	return c
}
