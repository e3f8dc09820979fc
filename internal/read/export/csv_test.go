package export

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// sheet is a table that was read back: rows by the name of their column.
type sheet struct {
	columns []string
	rows    []map[string]string
}

func readSheet(t *testing.T, text []byte) sheet {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	s := sheet{columns: all[0]}
	for _, line := range all[1:] {
		cells := map[string]string{}
		for i, name := range all[0] {
			cells[name] = line[i]
		}
		if len(cells) != len(all[0]) {
			t.Fatalf("two columns of one name: %q", all[0])
		}
		s.rows = append(s.rows, cells)
	}
	return s
}

// number is a cell as a figure.
func number(t *testing.T, cell string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		t.Fatalf("%q is no finite number", cell)
	}
	return x
}

func TestTrialsAreRows(t *testing.T) {
	r := small()
	r.Records[0].Outcome, r.Records[0].Failure = record.Failed, &record.Failure{Kind: "peer", Text: "gone"}
	failed := r.Records[0].Trial.ID
	unrun := r.Records[1].Trial.ID
	r.Records = slices.Delete(r.Records, 1, 2)
	s := readSheet(t, written(t, "csv", r, ""))
	if len(s.rows) != len(r.Plan) {
		t.Fatalf("%d rows for %d planned trials", len(s.rows), len(r.Plan))
	}
	for _, m := range metric.All() {
		if !slices.Contains(s.columns, m.Name) {
			t.Errorf("no column %s", m.Name)
		}
	}
	values := 0
	for i, cells := range s.rows {
		plan := r.Plan[i]
		if cells["trial"] != plan.ID || cells["arm"] != plan.Arm || cells["connections"] != plan.Levels["connections"] || cells["window"] != "2s" ||
			cells["study"] != "event-loops" || cells["run"] != "event-loops-1" || cells["baseline"] != strconv.FormatBool(plan.Arm == "go-net") {
			t.Errorf("row %d of trial %s: %v", i, plan.ID, cells)
		}
		switch plan.ID {
		case failed:
			if cells["status"] != "failed" || !strings.Contains(cells["reason"], "gone") || cells["exchanges_per_s"] != "" || cells["errors"] != "" {
				t.Errorf("a failed trial: %v", cells)
			}
		case unrun:
			if cells["status"] != "missing" || cells["started_at"] != "" || cells["exchanges_per_s"] != "" {
				t.Errorf("a trial that was not run: %v", cells)
			}
		default:
			values++
			if rate := number(t, cells["exchanges_per_s"]); rate < 1000 || cells["status"] != "valid" || number(t, cells["exchanges"]) < 1000 ||
				math.Abs(number(t, cells["window_seconds"])-2) > 0.2 {
				t.Errorf("a valid trial: %v", cells)
			}
		}
	}
	if values != len(r.Plan)-2 {
		t.Errorf("%d trials have figures", values)
	}
}

// What the other tables say is what findings.json says.
func TestTablesAgreeWithFindings(t *testing.T) {
	r := small()
	f, err := finding.Find(r.Header, r.Plan, r.Records)
	if err != nil {
		t.Fatal(err)
	}
	s := readSheet(t, written(t, "csv", r, "comparisons"))
	if len(s.rows) != len(f.Comparisons) {
		t.Fatalf("%d rows for %d comparisons", len(s.rows), len(f.Comparisons))
	}
	for i, c := range f.Comparisons {
		cells := s.rows[i]
		if cells["metric"] != c.Metric || cells["arm"] != c.Arm || cells["verdict"] != string(c.Verdict) || "connections="+cells["connections"] != c.Cell {
			t.Errorf("comparison %d: %v, want %+v", i, cells, c)
		}
		if c.Ratio > 0 && (number(t, cells["ratio"]) != c.Ratio || math.Abs(number(t, cells["difference_percent_low"])-100*(c.Low-1)) > 1e-9) {
			t.Errorf("comparison %d: %v, want %+v", i, cells, c)
		}
		if c.Ratio == 0 && cells["ratio"]+cells["difference_percent"] != "" {
			t.Errorf("a ratio that is none: %v", cells)
		}
	}
	figures := 0
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			figures += len(arm.Metrics)
		}
	}
	arms := readSheet(t, written(t, "csv", r, "arms"))
	first := f.Cells[0].Arms[0].Metrics[0]
	if len(arms.rows) != figures || number(t, arms.rows[0]["value"]) != first.Value || number(t, arms.rows[0]["high"]) != first.High {
		t.Errorf("%d rows for %d figures; the first is %v, want %+v", len(arms.rows), figures, arms.rows[0], first)
	}
	if metrics := readSheet(t, written(t, "csv", r, "metrics")); len(metrics.rows) != len(metric.All()) {
		t.Errorf("%d metrics", len(metrics.rows))
	}
}

// One block has no interval, and no ratio.
func TestOneBlockHasNoInterval(t *testing.T) {
	s := readSheet(t, written(t, "csv", run(synthetic.Options{Blocks: 1, Bare: true}), "arms"))
	for _, cells := range s.rows {
		if cells["low"]+cells["high"] != "" || cells["value"] == "" {
			t.Errorf("an interval from one block: %v", cells)
		}
	}
}

func TestHostileNamesInCSV(t *testing.T) {
	r := hostileRun()
	for _, table := range Tables() {
		text := written(t, "csv", r, table.Name)
		s := readSheet(t, text)
		if lines := bytes.Count(text, []byte("\n")); lines != len(s.rows)+1 {
			t.Errorf("%s: %d rows in %d lines", table.Name, len(s.rows), lines)
		}
		if bytes.ContainsAny(text, "\x1b\x00\r\u202e\u2028") || !bytes.Equal(bytes.ToValidUTF8(text, nil), text) {
			t.Errorf("%s has control characters, or is no UTF-8", table.Name)
		}
		for _, cells := range s.rows {
			for name, cell := range cells {
				if _, err := strconv.ParseFloat(cell, 64); cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) && err != nil {
					t.Errorf("%s: column %s has a formula: %q", table.Name, name, cell)
				}
			}
		}
	}
	s := readSheet(t, written(t, "csv", r, ""))
	for _, want := range []string{"level.trial", "path", "opt.a b"} {
		if !slices.Contains(s.columns, want) {
			t.Errorf("no column %s: %q", want, s.columns)
		}
	}
	if !slices.ContainsFunc(s.rows, func(cells map[string]string) bool { return cells["arm"] == `'=HYPERLINK("http://x/")` }) {
		t.Error("the arm that is a formula is not there")
	}
}
