package finding

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// warnBusy says in one line that the machine was not the run's alone: before it, and
// in its trials by the largest share that the hypervisor took.
func warnBusy(s *cells.Dataset, before []string) []record.Warning {
	flags := trial.Flags()
	flag := flags[slices.IndexFunc(flags, func(f trial.Flag) bool { return f.Name == trial.BusyMachine })]
	var found []string
	if n := flagged(s, flag.Name); n > 0 {
		most := worst(s, func(v *trial.Judged) float64 { return v.Trial.Values["host.steal_share"] })
		found = append(found, fmt.Sprintf("%d of %d trials %s, up to %s", n, len(s.Trials), flag.Warning, quantity.FormatShare(most)))
	}
	const most = 3 // hosts; a mesh may have hundreds
	found = append(found, before[:min(len(before), most)]...)
	if more := len(before) - most; more > 0 {
		found = append(found, fmt.Sprintf("and %d more like it", more))
	}
	if len(found) == 0 {
		return nil
	}
	changes := flag.Changes
	if len(before) > 0 { // and so probably throughout
		changes = "costs may compare the other way, " + changes
	}
	return []record.Warning{{About: flag.Name, Text: changes + ": " + strings.Join(found, "; "), Advice: flag.Advice}}
}
