package finding

import (
	"slices"

	"netdyno/internal/read/answer"
	"netdyno/internal/read/best"
	"netdyno/internal/read/capacity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/claim"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/fit"
	"netdyno/internal/read/hops"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/link"
	"netdyno/internal/read/mesh"
	"netdyno/internal/read/part"
	"netdyno/internal/read/pays"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/published"
	"netdyno/internal/read/race"
	"netdyno/internal/read/reach"
	"netdyno/internal/read/shape"
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
	{func(s *cells.Dataset, f *Findings) { f.Ladders = ladder.Read(s, f.Noise, f.Differences) }, func(f *Findings) part.Analysis { return f.Ladders }},
	{func(s *cells.Dataset, f *Findings) { f.Hops = hops.Read(s) }, func(f *Findings) part.Analysis { return f.Hops }},
	{func(s *cells.Dataset, f *Findings) { f.Mesh = mesh.Read(s) }, func(f *Findings) part.Analysis { return f.Mesh }},
	{func(s *cells.Dataset, f *Findings) { f.Race = race.Read(s) }, func(f *Findings) part.Analysis { return f.Race }},
	{func(s *cells.Dataset, f *Findings) { f.Capacity = capacity.Read(s) }, func(f *Findings) part.Analysis { return f.Capacity }},
	{func(s *cells.Dataset, f *Findings) { f.FlatOut = capacity.ReadFlatOut(s) }, func(f *Findings) part.Analysis { return f.FlatOut }},
	{func(s *cells.Dataset, f *Findings) { f.Sizes = sizes.Read(s) }, func(f *Findings) part.Analysis { return f.Sizes }},
	{func(s *cells.Dataset, f *Findings) { f.Charts = charts(s, f) }, func(f *Findings) part.Analysis { return f.Charts }},
	{func(s *cells.Dataset, f *Findings) { f.Fits = fit.Read(s) }, func(f *Findings) part.Analysis { return f.Fits }},
	{func(s *cells.Dataset, f *Findings) { f.Reaches = reach.Read(s) }, func(f *Findings) part.Analysis { return f.Reaches }},
	{func(s *cells.Dataset, f *Findings) { f.Pays = pays.Read(s) }, func(f *Findings) part.Analysis { return f.Pays }},
	{func(s *cells.Dataset, f *Findings) { f.Link = link.Read(s, f.Pays) }, func(f *Findings) part.Analysis { return f.Link }},
	{func(s *cells.Dataset, f *Findings) { f.Costs = cost.Read(s) }, func(f *Findings) part.Analysis { return f.Costs }},
	{func(s *cells.Dataset, f *Findings) { f.Shapes = shape.Read(s) }, func(f *Findings) part.Analysis { return f.Shapes }},
	{func(s *cells.Dataset, f *Findings) { f.Claims = claim.Read(s, f.Comparisons, f.Fits) }, func(f *Findings) part.Analysis { return f.Claims }},
	{func(s *cells.Dataset, f *Findings) { f.Published = published.Read(s, f.Comparisons) }, func(f *Findings) part.Analysis { return f.Published }},
}

// charts are those that the study asks for and that a search for a capacity draws; of a
// mesh its own alone.
func charts(s *cells.Dataset, f *Findings) view.Charts {
	if f.Mesh != nil {
		return view.ChartsOf(s, f.Mesh.Charts())
	}
	return append(view.ChartsOf(s, s.Header.Study.Charts), f.Capacity.Charts(s)...)
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

// Answered tells whether what the study asks besides its comparisons has an answer: how
// much its arms carry, which host is worse, which setting is best, what its models say.
// It does not look at comparisons: a gate judges those.
func (f *Findings) Answered() bool {
	return !slices.ContainsFunc(f.Headlines(), func(h part.Headline) bool { return h.Open })
}

// answer is that to the study's question, and the sentences of its comparisons, the most
// decisive first, or of its only arm.
func (f *Findings) answer() (answer.Answer, []string) {
	headlines := f.Headlines()
	if i := slices.IndexFunc(headlines, func(h part.Headline) bool { return h.Place == part.Whole }); i >= 0 {
		return answer.Answer{Sentences: headlines[i].Sentences}, nil
	}
	var said []string
	for _, c := range MostDecisiveFirst(f.Comparisons) {
		said = append(said, c.Sentence)
	}
	if len(said) == 0 {
		said = answer.Alone(f.Run)
	}
	return answer.Of(answer.Found{Run: f.Run, Best: f.Best, Look: f.Look, Headlines: headlines, Charts: f.Charts, Floor: floorSentence(f.Floors)}), said
}
