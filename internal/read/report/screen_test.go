package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"netdyno/internal/metric"
	"netdyno/internal/read/answer"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// screenOf renders findings for a terminal of 80 columns.
func screenOf(t *testing.T, f finding.Findings) string {
	t.Helper()
	return string(render(t, func(w io.Writer) error { return NewScreen(f).Text(w, TextOptions{Width: 80}) }))
}

// fits demands that a screen leaves room for the report's path and the prompt on
// a terminal of 80 × 24.
func fits(t *testing.T, name, screen string) {
	t.Helper()
	if lines := strings.Count(screen, "\n"); lines > 21 {
		t.Errorf("%s: %d lines:\n%s", name, lines, screen)
	}
	for line := range strings.Lines(screen) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%s: a line of %d columns: %q", name, n, line)
		}
	}
	if strings.Contains(screen, "…") {
		t.Errorf("%s: something is cut:\n%s", name, screen)
	}
	if strings.Contains(screen, "NaN") || strings.Contains(screen, "%!") || strings.Contains(screen, "\n\n\n") {
		t.Errorf("%s:\n%s", name, screen)
	}
}

func TestScreenFitsWhateverWasRun(t *testing.T) {
	pages(t, 60, func(where string, f finding.Findings, _ Page) { fits(t, where, screenOf(t, f)) })
	for blocks, f := range map[int]finding.Findings{3: sample(3), 8: sample(8)} {
		f.Header.Directory = "results/event-loops-quick-20260102-150405"
		fits(t, fmt.Sprint("sample of ", blocks), screenOf(t, f))
	}
}

// Many arms, cells, metrics, requirements and warnings, all with long names.
func TestScreenOfALargeStudy(t *testing.T) {
	var arms []synthetic.Arm
	for i := range 12 {
		arms = append(arms, synthetic.Arm{Name: fmt.Sprintf("an-arm-with-a-rather-long-name-%d", i), Server: "go-net", Cost: 1 + float64(i)/10})
	}
	for _, connections := range [][]int{{10}, {1, 10, 100, 1000, 10000}} {
		header, trials, records := synthetic.Run(synthetic.Options{
			Arms: arms, Connections: connections, Blocks: 6, SD: 0.02, Bare: true,
			Primary: []string{"server.cpu_us_per_exchange", "exchanges_per_s", "service_mean_us"},
		})
		header.Study.Question = strings.Repeat("Which of all of these costs least? ", 5)
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		f.Answer = answer.Answer{Sentences: slices.Repeat([]string{"A sentence that goes on and on."}, 30)}
		for i := range 30 {
			f.Warnings = append(f.Warnings, record.Warning{About: fmt.Sprint("word", i), Text: strings.Repeat("much to say ", 20)})
		}
		screen := screenOf(t, f)
		fits(t, fmt.Sprint(len(connections), " cells"), screen)
		if !strings.Contains(screen, "of the answer") || !strings.Contains(screen, "netdyno report --full DIR") {
			t.Errorf("it does not say what it leaves out:\n%s", screen)
		}
	}
}

// A screen has the figures that its answer speaks of, and one line for each word
// that warns.
func TestScreenShowsWhatTheAnswerNeeds(t *testing.T) {
	options := synthetic.Options{
		Arms: []synthetic.Arm{{Name: "slow"}, {Name: "fast", Server: "go-net", Cost: 0.5}}, Connections: []int{10}, Blocks: 8, SD: 0.01, Seed: 7, Rate: 20000,
	}
	f, err := finding.Find(synthetic.Run(options))
	if err != nil {
		t.Fatal(err)
	}
	f.Warnings = []record.Warning{{About: "noise", Text: "the first"}, {About: "noise", Text: "the second"}, {About: "confounded: a, b", Text: "together"}}
	screen := screenOf(t, f)
	for _, want := range []string{
		"server CPU", "÷ slow", "response p99", "× (0.", ") +", "schedule", "+ better", "\nnoise (2): the first\n", "\nconfounded: together\n", " · 8 blocks",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q in\n%s", want, screen)
		}
	}
	if strings.Contains(screen, "--full") {
		t.Errorf("nothing is left out of\n%s", screen)
	}

	options.Connections = []int{10, 1000}
	if f, err = finding.Find(synthetic.Run(options)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"server CPU ÷ slow", "10 connections", "1,000 connections", "response p99 ÷ slow"} {
		if screen := screenOf(t, f); !strings.Contains(screen, want) {
			t.Errorf("two cells: no %q in\n%s", want, screen)
		}
	}

	options.Arms, options.Rate = options.Arms[:1], 0
	if f, err = finding.Find(synthetic.Run(options)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n10 connections ", "\n1,000 connections ", "rate", "k/s", "–"} {
		if screen := screenOf(t, f); !strings.Contains(screen, want) {
			t.Errorf("one arm: no %q in\n%s", want, screen)
		}
	}
}

// Colour is on marks alone: a line without one has none, and without colours the
// text is the same.
func TestColourIsOnMarksAlone(t *testing.T) {
	f := sample(8)
	plain := screenOf(t, f)
	coloured := string(render(t, func(w io.Writer) error { return NewScreen(f).Text(w, TextOptions{Width: 80, Color: true}) }))
	without := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[35m", "").Replace(coloured)
	if without != plain {
		t.Errorf("without its colours:\n%s\nwant\n%s", without, plain)
	}
	for _, part := range strings.Split(coloured, "\x1b[3")[1:] {
		painted, _, _ := strings.Cut(part[strings.Index(part, "m")+1:], "\x1b")
		if utf8.RuneCountInString(painted) != 1 {
			t.Errorf("%q is coloured, want a mark", painted)
		}
	}
}

// Over a link whose rate is known, goodput is in the link's unit too and beside the
// cores that it takes; on loopback it is not.
func TestGoodputOfALink(t *testing.T) {
	f, err := finding.Find(synthetic.Run(synthetic.Options{
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Server: "go-net"}}, Connections: []int{10}, Blocks: 6, SD: 0.02, Bare: true, Primary: []string{metric.Goodput},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if full := string(render(t, func(w io.Writer) error { return New(f).Text(w, TextOptions{}) })); strings.Contains(full+screenOf(t, f), "Gbit/s") {
		t.Errorf("Gbit/s without a link:\n%s", full)
	}
	for i := range f.Cells[0].Arms {
		metrics := &f.Cells[0].Arms[i].Metrics
		*metrics = append(*metrics, cells.Summary{Metric: metric.LinkRateShare, Unit: "share", Figure: cells.Figure{N: 6, Value: 0.9, Low: 0.89, High: 0.91}})
	}
	page := New(f)
	var titles []string
	for _, c := range page.Cells[0].Main.Columns {
		titles = append(titles, c.Metric+" "+c.Unit)
	}
	if got := strings.Join(titles, ", "); !strings.Contains(got, metric.Goodput+" MB/s, "+metric.Goodput+" Gbit/s, "+metric.OfServer+metric.Cores) {
		t.Errorf("columns: %s", got)
	}
	if screen := screenOf(t, f); !strings.Contains(screen, "Gbit/s") {
		t.Errorf("no Gbit/s in\n%s", screen)
	}
}
