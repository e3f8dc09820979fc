package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

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
	about := func(trials []record.Trial) string { return roughly(session.Expected(trials)) }
	all := trials
	if len(s.Further) > 0 {
		all = study.Before(trials, s.Blocks)
	}
	if len(s.OwnLooks) > 1 {
		return about(study.Before(trials, s.OwnLooks[0])) + " to " + about(all), nil
	}
	return about(all), nil
}

// roughly shows a time as one would say it: "45 s", "16 min", "1.8 h".
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", max(5, d.Round(5*time.Second).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
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
		Short: "List every factor that a study may hold or vary",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			for _, f := range study.Factors() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, f.Default, f.Doc)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(stdout, "\nSettings of the study, typed like factors:")
			for _, s := range source.Settings() {
				fmt.Fprintf(w, "%s\t%s\n", s.Name, s.Doc)
			}
			return w.Flush()
		},
	}, claimsCommand())
	return c
}

// meshStudy is the built-in study that netdyno mesh runs.
const meshStudy = "mesh"

func meshCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "mesh --rig RIG [KEY=LEVEL…]",
		Short: "Measure every pair of a rig's hosts and name those that are not as good as the others",
		Long: `Measure every ordered pair of the hosts of a rig, in several blocks: how much it
streams one way, what that costs in CPU at both ends, and how long a small message
takes there and back. Pairs without a host in common run at the same time, so a
block takes as long as there are hosts, not pairs, until the fabric is full.

The report names hosts, cables, pairs and leaves that are worse than the others,
with their evidence, and shows every pair in a heat map. It is the built-in study
mesh (netdyno studies mesh), and KEY=LEVEL changes it as in netdyno run. Hosts are
all those of the rig, or server.host=A,B,C client.host=A,B,C.`,
		Example: `  netdyno mesh --rig 'netns:8?rate=100Mbit'
  netdyno mesh --rig ssh:node1,node2,node3,node4
  netdyno mesh --rig slurm:32 transport=asio connections=4 blocks=5
  netdyno mesh --rig racks.yaml window=1s --out before-the-change`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeStudy,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), append([]string{meshStudy}, args...), f)
		},
	}
	f.declare(c)
	return c
}
