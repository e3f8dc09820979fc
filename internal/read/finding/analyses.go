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
// field. Find reads the analyses in the order of this list, so that one may use the
// results of those before it.
type analysis struct {
	read  func(*cells.Dataset, *Findings)
	found func(*Findings) part.Analysis
}

// analyses are all that a run may be asked besides its comparisons, in the order of a
// report. A new one is a package, its field in Findings, and a line here.
var analyses = []analysis{
	{func(s *cells.Dataset, f *Findings) { f.Best = best.Read(s, f.Noise) }, func(f *Findings) part.Analysis { return f.Best }},
	{func(s *cells.Dataset, f *Findings) { f.Why = profile.Reasons(s, f.Differences, f.Profiles) }, func(f *Findings) part.Analysis { return f.Why }},
	{func(s *cells.Dataset, f *Findings) { f.Ladders = ladder.Read(s, f.Noise) }, func(f *Findings) part.Analysis { return f.Ladders }},
	{func(s *cells.Dataset, f *Findings) { f.Hops = hops.Read(s) }, func(f *Findings) part.Analysis { return f.Hops }},
	{func(s *cells.Dataset, f *Findings) { f.Mesh = mesh.Read(s) }, func(f *Findings) part.Analysis { return f.Mesh }},
	{func(s *cells.Dataset, f *Findings) { f.Search = search.Read(s) }, func(f *Findings) part.Analysis { return f.Search }},
	{func(s *cells.Dataset, f *Findings) { f.FlatOut = search.ReadFlatOut(s) }, func(f *Findings) part.Analysis { return f.FlatOut }},
	{func(s *cells.Dataset, f *Findings) { f.Sizes = sizes.Read(s) }, func(f *Findings) part.Analysis { return f.Sizes }},
	{func(s *cells.Dataset, f *Findings) { f.Charts = charts(s, f) }, func(f *Findings) part.Analysis { return f.Charts }},
	{func(s *cells.Dataset, f *Findings) { f.Costs = cost.Read(s) }, func(f *Findings) part.Analysis { return f.Costs }},
	{func(s *cells.Dataset, f *Findings) { f.Expect = expect.Read(s, f.Comparisons, f.Requirements) }, func(f *Findings) part.Analysis { return f.Expect }},
}

// charts are those that the study asks for; of a mesh its own alone.
func charts(s *cells.Dataset, f *Findings) view.Charts {
	if f.Mesh != nil {
		return view.ChartsOf(s, f.Mesh.Charts())
	}
	return view.ChartsOf(s, s.Header.Study.Charts)
}

// Analyses are what a run was asked besides its comparisons, with what came of it, in the
// order of a report.
func (f *Findings) Analyses() []part.Analysis {
	var all []part.Analysis
	for _, a := range analyses {
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
