package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// Why says of a run why its arms differ, as far as its probes can tell.
type Why struct {
	Sentences []string `json:"sentences"` // never empty
}

// Reasons says in what the arms differ most on a primary metric, how much of all
// differences the profiles account for, and what one kind of work most arms are busy
// with. Nil without profiles that can tell.
func Reasons(s *cells.Dataset, differences []Difference, profiles []Profile) *Why {
	told := slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool {
		return !d.Whole.Told || d.Source == NoKernel || d.Whole.Base <= 0
	})
	var said []string
	if d := strongest(s, told); d != nil {
		said = append(said, d.labelled(s.Names).cause(len(told) == 1, s.Names.Cell(d.Cell)))
	}
	if len(told) > 1 && slices.ContainsFunc(told, Difference.partly) {
		said = append(said, accounted(told))
	}
	if said = append(said, dominated(s.Names, profiles)...); len(said) == 0 {
		return nil
	}
	return &Why{said}
}

// labelled is the difference with its arms called by their labels.
func (d Difference) labelled(names cells.Names) Difference {
	d.Arm, d.Base = names.Within(d.Arm), names.Within(d.Base)
	return d
}

// Part has the sentences; nothing of nil.
func (w *Why) Part() part.Part {
	p := part.Part{ID: "why", Title: "Why"}
	if w != nil {
		p.Sections = []part.Section{{ID: "why-arms", Title: "In what the arms differ", Sentences: w.Sentences}}
	}
	return p
}

// partly tells whether a part of a difference is told apart from noise.
func (d Difference) partly() bool {
	return slices.ContainsFunc(d.Activities, func(a Change) bool { return a.Told })
}

// strongest is the largest difference; nil for none. Differences of which a part is told
// apart come first, and among equals those on a metric that the study judges.
func strongest(s *cells.Dataset, told []Difference) *Difference {
	var most *Difference
	by := func(d *Difference) float64 {
		size := math.Abs(math.Log(d.Whole.Arm / d.Whole.Base))
		if s.Primary(d.Metric) {
			size += 1e3 // before any other
		}
		if d.partly() {
			size += 1e6
		}
		return size
	}
	for i := range told {
		if d := &told[i]; d.Whole.Arm > 0 && (most == nil || by(d) > by(most)) {
			most = d
		}
	}
	return most
}

func nothing(Change) string { return "" }

// cause is the difference in a reader's words, with what the profile accounts for where
// it is the only one.
func (d Difference) cause(only bool, cell string) string {
	const named = 2 // activities
	scale, unit, per := d.scale()
	in := ""
	if cell != "" {
		in = " at " + cell
	}
	parts := d.parts(nothing)
	if len(parts) == 0 {
		text := fmt.Sprintf("The %s of %s spends %s %s %s CPU per %s than that of %s%s", d.End, d.Arm, scale.Format(math.Abs(d.Whole.Difference)), unit, comparative(d.Whole.Difference), per, d.Base, in)
		var seems []string
		for _, a := range d.Activities { // the largest first
			if a.Difference*d.Whole.Difference > 0 && len(seems) < named {
				seems = append(seems, Spoken(a.Name))
			}
		}
		if len(seems) > 0 {
			text += ", most of it as it seems in " + quantity.And(seems)
		}
		return text + fmt.Sprintf("; %s of each arm cannot tell that from noise.", quantity.Plural(d.Pairs, "probe"))
	}
	text := fmt.Sprintf("The %s of %s spends %s per %s than that of %s%s", d.End, d.Arm, quantity.And(parts[:min(named, len(parts))]), per, d.Base, in)
	if only {
		return text + "; " + accounted([]Difference{d})
	}
	return text + "."
}

// explained is what the activities that are told apart add up to, and of what.
func (d Difference) explained() (parts, whole float64) {
	for _, a := range d.Activities {
		if a.Told {
			parts += a.Difference
		}
	}
	return parts, d.Whole.Difference
}

// accounted says of all differences how much the profiles account for.
func accounted(told []Difference) string {
	if len(told) == 0 {
		return ""
	}
	least, most, pairs := 1.0, 0.0, told[0].Pairs
	for _, d := range told {
		parts, whole := d.explained()
		share := max(0, min(1, parts/whole))
		least, most, pairs = min(least, share), max(most, share), min(pairs, d.Pairs)
	}
	rest := fmt.Sprintf("the rest is below what %s of each arm can tell.", quantity.Plural(pairs, "probe"))
	percent := func(x float64) string { return fmt.Sprintf("%.0f", 100*x) }
	switch {
	case len(told) == 1 && least == 0:
		return "the profile accounts for 0 % of the difference in CPU time; " + rest
	case len(told) == 1:
		scale, unit, _ := told[0].scale()
		parts, whole := told[0].explained()
		return fmt.Sprintf("the profile accounts for %s of the %s %s; %s", scale.Format(math.Abs(parts)), scale.Format(math.Abs(whole)), unit, rest)
	case percent(least) == percent(most):
		return fmt.Sprintf("The profiles account for %s %% of the %d differences in CPU time; %s", percent(least), len(told), rest)
	}
	return fmt.Sprintf("The profiles account for %s to %s %% of the %d differences in CPU time; %s", percent(least), percent(most), len(told), rest)
}

// dominating are kinds of work that a user can have less of, each with the share of an
// end's CPU time from which on it is said, and how.
var dominating = []struct {
	activities []string
	words      string
	from       float64
	advice     string
}{
	{[]string{"kernel: polling, wakeups", "scheduler"}, "wake-ups (the kernel's and those of goroutines)", 0.33,
		"more exchanges in flight on fewer connections, larger messages, or an end that polls instead of sleeping, have fewer of them for the same work"},
	{[]string{"kernel: copying", "copying"}, "copying bytes", 0.33,
		"sending from files or without copying (sendfile, MSG_ZEROCOPY), and fewer layers with buffers of their own, copy less"},
	{[]string{"tls"}, "encryption", 0.25,
		"a cipher that this CPU has instructions for, encryption by the kernel or the card, or a path that needs none, takes it away"},
	{[]string{"garbage collection", "allocation"}, "allocating memory and collecting garbage", 0.2,
		"buffers that are used again and fewer small objects need less of it; in Go a larger GOGC trades memory for it"},
}

// dominated says which work is much of the CPU time, where, and what would change it.
func dominated(names cells.Names, profiles []Profile) []string {
	var said []string
	for _, kind := range dominating {
		least, most := 1.0, 0.0
		var where []busyEnd
		for _, p := range profiles {
			share := 0.0
			for _, s := range p.Shares {
				if slices.Contains(kind.activities, s.Activity) {
					share += s.Share
				}
			}
			if share < kind.from || p.Source == NoKernel {
				continue
			}
			least, most = min(least, share), max(most, share)
			if at := (busyEnd{p.Arm, p.End}); !slices.Contains(where, at) {
				where = append(where, at)
			}
		}
		if len(where) == 0 {
			continue
		}
		share := fmt.Sprintf("%.0f to %.0f %%", 100*least, 100*most)
		if low, high, _ := strings.Cut(strings.TrimSuffix(share, " %"), " to "); low == high {
			share = low + " %"
		}
		said = append(said, fmt.Sprintf("Of the CPU time of %s, %s is %s: %s.", busyEnds(names, where, profiles), share, kind.words, kind.advice))
	}
	return said
}

// busyEnd is an end of an arm that one kind of work takes much time of.
type busyEnd struct{ arm, end string }

// busyEnds names ends of arms, as few words as it can: "the servers of every arm", where
// the profiles are of several arms; "both ends of a and the server of b".
func busyEnds(names cells.Names, where []busyEnd, profiles []Profile) string {
	var arms, all []string
	ends := map[string][]string{} // that are busy, by arm
	for _, p := range profiles {
		if !slices.Contains(all, p.Arm) {
			all = append(all, p.Arm)
		}
	}
	for _, b := range where {
		if ends[b.arm] == nil {
			arms = append(arms, b.arm)
		}
		ends[b.arm] = append(ends[b.arm], b.end)
		slices.Sort(ends[b.arm])
	}
	alike := !slices.ContainsFunc(arms, func(arm string) bool { return !slices.Equal(ends[arm], ends[arms[0]]) })
	if alike && len(arms) > 1 && len(arms) == len(all) {
		if len(ends[arms[0]]) > 1 {
			return "both ends of every arm"
		}
		return "the " + ends[arms[0]][0] + "s of every arm"
	}
	var said []string
	for _, arm := range arms {
		which := "the " + ends[arm][0]
		if len(ends[arm]) > 1 {
			which = "both ends"
		}
		said = append(said, which+" of "+names.Within(arm))
	}
	if len(said) < 4 {
		return quantity.And(said)
	}
	return quantity.Names(said)
}
