package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// printBeginning says what a run is about to do, and where its workers sit.
func printBeginning(s *session.Session, r *session.Run, url *said) {
	name := s.Study.Name
	if at := r.Stopped; at != nil {
		fmt.Fprintf(stdout, "%s stopped after %s, where everything was settled: only its probes may be left\n", name, quantity.Plural(at.Blocks, "round"))
	}
	if r.Further > 0 {
		fmt.Fprintf(stdout, "%s goes on to %d rounds\n", name, r.Further)
	}
	if len(url.asked) > 0 {
		url.say(willDo(s, r))
		sayPinned(s.Facts)
		return
	}
	between := ": "
	if name == record.Unnamed { // its title is long
		between = "\n"
	}
	fmt.Fprintf(stdout, "%s%s%s; %s\n", asRead(s).Title(), between, extent(s, r.Left), placements(s))
	sayPinned(s.Facts)
	if words := shorter(s, r.Left); words != "" {
		stdout.say("%s", words)
	}
}

// longRun is from when on a run says how it could be shorter.
const longRun = 10 * time.Minute

// shorter says how long a long run would take with fewer blocks, and with short windows
// too; "" of another, and where neither is free to be chosen.
func shorter(s *session.Session, left []record.Trial) string {
	const fewest, window = 6, "1s" // blocks that can tell arms apart
	few := study.Before(left, fewest)
	if timeOf(s, left) <= longRun || boundOf(s, left) > 0 || s.Study.Steered() || len(few) == 0 {
		return ""
	}
	var ways []string
	if len(few) < len(left) {
		ways = append(ways, fmt.Sprintf("with blocks=%d about %s", fewest, timeOf(s, few)))
	}
	brief := slices.Clone(few)
	for i := range brief {
		brief[i].Levels = maps.Clone(brief[i].Levels)
		brief[i].Levels["window"] = window
	}
	if timeOf(s, brief) < timeOf(s, few)*3/4 {
		ways = append(ways, fmt.Sprintf("with blocks=%d window=%s about %s, and wider intervals", fewest, window, timeOf(s, brief)))
	}
	if quick := s.Study.Name + "-quick"; slices.Contains(source.List(), quick) {
		ways = append(ways, fmt.Sprintf("netdyno run %s is its short version", quick))
	}
	if len(ways) == 0 {
		return ""
	}
	return "shorter: " + strings.Join(ways, "; ")
}

// extent says how much of a plan is left: its trials, blocks and time, from the
// least to the most where the run may end at a look.
func extent(s *session.Session, left []record.Trial) string {
	if bound := searchTime(s); bound > 0 {
		return fmt.Sprintf("a search of at most about %s", bound)
	}
	most := timeOf(s, left)
	for _, blocks := range s.Study.OwnLooks {
		if least := study.Before(left, blocks); blocksOf(least) > 0 && len(least) < len(left) {
			if first := timeOf(s, least); s.Study.SettleS > 0 {
				most = min(most, first+settleTime(s))
			}
			return fmt.Sprintf("%d to %d trials in %d to %d blocks, about %s to %s", len(least), len(left), blocksOf(least), blocksOf(left), timeOf(s, least), most)
		}
	}
	return fmt.Sprintf("%s in %s, about %s", quantity.Plural(len(left), "trial"), quantity.Plural(blocksOf(left), "round"), most)
}

// settleTime is how long the study lets its blocks after the first take; 0 for no bound,
// and of a study with one look, which ends after it.
func settleTime(s *session.Session) time.Duration {
	if len(s.Study.OwnLooks) < 2 {
		return 0
	}
	return time.Duration(s.Study.SettleS * float64(time.Second)).Round(time.Second)
}

// boundOf is how long a run takes at most that ends itself by a time; 0 for another.
func boundOf(s *session.Session, left []record.Trial) time.Duration {
	if bound := settleTime(s); bound > 0 {
		return bound + timeOf(s, study.Before(left, 1))
	}
	return searchTime(s)
}

// searchTime is how long the study lets its search take: that of a rate for each arm. 0 for
// no bound.
func searchTime(s *session.Session) time.Duration {
	seconds := 0.0
	switch race, rates := s.Study.Race, s.Study.Capacity; {
	case race != nil:
		seconds = race.TimeS
	case rates != nil:
		seconds = rates.TimeS * float64(len(study.Before(s.Trials, 1)))
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second)
}

func timeOf(s *session.Session, trials []record.Trial) time.Duration {
	return s.Estimate(trials).Total.Round(time.Second)
}

// blocksOf counts the blocks of trials. Probes are in no block.
func blocksOf(trials []record.Trial) int {
	seen := map[int]bool{}
	for _, t := range trials {
		if !t.Probe && !t.FlatOut {
			seen[t.Block] = true
		}
	}
	return len(seen)
}

// placements says which CPUs each end gets, for each placement of the plan.
func placements(s *session.Session) string {
	if s.Study.Mesh {
		return fmt.Sprintf("every ordered pair of %d hosts, up to %d pairs at the same time", s.Hosts(), s.Hosts()/2)
	}
	var all, standing []string
	for _, p := range s.Placements() {
		for _, peer := range p.Peers {
			if !slices.Contains(standing, peer) {
				standing = append(standing, peer)
			}
		}
	}
	for _, p := range s.Placements() {
		text := fmt.Sprintf("placement %s: server %s, clients %s", p.Kind, seated(s, p.Server), seated(s, p.Clients...))
		switch {
		case len(p.Peers) > 0:
			text = fmt.Sprintf("placement %s: clients %s, the server is what listens on %s", p.Kind, seated(s, p.Clients...), strings.Join(standing, " or "))
			if s.Roams() {
				text += "; the kernel moves that, so clients change to its CPUs and back"
			}
		case s.Hosts() == 1 && len(p.Server.CPUs) == 0:
			text = "placement free: the scheduler chooses CPUs"
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

// seated says where the workers of one role run: "on CPU 1" where there is one
// host, else "at node2 on CPU 1, at node3 on CPU 1".
func seated(s *session.Session, seats ...rig.Seat) string {
	var where []string
	for _, seat := range seats {
		text := "on any CPU"
		if len(seat.CPUs) > 0 {
			text = "on CPU " + cpuset.Format(seat.CPUs)
		}
		if s.Hosts() > 1 {
			text = "at " + seat.Name + " " + text
		}
		if !slices.Contains(where, text) {
			where = append(where, text)
		}
	}
	return strings.Join(where, ", ")
}

// printPlan is the dry run: the plan, its time and its warnings.
func printPlan(s *session.Session) error {
	compare := s.Study.Compare
	fmt.Fprintln(stdout, strings.TrimSuffix(asRead(s).Title()+": "+s.Study.Question, ": "))
	flatOut, perBlock, probes := countTrials(s.Trials)
	block := s.Trials[flatOut : flatOut+perBlock]
	fmt.Fprintf(stdout, "%d trials: %d blocks of %d", len(s.Trials), s.Study.Blocks, perBlock)
	switch {
	case s.Study.Steered():
		fmt.Fprint(stdout, ", of which a run leaves out what it need not know")
	case slices.ContainsFunc(s.Trials, func(t record.Trial) bool { return t.Repeat }):
		fmt.Fprintf(stdout, ", the baseline %q twice in each", compare.Baseline)
	}
	if n := countUnloaded(block); n > 0 {
		fmt.Fprintf(stdout, ", %d of them without load", n)
	}
	if flatOut > 0 {
		fmt.Fprintf(stdout, ", after %d flat out of which rates are shares", flatOut)
	}
	switch {
	case probes == 1:
		fmt.Fprint(stdout, ", and a probe")
	case probes > 1:
		fmt.Fprintf(stdout, ", and %d probes", probes)
	}
	words := "about " + timeOf(s, s.Trials).String()
	if bound := searchTime(s); bound > 0 {
		words = "at most about " + bound.String()
	}
	fmt.Fprintf(stdout, "; %s\n", words)
	printAmounts(s)
	printLooks(s)
	stdout.say("primary: %s; margin %s", strings.Join(compare.Primary, ", "), quantity.FormatShare(compare.Margin))
	fmt.Fprintln(stdout, placements(s))
	for _, w := range s.Warnings {
		stdout.say("! %s: %s", w.About, w.Text)
		if w.Advice != "" {
			stdout.say("  %s", w.Advice)
		}
	}
	fmt.Fprintln(stdout, "\nfirst block, in its order:")
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, t := range block {
		again := ""
		switch {
		case t.Repeat:
			again = "(again)"
		case t.Unloaded:
			again = "(without load)"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", t.ID, t.Cell, t.Arm, again)
	}
	return w.Flush()
}

// countTrials returns the trials flat out, which come first in the plan, those of a block,
// which come then, and the probes after all blocks.
func countTrials(trials []record.Trial) (flatOut, perBlock, probes int) {
	for _, t := range trials {
		switch {
		case t.FlatOut:
			flatOut++
		case t.Probe:
			probes++
		case t.Block == 1:
			perBlock++
		}
	}
	return flatOut, perBlock, probes
}

func countUnloaded(trials []record.Trial) (n int) {
	for _, t := range trials {
		if t.Unloaded {
			n++
		}
	}
	return n
}

// printAmounts says what the estimated time of fixed amounts rests on.
func printAmounts(s *session.Session) {
	e := s.Estimate(s.Trials)
	if e.Guessed == 0 {
		return
	}
	fmt.Fprintf(stdout, "fixed amounts: %d trials of %s exchanges in all", e.Guessed, quantity.FormatCount(e.Exchanges))
	if e.Bytes > 0 {
		whose := ""
		if s.Facts.Calibration != nil {
			whose = "this machine's calibrated "
		}
		fmt.Fprintf(stdout, " and %s, estimated to move at %s%s", quantity.FormatBytes(e.Bytes), whose, quantity.FormatByteRate(s.BytesPerS()))
	}
	fmt.Fprintln(stdout, "; slower arms take longer")
}

// printLooks says after how many rounds a run may stop, when that is, and to which
// it can go on.
func printLooks(s *session.Session) {
	ends := asRead(s).Ends
	looks := ends.Looks
	if len(looks) == 1 {
		return
	}
	var rounds []string
	longest := s.Estimate(s.Trials).Total
	shortest := longest
	for i, level := range ends.Levels() {
		if level == 0 {
			continue
		}
		if looks[i] <= ends.Blocks {
			rounds = append(rounds, fmt.Sprint(looks[i]))
			shortest = min(shortest, s.Estimate(study.Before(s.Trials, looks[i])).Total)
		}
	}
	text := "about " + longest.Round(time.Second).String()
	if shortest < longest {
		text = fmt.Sprintf("about %s to %s", shortest.Round(time.Second), longest.Round(time.Second))
	}
	if len(s.Study.Further) > 0 {
		text += fmt.Sprintf("; --continue goes on to %s rounds", strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Study.Further), " ", ", "), "[]"))
	}
	if len(rounds) == 0 {
		rounds = []string{fmt.Sprint(ends.Blocks)}
	}
	fmt.Fprintf(stdout, "may end after %s rounds, as soon as everything is settled: %s\n", quantity.Or(rounds), text)
}

// asRead is what readers of the run will know of its study.
func asRead(s *session.Session) cells.Plan {
	return cells.PlanOf(record.Header{Study: study.Summary(s.Study)})
}
