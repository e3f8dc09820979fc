package report

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"netdyno/internal/metric"
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

// fits demands that nothing of a screen is wider than a terminal of 80 columns, or cut.
func fits(t *testing.T, name, screen string) {
	t.Helper()
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

// Of many arms and cells every row stands, and of many warnings the first.
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
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			f.Warnings = append(f.Warnings, record.Warning{About: fmt.Sprint("word", i), Text: strings.Repeat("much to say ", 20)})
		}
		screen := screenOf(t, f)
		fits(t, fmt.Sprint(len(connections), " cells"), screen)
		for _, a := range arms {
			if !strings.Contains(screen, a.Name) {
				t.Errorf("%s has no row:\n%s", a.Name, screen)
			}
		}
		if !strings.Contains(screen, " more: netdyno report --full DIR)") {
			t.Errorf("it does not say what it leaves out:\n%s", screen)
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
}
