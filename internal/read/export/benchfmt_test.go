package export

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// benchstat is what benchstat makes of a file, as CSV.
func benchstat(t *testing.T, text []byte, flags ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.txt")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", append(append([]string{"tool", "benchstat", "-format", "csv"}, flags...), file)...)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, said.Bytes())
	}
	if text := said.String(); strings.Contains(text, "parsing") || strings.Contains(text, "syntax") {
		t.Errorf("benchstat complains:\n%s", text)
	}
	return string(out)
}

// benchstat reads a run and finds the differences that the findings have.
func TestBenchstatAgrees(t *testing.T) {
	r := run(synthetic.Options{Rate: 20_000, Blocks: 6, Seed: 7, SD: 0.002, Connections: []int{50}})
	r.Header.Study.Compare.Factor, r.Header.Study.Vary[0].Name = "transport", "transport"
	f, err := finding.Find(r.Header, r.Plan, r.Records)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	for _, c := range f.Comparisons {
		if c.Metric == "server.cpu_us_per_exchange" {
			want[c.Arm] = 100 * (c.Ratio - 1)
		}
	}
	text := written(t, "benchfmt", r, "")
	said := benchstat(t, text, "-col", "/transport", "-filter", ".unit:server-cpu-ns/op")
	reader := csv.NewReader(strings.NewReader(said))
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var arms []string
	seen := 0
	for _, line := range lines {
		if len(line) > 1 && line[1] == "go-net" {
			arms = line
		}
		if !strings.HasPrefix(line[0], "Event-loops") {
			continue
		}
		for i, cell := range line {
			percent, is := strings.CutSuffix(cell, "%")
			got, err := strconv.ParseFloat(percent, 64)
			if !is || err != nil || strings.Contains(lines[3][i], "CI") {
				continue
			}
			arm := ""
			for j := i; arm == ""; j-- {
				arm = arms[j]
			}
			seen++
			if math.Abs(got-want[arm]) > 0.5 {
				t.Errorf("benchstat finds %s%% for %s, the findings have %.2f %%", percent, arm, want[arm])
			}
		}
	}
	if seen != 2 || len(want) != 2 {
		t.Errorf("%d differences of %d were read:\n%s", seen, len(want), said)
	}
}

// Names from outside stay what they are, and apart.
func TestHostileNamesInBenchmarks(t *testing.T) {
	for name, r := range map[string]Run{"hostile": hostileRun(), "small": small()} {
		text := written(t, "benchfmt", r, "")
		valid, names := 0, map[string]bool{}
		reader := benchfmt.NewReader(bytes.NewReader(text), "run")
		for reader.Scan() {
			switch got := reader.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Errorf("%s: %v", name, got)
			case *benchfmt.Result:
				valid++
				names[got.Name.String()] = true
				if _, parts := got.Name.Parts(); len(parts) != 2 || !bytes.HasPrefix(parts[0], []byte("/arm=")) || !bytes.HasPrefix(parts[1], []byte("/connections=")) {
					t.Errorf("%s: %q has the parts %q", name, got.Name, parts)
				}
				if x, ok := got.Value("server-cpu-sec/op"); !ok || x < 5e-6 || x > 20e-6 || got.Iters < 1000 || len(got.Config) != 2 {
					t.Errorf("%s: %q has %d exchanges, %g s of CPU, %d settings", name, got.Name, got.Iters, x, len(got.Config))
				}
			}
		}
		if err := reader.Err(); err != nil {
			t.Fatal(err)
		}
		planned, expected := map[string]bool{}, 0
		for i, p := range r.Plan {
			if r.Records[i].Outcome == record.OK {
				planned[p.Arm+"/"+p.Cell], expected = true, expected+1
			}
		}
		if valid != expected || len(names) != len(planned) {
			t.Errorf("%s: %d lines of %d names, want %d of %d", name, valid, len(names), expected, len(planned))
		}
		if meta := reader.Units(); len(meta) < 30 {
			t.Errorf("%s: %d units are described", name, len(meta))
		}
	}
}

// A number at a name's end is part of it, not GOMAXPROCS.
func TestNumbersAtTheEndOfNames(t *testing.T) {
	for name, want := range map[string]string{"BenchmarkX/arm=http-2": "BenchmarkX/arm=http%2D2", "BenchmarkX/arm=http-2x": "BenchmarkX/arm=http-2x", "BenchmarkX/n=50": "BenchmarkX/n=50", "BenchmarkX/arm=a-": "BenchmarkX/arm=a-"} {
		if got := undashed(name); got != want {
			t.Errorf("undashed(%s) = %s, want %s", name, got, want)
		}
	}
}
