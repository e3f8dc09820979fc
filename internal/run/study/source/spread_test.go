package source

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/each"
	"netdyno/internal/run/study"
)

// typedLevels are the levels of a factor as they are typed.
func typedLevels(t *testing.T, args ...string) func(factor string) []string {
	t.Helper()
	s, err := ParseArgs(args, noFiles)
	if err != nil {
		t.Fatal(err)
	}
	return func(factor string) []string {
		if l, held := study.Find(s.Hold, factor); held {
			return []string{l.Text}
		}
		if v := study.FindVaried(s.Vary, factor); v != nil {
			return each.Of(v.Levels, func(l study.Level) string { return l.Text })
		}
		return nil
	}
}

// A comma within a distribution parts no levels.
func TestTypedDistributions(t *testing.T) {
	of := typedLevels(t, "transport=go-http1,go-grpc", "rate=1k",
		"request=100B,uniform:1B..1KiB,choice:90%:1KiB,10%:64KiB,4KiB,lognormal:median=1KiB,sigma=1.6,max=1MiB,homa-w3",
		"response=cdf:64B:20%,1KiB:100%", "arrival=constant,gamma:cv=2,burst:on=10ms,off=90ms,poisson")
	for factor, want := range map[string][]string{
		"request":  {"100B", "uniform:1B..1KiB", "choice:90%:1KiB,10%:64KiB", "4KiB", "lognormal:median=1KiB,sigma=1.6,max=1MiB", "homa-w3"},
		"response": {"cdf:64B:20%,1KiB:100%"},
		"arrival":  {"constant", "gamma:cv=2", "burst:on=10ms,off=90ms", "poisson"},
	} {
		if got := of(factor); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", factor, got, want)
		}
	}
	of = typedLevels(t, "transport=go-http1,go-grpc", "arrival=steps:1k,5k,20k/10s,ramp:1k..50k/30s")
	if got, want := of("arrival"), []string{"steps:1000,5000,20000/10s", "ramp:1000..50000/30s"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDistributionsThatContradict(t *testing.T) {
	for args, words := range map[string]string{
		"request=uniform:1B..4KiB stream=up response=1B": "travel whole",
		"rate=5k arrival=steps:1k,2k/1s":                 "its rates are its own",
		"arrival=burst:on=1ms,off=9ms":                   "contradicts",
		"request=choice:90%:1KiB,9%:2KiB":                "99%",
		"request=unifrom:1B..2B":                         "uniform",
		"arrival=steps:1k,2k/1s think=1ms":               "does not think",
		"rate=1k arrival=poisson:2":                      "poisson",
	} {
		_, err := ParseArgs(append([]string{"transport=go-http1,go-grpc"}, strings.Fields(args)...), noFiles)
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", args, err, words)
		}
	}
}

// A study with distributions reads back from what it prints.
func TestDistributionsInAFile(t *testing.T) {
	s, err := ParseFile("x.yaml", []byte(`study: sizes
hold: {rate: 1000, response: "cdf:sizes.txt"}
vary:
  transport: [go-http1, go-grpc]
  request: ["uniform:1B..1KiB", "lognormal:median=1KiB,sigma=1.6,max=1MiB"]
`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ReadSizes(func(name string, _ int64) ([]byte, error) { return []byte("64B 20%\n1KiB 1\n"), nil }); err != nil {
		t.Fatal(err)
	}
	if l, _ := study.Find(s.Hold, "response"); l.Text != "cdf:64B:20%,1KiB:100%" || !(l.Value > 400) {
		t.Errorf("%+v", l)
	}
	text, err := YAML(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseFile("y.yaml", text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if v := study.FindVaried(again.Vary, "request"); v == nil || len(v.Levels) != 2 || v.Levels[1].Text != "lognormal:median=1KiB,sigma=1.6,max=1MiB" {
		t.Errorf("%s reads back as %+v", text, v)
	}
	if err := s.ReadSizes(nil); err != nil { // nothing is left to read
		t.Error(err)
	}
	bad, err := ParseFile("x.yaml", []byte("study: sizes\nhold: {transport: go-http1, request: \"cdf:a.txt\"}\nvary: {connections: [1, 2]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	err = bad.ReadSizes(func(string, int64) ([]byte, error) { return []byte("1KiB 90%\n64B 100%\n"), nil })
	if err == nil || !strings.Contains(err.Error(), "x.yaml:2:") || !strings.Contains(err.Error(), "a.txt:2:1") {
		t.Errorf("%v, want both positions", err)
	}
}
