package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"netdyno/internal/run/rig"
)

// sumCommand prints the SHA-256 of files. Rig k8s asks it whether the programs of an image
// are those that it has here, where no other program may be.
func sumCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sum FILE…",
		Short: "Print the SHA-256 of files, a line each",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			for _, file := range files {
				sum, err := rig.HashFile(file)
				if err != nil {
					return err
				}
				fmt.Fprintln(stdout, sum)
			}
			return nil
		},
	}
}
