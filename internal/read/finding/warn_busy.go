package finding

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// warnBusy says in one line that the machine was not the run's alone: before it, and
// in its trials by the largest shares that the hypervisor and other processes took.
func warnBusy(s *cells.Dataset, before []string) []record.Warning {
	flags := trial.Flags()
	flag := flags[slices.IndexFunc(flags, func(f trial.Flag) bool { return f.Name == trial.BusyMachine })]
	stolen := func(t trial.Trial) float64 { return t.Values[metric.HostSteal] }
	used := func(t trial.Trial) float64 { return t.Others }
	found := lostShare(s, used, 0, "in %d of %d trials other processes used the CPUs, up to %s of their time")
	turned := len(s.Arms) > 1 && (len(found) > 0 || len(before) > 0) // before, and so probably throughout
	found = append(found, lostShare(s, stolen, trial.StealShare, "in %d of %d trials the hypervisor took CPU time, up to %s of it")...)
	const most = 3 // hosts; a mesh may have hundreds
	found = append(found, before[:min(len(before), most)]...)
	if more := len(before) - most; more > 0 {
		found = append(found, fmt.Sprintf("and %d more like it", more))
	}
	if len(found) == 0 {
		return nil
	}
	changes := flag.Changes
	if turned {
		changes = "arms may compare the other way, " + changes
	}
	return []record.Warning{{About: flag.Name, Text: changes + ": " + strings.Join(found, "; "), Advice: flag.Advice}}
}

// lostShare counts the valid trials that lost more than so much of the CPUs' time, and
// says how much one lost at most; nothing where none did.
func lostShare(s *cells.Dataset, of func(trial.Trial) float64, least float64, format string) []string {
	n, most := 0, 0.0
	for _, v := range s.Trials {
		if share := of(v.Trial); v.Trial.Status == trial.Valid && share > least {
			n, most = n+1, max(most, share)
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf(format, n, len(s.Trials), quantity.FormatShare(most))}
}
