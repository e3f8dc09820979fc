package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	out    = flag.String("out", "", "write the sample report into this `directory`, for test/browser")
)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is rendered now, first at line %d; "+
			"rewrite it by go test ./internal/read/report -update and review the diff", path, firstDifference(got, want))
	}
}

func firstDifference(a, b []byte) int {
	other := strings.Split(string(b), "\n")
	lines := strings.Split(string(a), "\n")
	for i := range lines {
		if i >= len(other) || lines[i] != other[i] {
			return i + 1
		}
	}
	return len(lines)
}

func render(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// One small study in every form. What holds of every study is in
// property_test.go.
func TestGolden(t *testing.T) {
	p := New(smallSample())
	golden(t, "page.golden", outline(t, p))
	golden(t, "report.txt.golden", render(t, func(w io.Writer) error { return p.Text(w, TextOptions{}) }))
	golden(t, "report.md.golden", render(t, p.Markdown))
	golden(t, "report.html.golden", withoutAssets(render(t, p.HTML)))
}

// outline prints a value as JSON with a line for whatever fits one, so that a
// table's row is a line of a diff.
func outline(t *testing.T, v any) []byte {
	t.Helper()
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	outlineInto(t, &b, bytes.TrimSpace(raw.Bytes()), "")
	b.WriteByte('\n')
	return b.Bytes()
}

// drawings are the parts of a page that a browser draws: numbers, which nobody
// reads in a diff.
var drawings = []string{"forest", "dots", "curve", "series", "split", "shares", "heat", "front", "trials"}

// oneLine is the indentation of what stays on its line however long it is.
const oneLine = "\n"

func outlineInto(t *testing.T, b *bytes.Buffer, raw json.RawMessage, indent string) {
	t.Helper()
	const width = 360
	if indent == oneLine+" " || len(raw) <= width || raw[0] != '{' && raw[0] != '[' {
		b.Write(raw)
		return
	}
	object := raw[0] == '{'
	d := json.NewDecoder(bytes.NewReader(raw))
	token := func() json.Token {
		part, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	token() // the bracket
	b.WriteByte(raw[0])
	for first := true; d.More(); first = false {
		if !first {
			b.WriteByte(',')
		}
		b.WriteString("\n" + indent + " ")
		indent := indent
		if object {
			key, _ := token().(string)
			fmt.Fprintf(b, "%q: ", key)
			if slices.Contains(drawings, key) {
				indent = oneLine
			}
		}
		var part json.RawMessage
		if err := d.Decode(&part); err != nil {
			t.Fatal(err)
		}
		outlineInto(t, b, part, indent+" ")
	}
	b.WriteString("\n" + indent + string(raw[len(raw)-1]))
}

// withoutAssets leaves out what changes with the script and the style sheet:
// the golden file is about the page.
func withoutAssets(html []byte) []byte {
	html = bytes.Replace(html, []byte(script), []byte("SCRIPT"), 1)
	html = bytes.Replace(html, []byte(styleSheet), []byte("STYLE"), 1)
	html = packedData.ReplaceAll(html, []byte("${1}PACKED${3}"))
	return regexp.MustCompile(`sha256-[A-Za-z0-9+/=&#;]+`).ReplaceAll(html, []byte("sha256-DIGEST"))
}

var packedData = regexp.MustCompile(`(<script type="application/gzip"[^>]*>)([A-Za-z0-9+/=]*)(</script>)`)

// unpacked reads what a page holds packed.
func unpacked(t *testing.T, text []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// drawnIn reads what a page holds for its script.
func drawnIn(t *testing.T, page string) drawn {
	t.Helper()
	embedded := regexp.MustCompile(`id="figures">([^<]*)</script>`).FindStringSubmatch(page)
	var d drawn
	if err := json.Unmarshal(unpacked(t, []byte(embedded[1])), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWriteSample(t *testing.T) {
	if *out == "" {
		t.Skip("writes sample reports for a reader's eyes, to the directory of -out")
	}
	for name, findings := range map[string]finding.Findings{
		"report.html": sample(8), "large.html": sample(120),
		"open.html":   found(t, synthetic.Options{Rate: 20_000, SD: 0.02, Seed: 7}),
		"closed.html": found(t, synthetic.Options{SD: 0.02, Seed: 7, Clients: 2, Connections: []int{50, 1000, 10_000}}),
		"asked.html":  foundAsked(t),
	} {
		writeSample(t, name, New(findings).HTML)
	}
	writeSample(t, "sweeps.html", New(largeFindings()).HTML)
	writeSample(t, "index.html", sampleIndex().HTML)
}

func writeSample(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(*out, name), render(t, write), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTextFitsItsWidth(t *testing.T) {
	p := New(sample(6))
	for _, width := range []int{80, 100, 120} {
		for line := range strings.Lines(string(render(t, func(w io.Writer) error { return p.Text(w, TextOptions{Width: width}) }))) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("width %d: a line of %d columns: %s", width, n, line)
			}
		}
	}
}

const hostile = `<script>alert(1)</script>"'&|` + "`*[x](y)\x1b[2J\u202e\n</style>"

func hostileFindings() finding.Findings {
	f := sample(6)
	f.Header.Study.Name, f.Header.Study.Question = hostile, hostile
	f.Header.Study.Compare.Baseline = hostile
	f.Header.Command = []string{"netdyno", "run", hostile, "it's; rm -rf /"}
	f.Header.Facts.Seats[hostile] = record.Host{Values: map[string]string{hostile: hostile}}
	f.Answers = append(f.Answers, hostile)
	f.Warnings = append(f.Warnings, record.Warning{About: hostile, Text: hostile, Advice: hostile})
	f.Ladders[0].Spec.Title, f.Ladders[0].Spec.Steps[1].Changes = hostile, []string{hostile, hostile}
	f.Ladders[0].Steps[0].Arm, f.Ladders[0].Steps[0].Reason = hostile, hostile
	f.Cells[0].Name = hostile
	f.Cells[0].Arms[0].Name = hostile
	f.Cells[0].Arms[0].Settings[hostile] = hostile
	f.Profiles = []profile.Profile{{
		Cell: hostile, Arm: hostile, End: hostile, Source: hostile, File: hostile, Probes: 1, Seconds: 1,
		Shares: []profile.Share{{Activity: hostile, Share: 0.5}, {Activity: "encode", Share: 0.5}}, Flat: []profile.Function{{Name: hostile, Flat: 1, Cumulative: 1}},
	}}
	f.Flames = []profile.Flame{{Cell: hostile, Arm: hostile, End: hostile, Source: hostile, Whole: 1, Frames: []profile.Frame{{Name: hostile, Cost: 1, Activity: 99}}}}
	change := []profile.Change{{Name: hostile, Activity: hostile, Arm: 2, Base: 1, Difference: 1, Low: 0, High: 2, Told: true}}
	f.Differences = []profile.Difference{{Cell: hostile, Arm: hostile, Base: hostile, End: hostile, Metric: "server.cpu_us_per_exchange", Source: hostile, Pairs: 3, Activities: change, Functions: change, Sentence: hostile}}
	f.Cells[0].Arms[1].LimitProof = hostile
	f.Cells[0].Arms[1].Trials[0].Status, f.Cells[0].Arms[1].Trials[0].Reason = "failed", hostile
	f.Cells[0].Arms[1].Metrics = append(f.Cells[0].Arms[1].Metrics, cells.Summary{Metric: hostile, Unit: hostile, Figure: cells.Figure{Value: 1}})
	return f
}

func TestHostileNamesStayText(t *testing.T) {
	p := New(hostileFindings())
	html := string(render(t, p.HTML))
	if n := strings.Count(html, "<script") - len(packedData.FindAllString(html, -1)); n != 1 {
		t.Errorf("%d script elements beside the packed data, want the page's own", n)
	}
	if n := strings.Count(html, "</style"); n != 1 {
		t.Errorf("%d style ends, want 1", n)
	}
	if strings.Contains(html, "alert(1)<") {
		t.Error("a hostile name reached the page unescaped")
	}
	// The command stands in a code block, where a tag is text.
	if md, _, _ := strings.Cut(string(render(t, p.Markdown)), "## Run it again"); strings.Contains(md, "<script") {
		t.Error("a hostile name reached the Markdown unescaped")
	}
	text := string(render(t, func(w io.Writer) error { return p.Text(w, TextOptions{}) }))
	if strings.ContainsAny(text, "\x1b\u202e") {
		t.Error("an escape sequence of a name reached the terminal")
	}
	for form, text := range map[string]string{"HTML": html, "Markdown": string(render(t, p.Markdown))} {
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("a name turns the reading direction of the %s, or steers what shows it", form)
		}
	}
	if want := `netdyno run '<script>`; !strings.HasPrefix(p.Rerun.Command, want) || !strings.HasSuffix(p.Rerun.Command, `'it'\''s; rm -rf /'`) {
		t.Errorf("the command %q would not be read back by a shell", p.Rerun.Command)
	}
}

func TestPageRefersToNothingOutside(t *testing.T) {
	html := string(withoutAssets(render(t, New(sample(6)).HTML)))
	for _, reference := range regexp.MustCompile(`(?i)(src|href|url|@import)\s*[=(]\s*["']?[^"'>\s)]+`).FindAllString(html, -1) {
		if !strings.Contains(reference, "#") && !strings.Contains(reference, "data:,") && !strings.HasPrefix(reference, `href="profiles/`) { // a link is followed only by a reader
			t.Errorf("the page refers to %s", reference)
		}
	}
	if strings.Contains(script, "</script") {
		t.Error("the script would end its own element")
	}
	for _, address := range regexp.MustCompile(`https?://[^"'`+"`"+`]+`).FindAllString(script, -1) {
		if address != "http://www.w3.org/2000/svg" { // a name, not a place
			t.Errorf("the script refers to %s", address)
		}
	}
}

// Garbage must give an odd page, not a panic, and never a JSON that a browser
// cannot read.
func TestGarbageGivesAPage(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	f := sample(6)
	f.Cells[0].Arms[0].Metrics[0].Value = nan
	f.Cells[0].Arms[0].Metrics[2] = cells.Summary{Metric: sampleTail, Figure: cells.Figure{Low: inf, High: nan}}
	f.Cells[0].Arms[1].Trials[0].Values.Set(sampleCost, nan)
	f.Cells[0].Arms[1].Trials[0].Series[3].ExchangesPerS = inf
	f.Cells[0].Arms[1].Trials[0].CPU[0].Cores = trial.CoresOf(map[string]float64{"user": nan})
	f.Comparisons[0].Ratio, f.Comparisons[1].Ratios[0] = nan, 0
	f.Ladders[0].Steps[0].Ratio, f.Ladders[0].Steps[0].Low, f.Ladders[0].Spec.Arms = nan, inf, nil
	f.Comparisons[2].Cell, f.Comparisons[3].Arm = "nowhere", "nobody"
	for name, findings := range map[string]finding.Findings{"garbage": f, "nothing": {}, "one empty cell": {Run: compare.Run{Cells: []cells.Cell{{}}}}} {
		p := New(findings)
		render(t, p.HTML)
		render(t, p.Markdown)
		render(t, func(w io.Writer) error { return p.Text(w, TextOptions{}) })
		if _, err := json.Marshal(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFiguresStayBounded(t *testing.T) {
	const most = 200       // lines of a cell
	p := New(sample(1000)) // 10,000 trials
	for _, c := range p.Cells {
		lines := 0
		for _, figure := range c.Figures {
			if figure.Series == nil {
				continue
			}
			for _, panel := range figure.Series.Panels {
				lines += len(panel.Lines)
			}
			if !strings.Contains(figure.Caption, "are drawn") {
				t.Errorf("%s: the caption does not say that trials are left out: %s", c.Title, figure.Caption)
			}
		}
		if lines == 0 || lines > most {
			t.Errorf("%s: %d lines drawn, want 1 to %d", c.Title, lines, most)
		}
	}
	if html := render(t, p.HTML); len(html) > 2<<20 {
		t.Errorf("a report of 10,000 trials takes %d bytes, want at most 2 MiB", len(html))
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWriteErrorsAreReported(t *testing.T) {
	p := New(sample(6))
	for name, write := range map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { return p.Text(w, TextOptions{}) }, "markdown": p.Markdown, "html": p.HTML,
	} {
		if err := write(fullDisk{}); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: got %v, want the writer's error", name, err)
		}
	}
}

func BenchmarkTenThousandTrials(b *testing.B) {
	f := sample(1000)
	for b.Loop() {
		if err := New(f).HTML(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
