package sizes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

func TestCanonicalTexts(t *testing.T) {
	for text, want := range map[string]struct{ text, words string }{
		"uniform:100..4096":                            {"uniform:100B..4KiB", "100 B to 4 KiB, evenly"},
		"lognormal:sigma=1.6,median=1024B,max=1024KiB": {"lognormal:median=1KiB,sigma=1.6,max=1MiB", "lognormal, median 1 KiB, sigma 1.6, to 1 MiB"},
		"pareto:min=100B,alpha=1.2,max=1MiB":           {"pareto:min=100B,alpha=1.2,max=1MiB", "Pareto, from 100 B, alpha 1.2, to 1 MiB"},
		"choice:90%:1KiB, 0.09:64KiB,1%:4MiB":          {"choice:90%:1KiB,9%:64KiB,1%:4MiB", "90 % 1 KiB, 9 % 64 KiB, 1 % 4 MiB"},
		"cdf:64B:20%,1KiB:0.9,1MiB:1":                  {"cdf:64B:20%,1KiB:90%,1MiB:100%", "64 B to 1 MiB, by 3 points"},
		"homa-w3":                                      {"homa-w3", "Homa W3, RPCs of a data centre"},
	} {
		s, err := Parse(text)
		if err != nil || s.Text != want.text || s.Words != want.words {
			t.Fatalf("%s: %q, %q, %v; want %+v", text, s.Text, s.Words, err, want)
		}
		again, err := Parse(s.Text)
		if err != nil || !slices.Equal(again.Table, s.Table) || again.Text != s.Text {
			t.Errorf("%s reads back as %+v, %v", s.Text, again, err)
		}
	}
}

// What is drawn lies within a Kolmogorov distance of 0.005 of the formula, and has its mean.
func TestDrawsFollowTheFormula(t *testing.T) {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	median, sigma := 1024.0, 1.6
	for text, below := range map[string]func(x float64) float64{
		"uniform:100B..4KiB":                       func(x float64) float64 { return (x - 99) / (4096 - 99) },
		"lognormal:median=1KiB,sigma=1.6,max=1GiB": func(x float64) float64 { return phi(math.Log((x+0.5)/median) / sigma) },
		"pareto:min=1KiB,alpha=1.2,max=1GiB":       func(x float64) float64 { return 1 - math.Pow(1024/(x+0.5), 1.2) },
		"choice:25%:10B,75%:1KiB": func(x float64) float64 {
			switch {
			case x < 10:
				return 0
			case x < 1024:
				return 0.25
			}
			return 1
		},
	} {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		const n = 200_000
		d, drawn := draw.NewDrawer(s.Table, 9, draw.Up), make([]int64, n)
		for i := range drawn {
			drawn[i] = d.Draw(uint64(i))
		}
		slices.Sort(drawn)
		most := 0.0
		for i, size := range drawn {
			if i+1 < n && drawn[i+1] == size {
				continue
			}
			most = max(most, math.Abs(float64(i+1)/n-below(float64(size))))
		}
		if most > 0.005 {
			t.Errorf("%s: a Kolmogorov distance of %.4f from the formula", text, most)
		}
	}
	s, err := Parse("lognormal:median=1KiB,sigma=1.6,max=1GiB")
	if want := median * math.Exp(sigma*sigma/2); err != nil || math.Abs(s.Mean()/want-1) > 0.003 {
		t.Errorf("mean %v of a lognormal one, the closed form says %v (%v)", s.Mean(), want, err)
	}
}

// The means of the published ones lie within 5 % of those of all their points, which are
// steps there.
func TestPublishedSizes(t *testing.T) {
	means := map[string]float64{"homa-w1": 189, "homa-w2": 442, "homa-w3": 2928, "homa-w4": 127_797, "homa-w5": 2_564_690}
	if len(published()) != len(means) {
		t.Errorf("%d published ones, want %d", len(published()), len(means))
	}
	for name, mean := range means {
		s, err := Parse(name)
		if err != nil || s.Source == "" || s.Words == "" || s.Table.Check(contract.MaxMessage) != nil {
			t.Errorf("%s: %+v, %v", name, s, err)
		} else if math.Abs(s.Mean()/mean-1) > 0.05 {
			t.Errorf("%s has a mean of %.0f, want %.0f", name, s.Mean(), mean)
		}
	}
}

func TestWrongSizesTeach(t *testing.T) {
	for text, words := range map[string][]string{
		"uniform:4KiB..100B":                          {"rising"},
		"uniform:100B":                                {"uniform:100B..4KiB"},
		"uniform:1B..2GiB":                            {"2GiB", "1GiB"},
		"lognormal:median=1KiB,sigma=1.6":             {"max is missing"},
		"lognormal:median=1KiB,sigmma=1,max=1MiB":     {"sigmma", "sigma"},
		"lognormal:median=1KiB,sigma=0,max=1MiB":      {"sigma", "0.01"},
		"lognormal:median=1MiB,sigma=1,max=1KiB":      {"median"},
		"pareto:min=0,alpha=1,max=1KiB":               {"min"},
		"pareto:min=1,min=2,alpha=1,max=1KiB":         {"twice"},
		"choice:90%:1KiB,9%:64KiB":                    {"99%", "100%"},
		"choice:100%:1KiB,0%:64KiB":                   {"is 0"},
		"choice:1KiB:90%":                             {"share"},
		"choice:99.99999999999%:1B,0.00000000001%:2B": {"2^32"},
		"cdf:1KiB:50%,100B:100%":                      {"point 2", "rising"},
		"cdf:100B:50%,1KiB:40%,2KiB:100%":             {"point 2", "never fall"},
		"cdf:100B:50%,1KiB:90%":                       {"90%", "100%"},
		"cdf:sizes.txt":                               {"sizes.txt", "not read"},
		"unifrom:1B..2B":                              {"uniform"},
		"homa-w9":                                     {"homa-w"},
	} {
		_, err := Parse(text)
		if err == nil {
			t.Errorf("%s: accepted", text)
			continue
		}
		for _, word := range words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q lacks %q", text, err, word)
			}
		}
	}
}

func TestAFileOfPoints(t *testing.T) {
	give := func(text string) func(string, int64) ([]byte, error) {
		return func(string, int64) ([]byte, error) { return []byte(text), nil }
	}
	inline, err := ReadFile("cdf:a.txt", give("# a comment\n64B 0.2\n1KiB 90%  # most\n\n1MiB 1\n"))
	if err != nil || inline != "cdf:64B:20%,1KiB:90%,1MiB:100%" || Unread(inline) || !Unread("cdf:a.txt") || !Unread("cdf:c:/a,b") {
		t.Errorf("%q, %v", inline, err)
	}
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "%d %v\n", i+1, float64(i+1)/300)
	}
	for text, words := range map[string]string{
		"":                     "no points",
		"64B 0.2\n 1KiB 0.1\n": "a.txt:2:2: share 0.1",
		"64B\n":                "a.txt:1:1",
		"64B 1 2\n":            "SIZE SHARE",
		"64B 20%\n1KiB 99%\n":  "last share",
		"64B x\n":              "no share",
		many.String():          "at most 256",
	} {
		if _, err := ReadFile("cdf:a.txt", give(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.40q: %v, want %q", text, err, words)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range Names() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !Is(text) {
			return
		}
		s, err := Parse(text)
		if err != nil {
			return
		}
		if err := s.Table.Check(contract.MaxMessage); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again, err := Parse(s.Text); err != nil || again.Text != s.Text {
			t.Fatalf("%q reads back as %+v, %v", s.Text, again, err)
		}
	})
}
