package recorded

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/traffic"
)

// Times are kept to the ns, from the first on, in whichever form they stand.
func TestTimesAreRead(t *testing.T) {
	for name, text := range map[string]string{
		"seconds":    "# a comment\n0\n0.000000001\n\n 1.5\n2",
		"since 1970": "1700000000.123456789\n1700000000.12345679\n1700000001.623456789\r\n1700000002.123456789\n",
		"units":      "5ms\n5000001ns\n1505ms\n2005ms\n",
		"moments":    "2026-01-31T12:00:00Z\n2026-01-31T12:00:00.000000001Z\n2026-01-31T13:00:01.5+01:00\n2026-01-31T12:00:02Z\n",
	} {
		out := filepath.Join(t.TempDir(), "times")
		n, span, err := TimesFile(t.Context(), out, name, strings.NewReader(text))
		if err != nil || n != 4 || span != 2*time.Second {
			t.Errorf("%s: %d times over %v, %v", name, n, span, err)
			continue
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		body, err := traffic.Open(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var at []int64
		for r, err := body.From(0); err == nil; {
			var x traffic.Request
			if x, err = r.Next(); err == nil {
				at = append(at, x.AtNs)
			}
		}
		if want := []int64{0, 1, 15e8, 2e9}; !slices.Equal(at, want) {
			t.Errorf("%s: %v, want %v", name, at, want)
		}
	}
}

func TestTimesThatCannotBeReplayedAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "has 0 times",
		"5\n":                                    "has 1 time;",
		"1\n  soon\n":                            `f:2:3: "soon" is no time`,
		"1\n3\n\n2\n":                            "f:4:1: 2 is earlier than line 2; expected times that rise",
		"7\n7\n":                                 "all 2 times are the same",
		"-1\n2\n":                                `f:1:1: "-1" is no time`,
		"1\n99999999999999999999\n":              "is no time",
		"1\n1e3\n":                               "is no time",
		"1\n" + strings.Repeat("9", 2000) + "\n": "longer than",
		"0\n4000000000\n":                        "within 100 years",
	} {
		out := filepath.Join(t.TempDir(), "times")
		if _, _, err := TimesFile(t.Context(), out, "f", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%.20q left a file", text)
		}
	}
}

func FuzzTimes(f *testing.F) {
	f.Add("1\n2.5\n")
	f.Add("2026-01-31T12:00:00Z\n5ms")
	f.Fuzz(func(t *testing.T, text string) {
		last := int64(0)
		_, _, _ = times(t.Context(), "f", strings.NewReader(text), func(x traffic.Request) error {
			if x.AtNs < last {
				t.Errorf("%d comes after %d", x.AtNs, last)
			}
			last = x.AtNs
			return nil
		})
	})
}
