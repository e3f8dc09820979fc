package source

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func noFiles(name string) ([]byte, error) { return nil, fmt.Errorf("open %s: no such file", name) }

// golden splits a golden file into its cases: "== name", the input, "--", the
// text that must come out.
func golden(t *testing.T, path string, run func(input string) string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	parts := strings.Split(string(data), "== ")
	out.WriteString(parts[0])
	for _, part := range parts[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		input, want, _ := strings.Cut("\n"+rest, "\n--\n")
		input = strings.TrimPrefix(input+"\n", "\n")
		got := run(input)
		if got = strings.TrimRight(got, "\n") + "\n\n"; got != want && !*update {
			t.Errorf("%s:\ngot:\n%swant:\n%s", name, got, want)
		}
		fmt.Fprintf(&out, "== %s\n%s--\n%s", name, input, got)
	}
	if len(parts) < 10 {
		t.Errorf("%s has only %d cases", path, len(parts)-1)
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFileErrorsTeach(t *testing.T) {
	golden(t, "testdata/file-errors.txt", func(input string) string {
		_, err := ParseFile("x.yaml", []byte(input))
		return teaching(t, err)
	})
}

func TestArgumentErrorsTeach(t *testing.T) {
	golden(t, "testdata/argument-errors.txt", func(input string) string {
		_, err := ParseArgs(strings.Split(strings.TrimSuffix(input, "\n"), "\n"), noFiles)
		return teaching(t, err)
	})
}

func teaching(t *testing.T, err error) string {
	t.Helper()
	var e *study.Error
	if !errors.As(err, &e) {
		t.Errorf("got %v, expected an *study.Error", err)
		return "no error\n"
	}
	if e.Position == "" || e.Text == "" || strings.Contains(e.Position, "the default") {
		t.Errorf("the error has no place: %+v", e)
	}
	return err.Error()
}

// An override keeps those statements of which it has every arm and cell.
func TestStatementsFollowTheArms(t *testing.T) {
	if s := mustArgs(t, "buffers", "arm=w0-r0,w512k-r0,w0-r512k,w10-r0"); len(s.Expect) != 1 || s.Expect[0].Title != "To gain speed, grow the write buffer first" {
		t.Errorf("four arms leave %+v", s.Expect)
	}
	// What names an arm that is gone goes, also of a best(…).
	for _, x := range mustArgs(t, "line-rate-quick", "arm=go-net,uring").Expect {
		if strings.Contains(strings.Join(x.That, " "), "sendfile") {
			t.Errorf("two arms leave %q", x.That)
		}
	}
}

// An override keeps of a study's costs the terms and the held-out levels that are left.
func TestCostsAreDeclared(t *testing.T) {
	s := mustArgs(t, "cost", "transport=go-grpc", "request=64B,1.5KiB,64KiB")
	if got := fmt.Sprint(s.Costs[0].Holdout["request"], s.Costs[0].Terms); got != "[1536B 24KiB] [request response connections]" {
		t.Errorf("of three sizes up, held out are %s", got)
	}
}

// Streaming against unary is a question of its own, beside both against HTTP.
func TestFurtherPairsAreDeclared(t *testing.T) {
	s := mustArgs(t, "blocks")
	if got := fmt.Sprint(s.Compare.Also); got != "[{grpc-stream grpc-unary} {http3 http2-tls}]" {
		t.Errorf("besides are compared %s", got)
	}
	for typed, want := range map[string]string{"arm=http-pooled,grpc-stream,tcp": "[]", "compare.baseline=grpc-unary": "[{http3 http2-tls}]"} {
		if s := mustArgs(t, "blocks", typed); fmt.Sprint(s.Compare.Also) != want {
			t.Errorf("%s leaves %v, want %s", typed, s.Compare.Also, want)
		}
	}
}

func TestBuiltInStudiesPlan(t *testing.T) {
	want := map[string]int{ // trials by itself: blocks × cells × (arms + 1), and probes
		"aa": 16 * 1 * 4, "calibrate": 6 * 1 * 4, "calibrate-link": 3 * 3, "calibrate-noise": 24 * 3, "event-loops": 32*3*13 + 3*3*12, "event-loops-rate": 32*5*6 + 3*5*5, "event-loops-quick": 12*2*4 + 3*2*3,
		"blocks": 32*2*23 + 3*2*22, "blocks-fixed": 6 * 13, "blocks-link": 32 * 7, "blocks-quick": 12*8 + 3*7,
		"buffers": 32 * 120, "buffers-memory": 6 * 2 * 2 * 4 * 7, "buffers-quick": 12*(5+3) + 3*(4+2),
		"line-rate": 10 * (4*27 + 2*9 + 3*8 + 3*13 + 10*19 + 24), "line-rate-matrix": 10 * 11 * 7, "line-rate-quick": 12*8 + 3*6, "device-memory": 32 * 3 * 10,
		"messages": 12*4*22 + 4*21, "messages-quick": 12*(5+3) + 3*(4+2),
		"messages-shape": 32 * 4 * 3, "line-rate-shape": 32 * 6 * 3, "blocks-shape": 8 * 2 * 4,
		"cost": 6 * 64 * 3, "cost-stream": 6 * 64 * 3,
		"languages": 12 * (2*11 + 9 + 7 + 8), "languages-quick": 6 * 2 * 6,
		"hops": 12 * (8*6 + 4*5 + 4*6 + 2*5), "hops-quick": 12 * 5,
		"mixed": 3*21 + 12*(12*8+3*7), "mixed-quick": 12*(4+3) + 3*3, // flat out, and without load
		"streams": 12 * 2 * 9,
		"mesh":    3 * 2, // before its rig names the hosts, one pair
	}
	// The matrix's arms are the published bundles; a floor speaks another wire; a ceiling needs no six blocks.
	confounded := map[string]int{"line-rate-matrix": 5, "line-rate-shape": 1, "messages-shape": 1, "blocks": 4, "messages": 4, "blocks-fixed": 3, "blocks-quick": 1, "blocks-link": 1, "calibrate-link": 1, "mixed": 5, "mixed-quick": 1}
	if len(List()) != len(want) {
		t.Errorf("built in are %v", List())
	}
	for _, name := range List() {
		s, err := Named(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		trials, warnings, err := own(s)
		if err != nil || len(trials) != want[name] || len(warnings) != confounded[name] {
			t.Errorf("%s: %d trials, expected %d; warnings %v; %v", name, len(trials), want[name], warnings, err)
		}
		if s.Name != name || s.Question == "" {
			t.Errorf("%s is named %q and asks %q", name, s.Name, s.Question)
		}
	}
	if _, err := Named("event-loop"); err == nil || err.Error() != `no built-in study "event-loop"; did you mean "event-loops"?` {
		t.Errorf("a near name gave %v", err)
	}
}

func TestQuickStudiesAreQuick(t *testing.T) {
	quick := 0
	for _, name := range List() {
		full, is := strings.CutSuffix(name, "-quick")
		if !is {
			continue
		}
		quick++
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		trials, _, err := own(s)
		if err != nil {
			t.Fatal(err)
		}
		trials = slices.DeleteFunc(trials, func(t record.Trial) bool { return t.Probe })
		e := study.EstimateTime(trials, study.Pace{})
		total, unknown := e.Total, e.Guessed
		most, perBlocks, probes := 72.0, 8, 3
		if name == "hops-quick" { // what is asked of is no program of ours, whose profiles would name functions
			probes = 0
		}
		if name == "languages-quick" { // whose arms compile while they run, and few of whose profiles would name functions
			most, perBlocks, probes = 144, 12, 0
		}
		if perBlock := len(trials) / s.Blocks; unknown != 0 || total.Seconds() > most || perBlock > perBlocks || s.Blocks < 6 || s.Probes != probes {
			t.Errorf("%s: %d blocks of %d trials, whose windows and warm-ups alone take %v, %d of unknown length", name, s.Blocks, perBlock, total, unknown)
		}
		whole, err := Named(full)
		if err != nil {
			t.Fatalf("%s is short for nothing: %v", name, err)
		}
		arms := whole.Scope().Arms()
		for _, arm := range s.Scope().Arms() {
			if !slices.Contains(arms, arm) {
				t.Errorf("%s has the arm %s, %s has not", name, arm, full)
			}
		}
	}
	if quick != 8 {
		t.Errorf("%d studies are quick", quick)
	}
}

// text prints what of a study matters to its plan, places left out.
func text(s *study.Study) string {
	trials, warnings, err := own(s)
	summary := must(json.Marshal(study.Summary(s))) // what a pointer points to, and not where it lies
	return fmt.Sprintf("%s\n%+v\n%+v\n%v", summary, trials, warnings, err)
}

func mustArgs(t *testing.T, args ...string) *study.Study {
	t.Helper()
	s, err := ParseArgs(args, noFiles)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return s
}

func TestACommandLineIsTheSameStudyAsAFile(t *testing.T) {
	file, err := ParseFile("x.yaml", []byte(`
study: command-line
hold: {response: 64KiB, window: 1s, opt.server.command: "echo -p 7,8"}
vary:
  transport: [go-net, go-epoll]
  connections: [50, 10000]
compare: {baseline: go-epoll, primary: exchanges_per_s, margin: 5%}
blocks: 7
`))
	if err != nil {
		t.Fatal(err)
	}
	typed := mustArgs(t, "transport=go-net,go-epoll", "response=65536", "connections=50,10k", "window=1000ms", "blocks=7",
		`opt.server.command=echo -p 7\,8`, "compare.baseline=go-epoll", "compare.primary=exchanges_per_s", "compare.margin=0.05")
	if text(file) != text(typed) {
		t.Errorf("file:\n%s\n\ntyped:\n%s", text(file), text(typed))
	}
}

func TestArgumentsOverrideAStudy(t *testing.T) {
	s := mustArgs(t, "event-loops", "connections=50", "rate=1k,2k", "blocks=2", "client=asio", "arm=asio,go-net", "question=Why?")
	sum := study.Summary(s)
	if got := fmt.Sprint(sum.Vary); got != "[{arm [asio go-net]} {rate [1000 2000]}]" {
		t.Errorf("varies %s", got)
	}
	if sum.Hold["connections"] != "50" || sum.Hold["client"] != "asio" || sum.Hold["rate"] != "" || sum.Blocks != 2 || sum.Question != "Why?" {
		t.Errorf("got %+v", sum)
	}
	if sum.Compare.Baseline != "go-net" || slices.ContainsFunc(sum.Expect, func(x record.Expectation) bool { return strings.Contains(fmt.Sprint(x.That), "go-epoll") }) {
		t.Errorf("the baseline is %s; of absent arms: %v", sum.Compare.Baseline, sum.Expect)
	}
}

func TestSummaryHoldsWhatAllTrialsShare(t *testing.T) {
	sum := study.Summary(mustArgs(t, "transport=go-net", "amount=100"))
	if got := fmt.Sprint(sum.Vary); got != "[{transport [go-net]}]" || sum.Compare.Baseline != "go-net" {
		t.Errorf("a single arm: varies %s against %q", got, sum.Compare.Baseline)
	}
	for factor, want := range map[string]string{"server": "go-net", "client": "go-net", "window": "0s", "rate": "max", "codec": "bytes"} {
		if sum.Hold[factor] != want {
			t.Errorf("%s is held at %q, expected %q", factor, sum.Hold[factor], want)
		}
	}
	sum = study.Summary(mustArgs(t, "transport=go-net", "amount=0,100"))
	if w, held := sum.Hold["window"]; held {
		t.Errorf("window is held at %s although the amount decides it", w)
	}
}

// own are the trials that a run of a study takes by itself.
func own(s *study.Study) ([]record.Trial, []record.Warning, error) {
	trials, warnings, err := s.Plan()
	return study.Before(trials, s.Blocks), warnings, err
}
