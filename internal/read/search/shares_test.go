package search

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A block's trials whose rates are shares get the highest rate that their arm reached flat out; one
// whose arm has no such rate gets none, and a rate that is no share stays.
func TestSharesAreOfTheBestFlatOut(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Speed: 0.5}}, Connections: []int{50}, Blocks: 3,
	})
	for i := range trials {
		trials[i].FlatOut, trials[i].Block = true, 0
		records[i].Trial = trials[i]
		if trials[i].Arm == "b" && i%2 == 0 {
			records[i].Outcome, records[i].Failure = record.Failed, &record.Failure{Text: "it fell over"}
		}
	}
	planned := func(id, arm, rate string) record.Trial {
		one := trials[slices.IndexFunc(trials, func(t record.Trial) bool { return t.Arm == arm })]
		one.ID, one.Block, one.FlatOut, one.Levels = id, 1, false, maps.Clone(one.Levels)
		one.Levels[record.Rate] = rate
		return one
	}
	all := append(slices.Clone(trials), planned("a-30", "a", "30%"), planned("a-60", "a", "60%"), planned("a-1k", "a", "1000"), planned("b-30", "b", "30%"))
	other := planned("a-tls", "a", "30%")
	other.Levels["tls"] = "yes"
	all = append(all, other)
	s, err := cells.Read(header, all, records)
	if err != nil {
		t.Fatal(err)
	}
	decided, words := shares(s, 1)
	rate := map[string]string{}
	for id, levels := range decided.Levels {
		rate[id] = levels[record.RateOf]
	}
	found := ReadFlatOut(s)
	if len(found) != 2 || found[0].Arm != "a" || found[0].Trials != found[0].Of || found[1].Trials >= found[1].Of || found[1].Rate > 0.6*found[0].Rate || found[1].Rate == 0 {
		t.Fatalf("flat out %+v", found)
	}
	if len(rate) != 3 || rate["a-30"] != rate["a-60"] || rate["b-30"] == rate["a-30"] || rate["b-30"] == "" {
		t.Errorf("decided %v", rate)
	}
	if !strings.HasPrefix(words, "flat out: a ") {
		t.Errorf("said %q", words)
	}
	if _, words := shares(s, 2); words != "" {
		t.Errorf("said again %q", words)
	}
	if p := found.Part(); len(p.Sections) != 1 || len(p.Sections[0].Tables[0].Rows) != 2 {
		t.Errorf("part %+v", p)
	}
}
