package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/session"
)

func doctorCommand() *cobra.Command {
	var seats string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what on a host would disturb a measurement, and how to fix it",
		Long: `Say what on this host would disturb a measurement, why, by which source, and the
command that fixes it. It changes nothing. With --rig, ask every host of the rig.`,
		Example: `  netdyno doctor
  netdyno doctor --rig ssh:node76,node73`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if seats == "" {
				host := rig.Here()
				return examine([]doctor.Named{{Name: host.Values["host.name"], Facts: host}})
			}
			hosts, err := session.Survey(cmd.Context(), seats, ends.hold)
			if err != nil {
				return err
			}
			return examine(hosts)
		},
	}
	c.Flags().StringVar(&seats, "rig", "", "ask every host of this rig: "+strings.Join(arrange.Forms(), ", "))
	completeFlags(c, map[string]cobra.CompletionFunc{"rig": completeRig})
	return c
}

// examine prints the advice for all hosts, what several share once.
func examine(hosts []doctor.Named) error {
	var all []doctor.Advice
	holders := make(map[doctor.Advice][]string)
	for _, h := range hosts {
		for _, a := range doctor.Advise(h.Facts) {
			if holders[a] == nil {
				all = append(all, a)
			}
			holders[a] = append(holders[a], h.Name)
		}
	}
	slices.SortStableFunc(all, func(a, b doctor.Advice) int { return cmp.Compare(b.Severity, a.Severity) })
	for _, a := range all {
		at := ""
		if len(hosts) > 1 {
			at = strings.Join(holders[a], ", ")
		}
		printAdvice(a, at)
	}
	switch {
	case len(all) > 0:
	case len(hosts) > 1:
		fmt.Fprintln(stdout, "nothing on these hosts is known to disturb a measurement")
	default:
		fmt.Fprintln(stdout, "nothing on this host is known to disturb a measurement")
	}
	printDevices(hosts)
	if doctor.Distorts(all) {
		return &status{statusUnmet, nil}
	}
	return nil
}

// printDevices lists the devices for RDMA and the GPUs of every host.
func printDevices(hosts []doctor.Named) {
	for _, h := range hosts {
		devices := doctor.Devices(h.Facts)
		if len(devices) == 0 {
			devices = []string{"no RDMA device and no GPU"}
		}
		for _, line := range devices {
			stdout.say("%s: %s", h.Name, line)
		}
	}
}

func printAdvice(a doctor.Advice, at string) {
	stdout.say("%s  %s: %s", a.Severity, a.About, a.What)
	if at != "" {
		stdout.say("  at      %s", at)
	}
	fmt.Fprintf(stdout, "  why     %s\n", a.Why)
	if a.Fix != "" {
		fmt.Fprintf(stdout, "  fix     %s\n", a.Fix)
	}
	fmt.Fprintf(stdout, "  source  %s\n\n", a.Source)
}
