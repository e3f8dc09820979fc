package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/read/trial"
	"netdyno/test/synthetic"
)

// carrying finds what is said of a study whose arms carry shop.Order, each by
// its codec, with generated code in the workers of the arms that are named.
func carrying(t *testing.T, codecs map[string]string, generated ...string) finding.Findings {
	t.Helper()
	o := synthetic.Options{Blocks: 6, Connections: []int{50}, Primary: []string{serverCPU}, Bare: true}
	for name, codec := range codecs {
		arm := synthetic.Arm{Name: name, Levels: map[string]string{"codec": codec, "message": "order.proto:shop.Order:order.json"}}
		if name == "base" {
			o.Arms = append([]synthetic.Arm{arm}, o.Arms...)
		} else {
			arm.Cost = 0.5
			o.Arms = append(o.Arms, arm)
		}
	}
	header, trials, records := synthetic.Run(o)
	for i := range records {
		arm := records[i].Trial.Arm
		for j := range records[i].Workers {
			w := &records[i].Workers[j]
			w.Setup.Exchange.Codec = codecs[arm]
			w.Setup.Exchange.Message = &contract.Structure{
				Name: "order.proto:shop.Order:order.json", Descriptors: []byte{0}, Up: contract.Content{Type: "shop.Order"}, Down: contract.Content{Type: "shop.Order"},
			}
			w.Ready.UpBytes, w.Ready.DownBytes = w.Setup.Exchange.UpBytes, w.Setup.Exchange.DownBytes
			w.Ready.Generated = slices.Contains(generated, arm)
		}
	}
	return find(t, header, trials, records)
}

// The cost of reflection beyond generated code is no property of a codec. Where one of
// two arms pays it, the arms are not compared; where both pay it, a warning says so.
func TestReflectionForbidsComparingCodecs(t *testing.T) {
	const (
		refused = "encodes shop.Order by reflection"
		marked  = "Both encode shop.Order by reflection."
	)
	for _, c := range []struct {
		name           string
		codecs         map[string]string
		generated      []string
		refuse, caveat bool
		flagged        string
	}{
		{"proto by reflection and json", map[string]string{"base": "json", "arm": "proto"}, nil, true, false, "6 of 18 trials"},
		{"the same the other way round", map[string]string{"base": "proto", "arm": "json"}, nil, true, false, "12 of 18 trials"},
		{"proto by generated code and json", map[string]string{"base": "json", "arm": "proto"}, []string{"arm"}, false, false, ""},
		{"both by reflection", map[string]string{"base": "proto", "arm": "proto"}, nil, false, true, "18 of 18 trials"},
		{"one by reflection", map[string]string{"base": "proto", "arm": "proto"}, []string{"base"}, true, false, "6 of 18 trials"},
		{"both by generated code", map[string]string{"base": "proto", "arm": "proto"}, []string{"base", "arm"}, false, false, ""},
		{"json alone", map[string]string{"base": "json", "arm": "json"}, nil, false, false, ""},
	} {
		f := carrying(t, c.codecs, c.generated...)
		judged := comparison(t, f, "connections=50", serverCPU, "arm")
		if got := judged.Verdict == compare.Invalid && strings.Contains(judged.Reason, refused); got != c.refuse {
			t.Errorf("%s: %s (%s), refused %t, want %t", c.name, judged.Verdict, judged.Reason, got, c.refuse)
		}
		if !c.refuse && judged.Verdict == compare.Invalid {
			t.Errorf("%s: invalid: %s", c.name, judged.Reason)
		}
		if got := strings.Contains(judged.Sentence, marked); got != c.caveat {
			t.Errorf("%s: marked %t, want %t: %s", c.name, got, c.caveat, judged.Sentence)
		}
		warned := ""
		for _, w := range f.Warnings {
			if w.About == trial.Reflected {
				warned = w.Text
			}
		}
		if c.flagged == "" != (warned == "") || !strings.HasPrefix(warned, c.flagged) {
			t.Errorf("%s: warned %q, want %q", c.name, warned, c.flagged)
		}
	}
}

// The other metrics are as little comparable as the primary one, except those
// of the wire: the bytes are the same.
func TestReflectionForbidsComparingCodecsOnAllButTheWire(t *testing.T) {
	f := carrying(t, map[string]string{"base": "json", "arm": "proto"})
	for _, c := range f.Comparisons {
		if wire := strings.HasPrefix(c.Metric, "link_"); (c.Reason != "") == wire || c.Primary == (c.Verdict == compare.NotJudged) {
			t.Errorf("%s of %s: %s", c.Metric, c.Arm, c.Verdict)
		}
	}
}

// A run with generated code and one without are not of the same programs; one
// whose floor is another carries nothing over to the arms either.
func TestRunsThatDifferInReflectionAreNotCompared(t *testing.T) {
	const differ = "server.message was by reflection, then by generated code"
	for _, c := range []struct {
		codecs    map[string]string
		generated string // arm that the second run has generated code for
		want      string
	}{
		{map[string]string{"base": "json", "arm": "proto"}, "arm", "its settings differ"},
		{map[string]string{"base": "proto", "arm": "json"}, "base", "the baseline base cannot show"},
	} {
		before, after := carrying(t, c.codecs), carrying(t, c.codecs, c.generated)
		for _, judged := range history.CompareRuns(before.Run, after.Run, nil).Comparisons {
			refused := strings.Contains(judged.Reason, c.want) && strings.Contains(judged.Reason, differ)
			if judged.Arm == "arm" && (judged.Primary && judged.Verdict != compare.Invalid || !refused) {
				t.Errorf("%v: %s of %s: %s (%s)", c.codecs, judged.Metric, judged.Arm, judged.Verdict, judged.Reason)
			}
		}
	}
}
