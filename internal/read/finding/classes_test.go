package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/test/synthetic"
)

// mixed is an open loop of two arms whose exchanges are of two classes. Beside a, b takes so
// many times as long for each of them; no two blocks are alike.
func mixed(t *testing.T, arms []string, slower map[string]float64) finding.Findings {
	t.Helper()
	var all []synthetic.Arm
	for _, name := range arms {
		all = append(all, synthetic.Arm{Name: name})
	}
	header, trials, records := synthetic.Run(synthetic.Options{Arms: all, Connections: []int{50}, Rate: 50_000, Blocks: 8, Primary: []string{metric.ResponseP99}})
	for i := range records {
		whole := hist.New()
		r := records[i].Workers[1].Result
		r.Classes = nil
		for _, c := range []struct {
			name string
			ns   float64
			n    int
		}{{"browse", 50e3, smalls}, {"export", 2e6, larges}} {
			ns := c.ns * (1 + 0.002*float64(trials[i].Block%5)) // the arms of a block have it in common
			if trials[i].Arm == "b" {
				ns *= slower[c.name]
			}
			text := timesOf(t, ns, c.n)
			h, err := hist.Decode(text)
			if err != nil {
				t.Fatal(err)
			}
			whole.Merge(h)
			r.Classes = append(r.Classes, contract.ClassResult{Name: c.name, Exchanges: int64(c.n), Service: text, Response: text})
		}
		r.Service, r.Response = encoded(t, whole), encoded(t, whole)
	}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Where one class is quicker and another slower the answer names them; where all classes are
// as everything together is, it does not.
func TestClassesThatDifferAreNamed(t *testing.T) {
	f := mixed(t, []string{"a", "b"}, map[string]float64{"browse": 0.5, "export": 1.6})
	verdicts := map[string]compare.Verdict{}
	for _, v := range f.Sizes.Versus {
		verdicts[v.Class] = v.Verdict
		if v.Arm != "b" || v.Base != "a" || v.Metric != metric.ResponseP99 || v.Blocks != 8 || v.Low > v.Ratio || v.High < v.Ratio {
			t.Errorf("%+v", v)
		}
	}
	if verdicts["browse"] != compare.Better || verdicts["export"] != compare.Worse {
		t.Errorf("verdicts %v of %+v", verdicts, f.Sizes.Versus)
	}
	const want = "Beside a, p99 of b is lower for class browse (0.500×) and higher for class export (1.60×)."
	if h := f.Sizes.Headline(); !slices.Equal(h.Sentences, []string{want}) {
		t.Errorf("headline %q, want %q", h.Sentences, want)
	}
	if said := strings.Join(append([]string{f.Answer.Sentence}, f.Answer.Judged...), " "); !strings.Contains(said, want) {
		t.Errorf("the answer is %q, want %q in it", said, want)
	}
	p := f.Sizes.Part()
	if s := p.Sections[0]; !slices.Equal(s.Sentences, []string{want}) || len(s.Tables) < 2 || len(s.Tables[len(s.Tables)-1].Rows) != 2 {
		t.Errorf("part %+v", p.Sections[0])
	}

	for name, slower := range map[string]map[string]float64{"both slower": {"browse": 1.5, "export": 1.5}, "both the same": {"browse": 1, "export": 1}} {
		if h := mixed(t, []string{"a", "b"}, slower).Sizes.Headline(); len(h.Sentences) > 0 {
			t.Errorf("%s: %q", name, h.Sentences)
		}
	}
}

// Of one arm the answer says between which classes its p99 goes.
func TestOneArmNamesItsClasses(t *testing.T) {
	f := mixed(t, []string{"a"}, nil)
	if len(f.Sizes.Versus) > 0 {
		t.Errorf("compared with nothing: %+v", f.Sizes.Versus)
	}
	h := f.Sizes.Headline()
	if len(h.Sentences) != 1 || !strings.HasPrefix(h.Sentences[0], "By class, p99 goes from 75") || !strings.HasSuffix(h.Sentences[0], "(export).") {
		t.Errorf("headline %q", h.Sentences)
	}
}
