package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// printChoices says what can be run: the studies with their questions and about how
// long each takes here, a server by its URL, and a study that is typed.
func printChoices() error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "netdyno run STUDY\ttakes\tand asks")
	for _, name := range source.List() {
		s, err := source.Named(name)
		if err != nil {
			return err
		}
		takes, err := timeOfStudy(s)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", name, takes, s.Question)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprint(stdout, `
netdyno run http://127.0.0.1:8080/                    your own server, by its URL
netdyno run transport=go-net,asio connections=50      a study that you type: netdyno studies factors
netdyno run my-study.yaml                             a study of yours: netdyno studies show event-loops
`)
	return nil
}

// timeOfStudy estimates how long a study takes, to its first look and in all.
func timeOfStudy(s *study.Study) (string, error) {
	trials, _, err := s.Plan()
	if err != nil {
		return "", err
	}
	about := func(trials []record.Trial) string { return quantity.Roughly(session.Expected(trials)) }
	all := trials
	if len(s.Further) > 0 {
		all = study.Before(trials, s.Blocks)
	}
	if len(s.OwnLooks) > 1 {
		return about(study.Before(trials, s.OwnLooks[0])) + " to " + about(all), nil
	}
	return about(all), nil
}

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

		ValidArgsFunction: completeStudyName,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := source.Text(args[0])
			if err != nil {
				return err
			}
			_, err = stdout.passing().Write(text)
			return err
		},
	}, &cobra.Command{
		Use:   "factors",
		Short: "List every factor that a study may hold or vary, and every key of its file",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			for _, f := range study.Factors() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, f.Default, f.Doc)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(stdout, "\nKeys of a study file, and what they are on a command line:")
			for _, k := range source.Keys() {
				typed := ""
				if k.Typed != "" {
					typed = k.Typed + "="
				}
				fmt.Fprintf(w, "%s\t%s\t%s: %s\n", k.Name, typed, k.Form, k.Doc)
			}
			return w.Flush()
		},
	}, expectedCommand())
	return c
}
