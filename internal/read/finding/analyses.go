package finding

import (
	"slices"

	"netdyno/internal/read/answer"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/expect"
	"netdyno/internal/read/hops"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/mesh"
	"netdyno/internal/read/part"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/search"
	"netdyno/internal/read/sizes"
	"netdyno/internal/read/view"
)

// analysis reads one analysis of a run into its field of Findings, and returns that
// field.
type analysis struct {
	read  func(*cells.Dataset, *Findings)
	found func(*Findings) part.Analysis
}

// What a run may be asked besides its comparisons. A new one is a package, its field in
// Findings, a line here, and its place in the kinds of runs that have it.
var (
	bestArms  = analysis{func(s *cells.Dataset, f *Findings) { f.Best = best.Read(s, f.Noise) }, func(f *Findings) part.Analysis { return f.Best }}
	reasons   = analysis{func(s *cells.Dataset, f *Findings) { f.Why = profile.Reasons(s, f.Differences, f.Profiles) }, func(f *Findings) part.Analysis { return f.Why }}
	ladders   = analysis{func(s *cells.Dataset, f *Findings) { f.Ladders = ladder.Read(s, f.Noise) }, func(f *Findings) part.Analysis { return f.Ladders }}
	paths     = analysis{func(s *cells.Dataset, f *Findings) { f.Hops = hops.Read(s) }, func(f *Findings) part.Analysis { return f.Hops }}
	hosts     = analysis{func(s *cells.Dataset, f *Findings) { f.Mesh = mesh.Read(s) }, func(f *Findings) part.Analysis { return f.Mesh }}
	searched  = analysis{func(s *cells.Dataset, f *Findings) { f.Search = search.Read(s) }, func(f *Findings) part.Analysis { return f.Search }}
	flatOut   = analysis{func(s *cells.Dataset, f *Findings) { f.FlatOut = search.ReadFlatOut(s) }, func(f *Findings) part.Analysis { return f.FlatOut }}
	bySize    = analysis{func(s *cells.Dataset, f *Findings) { f.Sizes = sizes.Read(s) }, func(f *Findings) part.Analysis { return f.Sizes }}
	charts    = analysis{func(s *cells.Dataset, f *Findings) { f.Charts = view.ChartsOf(s, s.Charts) }, func(f *Findings) part.Analysis { return f.Charts }}
	meshMaps  = analysis{func(s *cells.Dataset, f *Findings) { f.Charts = view.ChartsOf(s, f.Mesh.Charts()) }, func(f *Findings) part.Analysis { return f.Charts }}
	costs     = analysis{func(s *cells.Dataset, f *Findings) { f.Costs = cost.Read(s) }, func(f *Findings) part.Analysis { return f.Costs }}
	expecting = analysis{func(s *cells.Dataset, f *Findings) { f.Expect = expect.Read(s, f.Comparisons, f.Requirements) }, func(f *Findings) part.Analysis { return f.Expect }}
)

// scope is what a kind of run is asked, in the order of a report, and warned of: an
// analysis may use the results of those before it.
type scope struct {
	analyses []analysis
	warnings []warner
}

var comparing = scope{
	[]analysis{bestArms, reasons, ladders, paths, flatOut, bySize, charts, costs, expecting},
	[]warner{warnLimits, warnFlags, warnLateRig, warnFewSamples, warnUnfinished, warnNoise, warnFloors, warnDelivery, warnPlace, warnAway, warnHosts},
}

// scopes are those of all kinds of runs.
var scopes = map[string]scope{
	cells.Comparing: comparing,
	cells.Settling:  comparing,
	cells.Mesh:      {[]analysis{hosts, meshMaps, expecting}, []warner{warnFlags, warnAway}},                        // hosts are told apart, with what is unlike about them
	cells.Searching: {[]analysis{searched, bySize, charts, expecting}, []warner{warnDelivery, warnAway, warnHosts}}, // it goes beyond what the arms carry on purpose
	cells.Tuning:    {[]analysis{searched, paths, bySize, charts, expecting}, comparing.warnings},
}

// scopeOf is that of a run.
func (f *Findings) scopeOf() scope { return scopes[f.Plan().Kind.Name] }

// Analyses are what a run was asked besides its comparisons, with what came of it, in the
// order of a report.
func (f *Findings) Analyses() []part.Analysis {
	var all []part.Analysis
	for _, a := range f.scopeOf().analyses {
		all = append(all, a.found(f))
	}
	return append(all, f.Answer)
}

// Headlines are what the analyses say to the study's question, in their order.
func (f *Findings) Headlines() []part.Headline {
	var all []part.Headline
	for _, a := range f.Analyses() {
		if a, answers := a.(part.Answering); answers {
			all = append(all, a.Headline())
		}
	}
	return all
}

// answer is that to the study's question, and the sentences of its comparisons, the most
// decisive first.
func (f *Findings) answer() (answer.Answer, []string) {
	headlines := f.Headlines()
	if i := slices.IndexFunc(headlines, func(h part.Headline) bool { return h.Place == part.Whole }); i >= 0 {
		return answer.By(f.Run, headlines[i]), nil
	}
	var said []string
	for _, c := range MostDecisiveFirst(f.Comparisons) {
		said = append(said, c.Sentence)
	}
	found := answer.Of(answer.Found{Run: f.Run, Best: f.Best, Look: f.Look, Headlines: headlines, Floor: floorSentence(f.Floors)})
	if found.Kind == answer.Alone {
		said = []string{found.Sentence}
	}
	return found, said
}
