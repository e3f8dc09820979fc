package main

import (
	"github.com/spf13/cobra"

	"netdyno/internal/run/rig/pods"
)

// enterCommand stands before every command in a pod of rig k8s. Users never type it.
func enterCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "enter SOCKET POD -- COMMAND [ARGS…]",
		Short: "Run one command in a pod of rig k8s, through the program that holds the pod",
		Args:  cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := pods.Enter(cmd.Context(), args[0], args[1], args[2:], pods.Standard)
			if code != 0 || err != nil {
				return &status{code, err}
			}
			return nil
		},
	}
}
