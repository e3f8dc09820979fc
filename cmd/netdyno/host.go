package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/internal/input"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/hold"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/session"
)

func factsCommand() *cobra.Command {
	var idle, load bool
	c := &cobra.Command{
		Use:   "facts",
		Short: "Print what netdyno records of this host, as JSON",
		Long: `Print what netdyno records of this host, as JSON: docs/facts.md says what each
fact is. netdyno doctor FILE reads it, here or anywhere else.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			host := rig.Here()
			if load {
				now, err := doctor.Observe(cmd.Context(), doctor.SampleFor)
				if err != nil {
					return err
				}
				now.AddTo(host)
			}
			if idle {
				rest, err := doctor.Rest(cmd.Context(), doctor.IdleFor)
				if err != nil {
					return err
				}
				rest.AddTo(host)
			}
			return showJSON(rig.Timed(host).Values)
		},
	}
	c.Flags().BoolVar(&load, "load", true, "watch for 200 ms how busy the host is; --load=false leaves that out")
	c.Flags().BoolVar(&idle, "idle", false, "also measure what the idle host does to a spinning thread and to timers; half a second for each CPU")
	return c
}

func doctorCommand() *cobra.Command {
	var seats string
	var putBack bool
	c := &cobra.Command{
		Use:   "doctor [FACTS.json…]",
		Short: "Say what on a host would disturb a measurement, and how to fix it",
		Long: `Say what on this host would disturb a measurement, why, by which source, and the
command that fixes it. It changes nothing, but for --put-back: what a run had set on
this host (sysctl. factors, link.mtu) and could not put back, as it was killed with
its holder, is put back.

With files, examine the hosts whose facts they hold: as netdyno internal facts prints them,
or a run's facts.json. With --rig, ask every host of the rig. For several hosts it
also says how they differ, and whether that matters.`,
		Example: `  netdyno doctor
  netdyno doctor results/line-rate-20260102-150405/facts.json
  ssh node73 netdyno internal facts > node73.json; netdyno doctor node73.json node76.json
  netdyno doctor --rig ssh:node76,node73`,
		ValidArgsFunction: completeFiles("json"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if putBack {
				return putSettingsBack()
			}
			hosts, err := hosts(cmd.Context(), files, seats)
			if err != nil {
				return err
			}
			return examine(hosts)
		},
	}
	c.Flags().StringVar(&seats, "rig", "", "ask every host of this rig: "+strings.Join(arrange.Forms(), ", "))
	c.Flags().BoolVar(&putBack, "put-back", false, "put back what a killed run had set on this host, and do nothing else")
	c.MarkFlagsMutuallyExclusive("rig", "put-back")
	completeFlags(c, map[string]cobra.CompletionFunc{"rig": completeRig})
	return c
}

// putSettingsBack puts back what killed runs had set here.
func putSettingsBack() error {
	here, err := hold.Host("127.0.0.1")
	if err != nil {
		return err
	}
	all, err := here.PutBack()
	for _, setting := range all {
		fmt.Fprintln(stdout, "put back", setting)
	}
	if len(all) == 0 && err == nil {
		fmt.Fprintln(stdout, "nothing is left to be put back")
	}
	return err
}

// hosts are the hosts that the command line names: recorded, of a rig, or
// this one.
func hosts(ctx context.Context, files []string, seats string) ([]doctor.Named, error) {
	switch {
	case seats != "" && len(files) > 0:
		return nil, errors.New("give files of facts, or --rig, not both")
	case seats != "":
		return session.Survey(ctx, seats, ends.hold)
	case len(files) == 0:
		host := rig.Here()
		return []doctor.Named{{Name: host.Values["host.name"], Facts: host}}, nil
	}
	var all []doctor.Named
	for _, name := range files {
		text, err := input.Within(ctx, doctor.MaxFactsFile)(name)
		if err != nil {
			return nil, fmt.Errorf("facts: %w", err)
		}
		hosts, err := doctor.ReadFacts(text, name)
		if err != nil {
			return nil, err
		}
		all = append(all, hosts...)
	}
	return all, nil
}

// examine prints the advice for all hosts, what several share once, and then
// what they differ in.
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
	if len(hosts) > 1 {
		unlike := doctor.Differ(hosts)
		fmt.Fprintf(stdout, "== between the %d hosts\n\n", len(hosts))
		for _, a := range unlike {
			printAdvice(a, "")
		}
		if len(unlike) == 0 {
			fmt.Fprintln(stdout, "no fact of theirs differs")
		}
		all = append(all, unlike...)
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
