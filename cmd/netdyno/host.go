package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
)

func factsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "facts",
		Short: "Print what netdyno records of this host, as JSON",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			host := rig.Collect("/")
			now, err := doctor.Observe(cmd.Context(), doctor.SampleFor)
			if err != nil {
				return err
			}
			now.AddTo(host)
			e := json.NewEncoder(os.Stdout)
			e.SetIndent("", "  ")
			return e.Encode(rig.Timed(host).Values)
		},
	}
}

func doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what on this host would disturb a measurement, and how to mend it",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			advice := doctor.Advise(rig.Collect("/"))
			for _, a := range advice {
				fmt.Printf("%s  %s: %s\n  why     %s\n", a.Severity, a.About, a.What, a.Why)
				if a.Fix != "" {
					fmt.Printf("  fix     %s\n", a.Fix)
				}
				fmt.Printf("  source  %s\n\n", a.Source)
			}
			if len(advice) == 0 {
				fmt.Println("nothing on this host is known to disturb a measurement")
			}
			return nil
		},
	}
}
