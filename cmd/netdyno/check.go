package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/internal/run/check"
)

func checkCommand() *cobra.Command {
	var transports []string
	c := &cobra.Command{
		Use:   "check WORKER [ARGS…]",
		Short: "Check that a worker executable keeps the contract",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			ends.hold()
			outcomes, err := check.Run(cmd.Context(), argv, check.Options{Transports: transports})
			if err != nil {
				return err
			}
			return printOutcomes(outcomes)
		},
	}
	c.Flags().StringSliceVar(&transports, "transport", nil, "check only these transports")
	completeFlags(c, map[string]cobra.CompletionFunc{"transport": completeTransport})
	return c
}

func printOutcomes(outcomes []check.Outcome) error {
	passed, failed, skipped, before := 0, 0, 0, ""
	for _, o := range outcomes {
		name := o.Case
		if o.Transport != "" {
			name = o.Transport + ": " + name
		}
		switch {
		case o.Skipped:
			skipped++
			why := strings.TrimPrefix(o.Text, "not checked: ")
			if why == before {
				why = "as above"
			} else {
				before = why
			}
			stdout.say("  not checked  %s: %s", name, why)
		case o.Pass:
			passed++
			fmt.Fprintf(stdout, "  ok           %s\n", name)
		default:
			failed++
			stdout.say("  FAILED       %s", name)
			stdout.say("               %s", o.Text)
			stdout.say("               CONTRACT.md, section %s", o.Section)
		}
	}
	fmt.Fprintf(stdout, "%d passed, %d failed, %d not checked\n", passed, failed, skipped)
	if failed > 0 {
		return &status{statusUnmet, nil}
	}
	return nil
}
