package finding

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/history"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// warnFewSamples names metrics that were asked about and exist in some of an arm's
// trials only: those in which most was done are no sample of all. One that no
// trial has is refused instead.
func warnFewSamples(s *cells.Dataset, f Findings) []record.Warning {
	var asked []string
	for _, m := range metric.All() {
		if s.Primary(m.Name) || slices.ContainsFunc(f.Requirements, func(r compare.Requirement) bool { return r.Metric == m.Name }) {
			asked = append(asked, m.Name)
		}
	}
	var all []record.Warning
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			for _, metric := range asked {
				if t, found := compare.MissingIn(s, cell.Name, arm.Name, metric); found && t.Trials < t.Of {
					all = append(all, record.Warning{
						About:  compare.FewSamples,
						Text:   fmt.Sprintf("%s is absent from %d of %d trials of %s", part.Label(metric), t.Trials, t.Of, s.Names.WithinAt(arm.Name, cell.Name)),
						Advice: t.Want() + ": lengthen the window, or compare a percentile nearer to the middle",
					})
				}
			}
		}
	}
	return all
}

// warner says what a reader must know of one thing.
type warner func(*cells.Dataset, Findings) []record.Warning

// warn returns what a reader of the findings must know: the planner's
// warnings first, then what the records showed.
func warn(s *cells.Dataset, f Findings) []record.Warning {
	all := slices.Concat(s.Warned, s.Stray, warnRetired(s), warnAgain(s), warnBusy(s, f.Comparisons, s.Busy))
	for _, h := range f.Headlines() {
		all = append(all, h.Warnings...)
	}
	for _, of := range f.scopeOf().warnings {
		all = append(all, of(s, f)...)
	}
	return all
}

// warnRetired names what an earlier version asked of the run and this one does not evaluate.
func warnRetired(s *cells.Dataset) []record.Warning {
	if len(s.Retired) == 0 {
		return nil
	}
	return []record.Warning{{
		About:  "expect",
		Text:   "not evaluated, as an earlier netdyno wrote it: " + quantity.And(s.Retired),
		Advice: "figures and comparisons are; run the study again: its conditions now stand under expect",
	}}
}

// warnAgain counts the trials that were disturbed and made again, with what disturbed most
// of them.
func warnAgain(s *cells.Dataset) []record.Warning {
	trials, causes, most := map[string]bool{}, map[string]int{}, ""
	for _, a := range s.Again {
		trials[a.Trial] = true
		if causes[a.Why]++; causes[a.Why] > causes[most] {
			most = a.Why
		}
	}
	if len(trials) == 0 {
		return nil
	}
	verb, mostly := " were", "because "
	if len(trials) == 1 {
		verb = " was"
	}
	if len(causes) > 1 {
		mostly = "mostly because "
	}
	return []record.Warning{{
		About: "again", Text: quantity.Plural(len(trials), "trial") + verb + " disturbed and made again",
		Advice: mostly + most + "; netdyno explain again says when that is done",
	}}
}

func warnLimits(s *cells.Dataset, f Findings) []record.Warning {
	var limited []string
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			if _, of := cells.LimitedBy(s.Of(cell.Name, arm.Name)); of == contract.Client {
				limited = append(limited, s.Names.WithinAt(arm.Name, cell.Name))
			}
		}
	}
	if len(limited) == 0 {
		return nil
	}
	return []record.Warning{{
		About: "limit", Text: "the client was the limit of " + firstOf(limited),
		Advice: "these rates measure the client: give the clients more CPUs or processes (clients=2), or offer an equal rate to every arm and compare CPU per exchange",
	}}
}

// firstOf names the first of several, and how many others there are.
func firstOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return names[0] + " and " + quantity.Plural(len(names)-1, "other")
}

// warnFlags counts the valid trials that carry each flag, but for those that are summed
// up otherwise. Of one that is invalid no figure is used, and its reason is told.
func warnFlags(s *cells.Dataset, _ Findings) []record.Warning {
	var all []record.Warning
	for _, flag := range trial.Flags() {
		n := flagged(s, flag.Name)
		if n == 0 || slices.Contains([]string{trial.Unfinished, trial.BusyMachine, trial.Onward}, flag.Name) {
			continue
		}
		text := fmt.Sprintf("%d of %d trials %s", n, len(s.Trials), flag.Warning)
		if flag.Name == trial.LateCounters {
			most := 0.0
			for _, v := range s.Trials {
				if v.Trial.Status == trial.Valid {
					most = max(most, v.CostError)
				}
			}
			text += fmt.Sprintf(", at most %s", quantity.FormatShare(most))
		}
		all = append(all, record.Warning{About: flag.Name, Text: text, Advice: flag.Changes + ": " + flag.Advice})
	}
	return all
}

// warnLateRig says once what flag late-counters would say of nearly every trial.
func warnLateRig(s *cells.Dataset, _ Findings) []record.Warning {
	var all []record.Warning
	for _, of := range trial.Lateness(s.Trials) {
		all = append(all, record.Warning{
			About:  trial.LateCounters,
			Text:   fmt.Sprintf("this rig reads CPU counters late: costs may be off by %s", quantity.FormatShare(of.Share)),
			Advice: fmt.Sprintf("that is of the middle one of windows of %s, and only trials later by far are flagged: a window %.1f times as long brings that below the usual margin of 2 %%", of.Window, of.Needed),
		})
	}
	return all
}

// flagged counts the valid trials that carry a flag.
func flagged(s *cells.Dataset, flag string) int {
	n := 0
	for _, v := range s.Trials {
		if v.Trial.Status == trial.Valid && slices.Contains(v.Trial.Flags, flag) {
			n++
		}
	}
	return n
}

// warnNoise names primary metrics on which the baseline differs from itself,
// and cells in which nothing measures that.
func warnNoise(s *cells.Dataset, f Findings) []record.Warning {
	var all []record.Warning
	measured := map[string]bool{}
	for _, n := range f.Noise {
		measured[n.Cell] = true
		if s.Primary(n.Metric) && n.P <= cells.Level {
			all = append(all, record.Warning{
				About:  "noise",
				Text:   fmt.Sprintf("%s of the baseline differs from its own repeat%s: %.3g× (%.3g–%.3g)", part.Label(n.Metric), s.Names.At(n.Cell), n.Ratio, n.Low, n.High),
				Advice: "no difference below that is judged: run more blocks; one such pair in twenty differs by chance, so look for what drifts within blocks where several do",
			})
		}
	}
	unknown := slices.DeleteFunc(slices.Clone(s.Cells), func(cell string) bool { return measured[cell] })
	if len(unknown) > 0 && len(f.Comparisons) > 0 {
		all = append(all, record.Warning{
			About:  "noise",
			Text:   "how far the baseline differs from itself (A/A) is unknown" + s.Names.AtAny(unknown),
			Advice: "fewer than two blocks have both of its trials, and only the margin bounds differences: run more blocks",
		})
	}
	return all
}

// warnDelivery names every arm of the cells whose arms deliver content
// differently, once, by how it does.
func warnDelivery(s *cells.Dataset, f Findings) []record.Warning {
	var mixed, kinds []string
	of := map[string][]string{} // arms' labels by kind
	for _, cell := range f.Cells {
		here := map[string]bool{}
		for _, arm := range cell.Arms {
			here[arm.Delivery] = arm.Delivery != ""
		}
		if delete(here, ""); len(here) < 2 {
			continue
		}
		mixed = append(mixed, cell.Name)
		for _, arm := range cell.Arms {
			if arm.Delivery != "" {
				kinds = withOnce(kinds, arm.Delivery)
				of[arm.Delivery] = withOnce(of[arm.Delivery], s.Names.Within(arm.Name))
			}
		}
	}
	if len(mixed) == 0 {
		return nil
	}
	place := s.Names.At(mixed[0])
	if len(mixed) > 1 {
		place = fmt.Sprintf(" in %d of %d cells", len(mixed), len(f.Cells))
	}
	var how []string
	for _, kind := range kinds {
		how = append(how, kind+": "+strings.Join(of[kind], ", "))
	}
	return []record.Warning{{
		About:  "delivery",
		Text:   "some arms deliver whole messages, some chunks" + place,
		Advice: "a whole message costs a copy that chunks do not (" + strings.Join(how, "; ") + "): compare arms that deliver content alike; netdyno transports NAME says how each does",
	}}
}

func warnPlace(s *cells.Dataset, _ Findings) []record.Warning {
	if s.Facts.Rig != "loopback" {
		return nil
	}
	return []record.Warning{{
		About:  "loopback",
		Text:   "a CPU-bound path in software; it says nothing about network cards",
		Advice: "compare only what software costs here, with frames of 64 KiB; to judge a network, measure across it",
	}}
}

// warnHosts tells in which facts the seats differ from each other, and which
// of them changed while the run went on.
func warnHosts(s *cells.Dataset, _ Findings) []record.Warning {
	facts := s.Facts
	seats := slices.Sorted(maps.Keys(facts.Seats))
	var all []record.Warning
	compare := func(one, other record.Host, about, who, advice string) {
		if differences := record.DiffHosts(one, other); len(differences) > 0 {
			all = append(all, record.Warning{About: about, Text: who + " in " + quantity.Plural(len(differences), "fact"), Advice: history.FirstOf(differences) + ": " + advice})
		}
	}
	for _, seat := range seats[min(1, len(seats)):] {
		compare(facts.Seats[seats[0]], facts.Seats[seat], "hosts", seats[0]+" and "+seat+" differ", "for a result about software alone, use identical hosts")
	}
	for _, seat := range seats {
		if after, known := facts.After[seat]; known {
			compare(facts.Seats[seat], after, "facts", seat+" changed during the run", "find out who changed it, and run again")
		}
	}
	return all
}

// corrected says what is done about other processes where verdicts are given.
func corrected(comparisons []compare.Comparison) string {
	for _, c := range comparisons {
		switch {
		case c.Primary && c.Quiet:
			return fmt.Sprintf("; %s is that of the %d blocks that they left quiet", metric.Shown(c.Metric).Label, c.Blocks)
		case c.Primary && c.EqualShares:
			return "; ratios are corrected for that"
		}
	}
	return ""
}

// warnBusy says that the machine was not the run's alone: in its trials by the largest
// shares that other processes and the hypervisor took, and before it; and that ratios are
// corrected for that, where one is.
func warnBusy(s *cells.Dataset, comparisons []compare.Comparison, before []string) []record.Warning {
	flags := trial.Flags()
	flag := flags[slices.IndexFunc(flags, func(f trial.Flag) bool { return f.Name == trial.BusyMachine })]
	stolen := func(t trial.Trial) float64 { return t.Values.At(metric.HostSteal) }
	used := func(t trial.Trial) float64 { return t.Others }
	found := lostShare(s, used, 0, "other processes used up to %[3]s of the CPUs in %[1]d of %[2]d trials")
	turned := len(s.Arms) > 1 && (len(found) > 0 || len(before) > 0) // before, and so probably throughout
	found = append(found, lostShare(s, stolen, trial.StealShare, "the hypervisor took up to %[3]s of the CPU time in %[1]d of %[2]d trials")...)
	if len(found) > 0 {
		found[0] += corrected(comparisons)
	}
	const most = 3 // hosts; a mesh may have hundreds
	found = append(found, before[:min(len(before), most)]...)
	if more := len(before) - most; more > 0 {
		found = append(found, fmt.Sprintf("and %d more like it", more))
	}
	changes := flag.Changes
	if turned {
		changes = "arms may compare the other way, " + changes
	}
	var all []record.Warning
	for _, text := range found {
		all = append(all, record.Warning{About: flag.Name, Text: text, Advice: changes + ": " + flag.Advice})
	}
	return all
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

// warnUnfinished sums up over the valid trials.
func warnUnfinished(s *cells.Dataset, _ Findings) []record.Warning {
	trials, exchanges, oldest := 0, 0.0, 0.0
	for _, v := range s.Trials {
		if n := v.Trial.Values.At(metric.Unfinished); n > 0 && v.Trial.Status == trial.Valid {
			trials++
			exchanges += n
			oldest = max(oldest, v.Trial.Values.At(metric.UnfinishedAge))
		}
	}
	if trials == 0 {
		return nil
	}
	text := fmt.Sprintf("%s in %d of %d trials were never completed", quantity.FormatCount(exchanges)+" exchanges", trials, len(s.Trials))
	if oldest > 0 {
		text += ", the oldest waited " + quantity.FormatDuration(time.Duration(1000*oldest))
	}
	return []record.Warning{{
		About: trial.Unfinished, Text: text,
		Advice: "they count at the age that they had reached: read figures marked ≥ as lower bounds, and look at what the server did at the end of the window",
	}}
}
