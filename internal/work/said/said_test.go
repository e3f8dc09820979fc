package said

import (
	"math"
	"strings"
	"testing"
)

func TestFiguresAreFound(t *testing.T) {
	const printed = "Latency 1.25ms\n  [200]\t1,550 responses\n  [201]\t7 responses\nSocket errors: connect 1, read 2, write 0, timeout 4\n"
	const object = `{"latency":{"p99":0.002,"text":"120us"},"codes":{"200":30,"201":12},"all":[3,{"n":4}]}` + "\nlater"
	for _, c := range []struct {
		finder, stdout, stderr string
		sum                    float64
	}{
		{`regexp:\[2\d\d\]\s+([\d,]+) responses`, printed, "", 1557},
		{`regexp:\[2\d\d\]\s+([\d,]+) responses`, "[200] 3 responses", "[204] 4 responses", 7},
		{`regexp:errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`, printed, "", 7},
		{`regexp:(?:a|(\d+))`, "a 5", "", 5},
		{"json:latency.p99", object, "", 0.002},
		{"json:codes.*", object, "not JSON", 42},
		{"json:all.1.n", object, "", 4},
	} {
		f := finder(t, c.finder)
		o := Output{[]byte(c.stdout), []byte(c.stderr)}
		sum, found, err := f.Sum(o)
		if err != nil || !found || math.Abs(sum-c.sum) > 1e-12 {
			t.Errorf("%s: %v, %v, %v, want %v", c.finder, sum, found, err, c.sum)
		}
	}
	for _, missing := range []string{"regexp:nothing (x)", "json:a.b", "json:all.7", ""} {
		if sum, found, err := finder(t, missing).Sum(Output{Stdout: []byte(object)}); found || err != nil || sum != 0 {
			t.Errorf("%q finds %v, %v, %v", missing, sum, found, err)
		}
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"regexp:(":                          "missing closing )",
		"regexp:[0-9]+":                     "has no group",
		"regex:(x)":                         `did you mean "regexp:"?`,
		"json:a..b":                         "an empty key",
		"12":                                "begins with neither regexp: nor json:",
		"json:" + strings.Repeat("a", 5000): "expected at most 4096",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	for _, c := range []struct{ finder, stdout, want string }{
		{"regexp:(.+)", "twelve", "no number"},
		{"regexp:(.+)", "-3", "no number from 0"},
		{"regexp:(.+)", "3 parsecs", "no number"},
		{"json:a", "{", "read the output as JSON"},
		{"json:a", `{"a":[1]}`, "no number"},
	} {
		if _, _, err := finder(t, c.finder).Sum(Output{Stdout: []byte(c.stdout)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %q: %v, want %q", c.finder, c.stdout, err, c.want)
		}
	}
}

// Whatever is printed, a figure is a number that can be, or an error.
func FuzzSum(f *testing.F) {
	f.Add("Requests/sec: 12.5", "regexp:([\\d.]+)")
	f.Add(`{"a":{"b":[1,2]}}`, "json:a.b.*")
	f.Fuzz(func(t *testing.T, printed, finder string) {
		at, err := Parse(finder)
		if err != nil {
			return
		}
		if sum, found, err := at.Sum(Output{Stdout: []byte(printed)}); err == nil && found && (math.IsNaN(sum) || sum < 0) {
			t.Errorf("%q in %q is %v", finder, printed, sum)
		}
	})
}

func finder(t *testing.T, text string) Finder {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
