package sizes

import (
	"math"
	"strings"
	"testing"
)

func TestTimes(t *testing.T) {
	for text, want := range map[string]struct {
		text, words string
		mean, sd    float64 // ns
	}{
		"0.2ms":                                 {"200µs", "200 µs", 200e3, 0},
		"0s":                                    {"0s", "0 s", 0, 0},
		"exp:200us":                             {"exp:200µs", "exponential, mean 200 µs", 200e3, 200e3},
		"exp:2ms":                               {"exp:2ms", "exponential, mean 2 ms", 2e6, 2e6},
		"uniform:1ms..3ms":                      {"uniform:1ms..3ms", "1 ms to 3 ms, evenly", 2e6, 2e6 / math.Sqrt(12)},
		"choice:99%:50us,1%:10ms":               {"choice:99%:50µs,1%:10ms", "99 % 50 µs, 1 % 10 ms", 149.5e3, math.Sqrt(0.99*0.01) * 9.95e6},
		"lognormal:median=1ms,sigma=0.5,max=1s": {"lognormal:median=1ms,sigma=0.5,max=1s", "lognormal, median 1 ms, sigma 0.5, to 1 s", 1e6 * math.Exp(0.125), 1e6 * math.Exp(0.125) * math.Sqrt(math.Expm1(0.25))},
		"pareto:min=100us,alpha=2.5,max=4s":     {"pareto:min=100µs,alpha=2.5,max=4s", "Pareto, from 100 µs, alpha 2.5, to 4 s", 100e3 * 2.5 / 1.5, 0},
	} {
		s, err := ParseTime(text)
		if err != nil || s.Text != want.text || s.Words != want.words {
			t.Errorf("%s: %+v, %v; want %q, %q", text, s, err, want.text, want.words)
			continue
		}
		if again, err := ParseTime(s.Text); err != nil || again.Text != s.Text {
			t.Errorf("%s: reads back as %v, %v", s.Text, again, err)
		}
		if math.Abs(s.Mean()-want.mean) > 0.002*want.mean {
			t.Errorf("%s: mean %v ns, want %v", text, s.Mean(), want.mean)
		}
		if sd := math.Sqrt(s.Table.Variance()); want.sd > 0 && math.Abs(sd/want.sd-1) > 0.005 {
			t.Errorf("%s: standard deviation %v ns, want %v", text, sd, want.sd)
		}
	}
}

func TestTimesThatAreNone(t *testing.T) {
	for text, words := range map[string]string{
		"5s":                      "more than 4s, the most that a server may work",
		"5":                       "unit",
		"exp:1s":                  "the mean is 1s, expected 1ns to",
		"exp:0s":                  "expected 1ns",
		"expo:1ms":                "exp:200us",
		"cdf:1ms:50%,2ms:100%":    "no time and no distribution",
		"uniform:3ms..1ms":        "uniform:50us..2ms",
		"choice:90%:1ms":          "add up to 90%",
		"choice:90%:1KiB,10%:1ms": "choice:99%:50us,1%:10ms",
	} {
		if _, err := ParseTime(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", text, err, words)
		}
	}
}
