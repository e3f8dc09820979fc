package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

func studiesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "studies",
		Short: "List the built-in studies",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			for _, name := range source.List() {
				s, err := source.Named(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "%s\t%s\n", name, s.Question)
			}
			return w.Flush()
		},
	}
	c.AddCommand(&cobra.Command{
		Use:   "show NAME",
		Short: "Print a built-in study, to copy and change",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := source.Text(args[0])
			if err != nil {
				return err
			}
			_, err = stdout.Write(text)
			return err
		},
	}, &cobra.Command{
		Use:   "factors",
		Short: "List every factor that a study may hold or vary",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			for _, f := range study.Factors() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, f.Default, f.Doc)
			}
			return w.Flush()
		},
	})
	return c
}
