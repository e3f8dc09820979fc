package finding

import (
	"netdyno/internal/read/answer"
	"netdyno/internal/read/capacity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/mesh"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/race"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// Find says everything that can be said about a run from its header, its plan
// and its records. The plan decides which trial belongs where; a record that
// contradicts it is invalid, one of an unknown or repeated trial is left out
// with a warning. It fails only for a study whose primary metric is not in
// the registry. It is pure: the same input gives the same findings. It does not
// change the records; Findings.Trials points to them.
func Find(header record.Header, trials []record.Trial, records []record.Record) (Findings, error) {
	s, err := cells.Read(header, trials, records)
	if err != nil {
		return Findings{}, err
	}
	noise := compare.MeasureNoise(s)
	comparisons, requirements := compared(s, noise)
	for i := range comparisons {
		if c := &comparisons[i]; c.Primary {
			c.Sentence = sentence(s, *c)
		}
	}
	f := Findings{
		Schema:  Schema,
		Run:     compare.Run{Header: header, Cells: s.Describe(), Noise: noise, Comparisons: comparisons, Requirements: requirements, Tally: s.CountTrials()},
		Answers: answers(comparisons), Published: view.Publish(s, comparisons), Shapes: view.Shapes(s), Charts: view.Charts(s), Fits: view.Fits(s), Searches: view.Searches(s),
		Choices: view.Choices(s), Pays: view.PaysOf(s), Costs: cost.Read(s), Claims: compare.Claims(s, comparisons),
	}
	if len(f.Answers) == 0 {
		f.Answers = answer.Alone(f.Run)
	}
	f.Floors = floors(s, f.Cells)
	addSentences(&f)
	if f.Mesh = mesh.Read(s); f.Mesh != nil {
		f.Charts = view.ChartsOf(s, f.Mesh.Charts())
		f.Answers = nil
	}
	f.Answer = answer.Of(answer.Parts{
		Run: f.Run, Claims: f.Claims, Choices: choiceSentences(f.Choices), StartUp: startUpSentence(f.Shapes),
		Costs: costAnswer(f.Costs), Searches: searchSentences(f.Searches), Floor: floorSentence(f.Floors),
	})
	if f.Mesh != nil {
		f.Answer = answer.Answer{Sentences: MeshSentences(f.Mesh)}
	}
	steered(s, &f)
	f.Stage = compare.Settle(s, comparisons, requirements)
	f.Seating, f.Trials = seating(s), s.Trials
	profiles, unread := profile.Profiles(s)
	f.Profiles, f.Differences = profiles, profile.Differences(s)
	f.Flames, f.Timelines = profile.Flames(s), view.Timelines(s)
	if len(profiles) > 0 {
		f.ProfileFiles, f.Overheads = profile.FilesOf(s), profile.Overheads(s)
	}
	for i, p := range f.Profiles {
		f.Profiles[i].File = f.ProfileFiles.CPU(p.Cell, p.Arm, p.End)
	}
	for i := range f.Differences {
		f.Differences[i].Sentence = differenceSentence(f.Differences[i])
	}
	f.Ladders = ladder.Ladders(s, noise, f.Differences)
	for _, l := range f.Ladders {
		for i := range l.Splits {
			l.Splits[i].Sentence = ladderSentence(l.Splits[i])
		}
	}
	f.Warnings = append(warn(s, f), unread...)
	return f, nil
}

// compared judges arms and requirements, but not where figures chose what was run, and
// no requirement where each trial has a rate of its own.
func compared(s *cells.Dataset, noise []compare.Noise) ([]compare.Comparison, []compare.Requirement) {
	switch study := s.Header.Study; {
	case study.Capacity != nil:
		return nil, nil
	case study.Steered():
		return nil, compare.Require(s, noise)
	}
	return compare.Compare(s, noise), compare.Require(s, noise)
}

// steered adds what a run found that steered itself, which is its answer.
func steered(s *cells.Dataset, f *Findings) {
	if f.Race = race.Read(s); f.Race != nil {
		f.Race.Sentences = RaceSentences(f.Race)
		f.Answer, f.Answers = answer.Answer{Sentences: f.Race.Sentences}, nil
	}
	if f.Capacity = capacity.Read(s); f.Capacity != nil {
		f.Charts = append(f.Charts, capacityCharts(s, f.Capacity)...)
		f.Answer, f.Answers = answer.Answer{Sentences: CapacitySentences(f.Capacity)}, nil
	}
}

// addSentences puts fits, searches, choices, replacements, costs, shapes and claims
// into words.
func addSentences(f *Findings) {
	for i := range f.Fits {
		f.Fits[i].Sentence = fitSentence(f.Fits[i])
	}
	for i := range f.Searches {
		f.Searches[i].Sentence = searchSentence(f.Searches[i])
	}
	for i := range f.Choices {
		f.Choices[i].Sentence = choiceSentence(f.Choices[i])
	}
	for i := range f.Pays {
		f.Pays[i].Sentence = paysSentence(f.Pays[i])
	}
	for _, c := range f.Costs {
		for i := range c.Models {
			c.Models[i].Sentence = modelSentence(c, c.Models[i])
		}
	}
	for i := range f.Shapes {
		f.Shapes[i].Sentence = shapeSentence(f.Shapes[i])
	}
	for i := range f.Claims {
		f.Claims[i].Sentence = claimSentence(f.Claims[i])
	}
}
