package finding_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"netdyno/internal/quantity"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

const (
	writeBuffer = "opt.server.write_buffer"
	readBuffer  = "opt.server.read_buffer"
	idleRSS     = "server.idle_rss_bytes"
)

// buffers is a study of two buffer sizes over connections, whose memory is
// 9 MB + n·(40 kB + w·write + r·read).
func buffers(w, r float64) synthetic.Options {
	o := synthetic.Options{Bare: true, Connections: []int{1, 100, 1000}, SD: 0.02, Blocks: 8, Rate: 20000}
	for _, write := range []string{"0B", "32KiB", "128KiB"} {
		for _, read := range []string{"0B", "32KiB", "128KiB"} {
			o.Arms = append(o.Arms, synthetic.Arm{
				Name: "w" + write + "-r" + read, Server: "go-grpc", Levels: map[string]string{writeBuffer: write, readBuffer: read},
			})
		}
	}
	number := func(level string) float64 {
		n, err := quantity.ParseBytes(level)
		if err != nil {
			panic(err)
		}
		return float64(n)
	}
	o.Memory = func(levels map[string]string) float64 {
		return 9e6 + number(levels["connections"])*(40e3+w*number(levels[writeBuffer])+r*number(levels[readBuffer]))
	}
	return o
}

// drawn runs a study through Find with one chart.
func drawn(t *testing.T, o synthetic.Options, spec record.Chart, change func([]record.Trial, []record.Record)) view.Chart {
	t.Helper()
	h, trials, records := synthetic.Run(o)
	h.Study.Charts = []record.Chart{spec}
	change(trials, records)
	f := find(t, h, trials, records)
	if len(f.Charts) != 1 || f.Charts[0].Spec.Metric != spec.Metric {
		t.Fatalf("charts %+v", f.Charts)
	}
	return f.Charts[0]
}

func untouched([]record.Trial, []record.Record) {}

// memoryChart draws idle memory over the write buffer.
func memoryChart(kind record.ChartKind) record.Chart {
	return record.Chart{Kind: kind, Metric: idleRSS, X: writeBuffer, Where: map[string]string{"connections": "1000"}}
}

func TestLinesShowThePlantedValues(t *testing.T) {
	spec := memoryChart(record.Lines)
	spec.By = readBuffer
	c := drawn(t, buffers(2, 1), spec, untouched)
	if len(c.Lines) != 3 || len(c.Notes) != 0 || c.Unit != "B" || c.Tiles != nil || c.Marks != nil {
		t.Fatalf("%+v", c)
	}
	for i, read := range []float64{0, 32 << 10, 128 << 10} {
		line := c.Lines[i]
		if line.Name != []string{"0B", "32KiB", "128KiB"}[i] || len(line.Points) != 3 {
			t.Fatalf("line %+v", line)
		}
		for j, write := range []float64{0, 32 << 10, 128 << 10} {
			p := line.Points[j]
			want := 9e6 + 1000*(40e3+2*write+read)
			if p.X.Value != write || p.X.Text != []string{"0B", "32KiB", "128KiB"}[j] {
				t.Errorf("point %d stands at %+v, want %v", j, p.X, write)
			}
			trials := 8
			if i+j == 0 {
				trials = 16 // the baseline and its repeat
			}
			if math.Abs(p.Value/want-1) > 0.04 || p.Low >= p.Value || p.High <= p.Value || p.Trials != trials || p.N != 8 {
				t.Errorf("%s, %s: %+v, planted %v", line.Name, p.X.Text, p.Figure, want)
			}
		}
	}
}

// A chart of some arms shows the trials of those arms alone.
func TestAChartOfSomeArms(t *testing.T) {
	o := buffers(2, 1)
	_, trials, _ := synthetic.Run(o)
	one := trials[0].Arm
	spec := memoryChart(record.Lines)
	whole := drawn(t, o, spec, untouched)
	spec.Arms = []string{one}
	part := drawn(t, o, spec, untouched)
	if len(part.Lines) != 1 || len(part.Lines[0].Points) != 1 || len(whole.Lines[0].Points) == 1 {
		t.Errorf("of arm %s alone: %+v, of all: %+v; want one point and more", one, part.Lines, whole.Lines)
	}
	spec.Arms = []string{"nobody"}
	if c := drawn(t, o, spec, untouched); len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "no valid trial of nobody") {
		t.Errorf("notes %q, want that no trial is of such an arm", c.Notes)
	}
}

// The interval is that of the tables: the geometric mean over blocks.
func TestAPointIsTheSummaryOfItsArm(t *testing.T) {
	o := buffers(2, 1)
	h, trials, records := synthetic.Run(o)
	spec := memoryChart(record.Lines)
	spec.Where[readBuffer] = "128KiB" // not the baseline, which has two trials in a block
	h.Study.Charts = []record.Chart{spec}
	f := find(t, h, trials, records)
	p, compared := f.Charts[0].Lines[0].Points[1], 0
	for _, arm := range f.Cells[2].Arms {
		for _, m := range arm.Metrics {
			if arm.Name != "w32KiB-r128KiB" || m.Metric != idleRSS {
				continue
			}
			compared++
			if math.Abs(m.Low-p.Low) > 1 || math.Abs(m.High-p.High) > 1 || m.N != p.N {
				t.Errorf("%+v in the chart, %+v in the table", p, m)
			}
		}
	}
	if compared != 1 {
		t.Errorf("%d rows of the table compared, want 1", compared)
	}
}

func TestPointsThatAverageSayOverWhat(t *testing.T) {
	c := drawn(t, buffers(0, 0), record.Chart{Kind: record.Lines, Metric: idleRSS, X: "connections"}, untouched)
	want := fmt.Sprint([]string{"points are geometric means over the levels of arm"})
	if fmt.Sprint(c.Notes) != want || len(c.Lines) != 1 || c.Lines[0].Points[0].Trials != 80 || c.Lines[0].Name != "" {
		t.Errorf("notes %q, lines %+v", c.Notes, c.Lines)
	}
	c = drawn(t, buffers(0, 0), record.Chart{Kind: record.Lines, Metric: idleRSS, X: "connections", By: "arm"}, untouched)
	if strings.Contains(fmt.Sprint(c.Notes), "geometric means over") || len(c.Lines) != 9 || c.Lines[1].Name != "w0B-r32KiB" {
		t.Errorf("notes %q, %d lines", c.Notes, len(c.Lines))
	}
}

func TestHeatMapHasATileForEachPair(t *testing.T) {
	spec := memoryChart(record.Heat)
	spec.Y = readBuffer
	c := drawn(t, buffers(2, 1), spec, func(trials []record.Trial, records []record.Record) {
		for i := range trials {
			if trials[i].Arm == "w128KiB-r128KiB" {
				records[i].Outcome = record.Failed
			}
		}
	})
	var places []string
	for _, tile := range c.Tiles {
		places = append(places, tile.X.Text+","+tile.Y.Text)
	}
	const want = "0B,0B 32KiB,0B 128KiB,0B 0B,32KiB 32KiB,32KiB 128KiB,32KiB 0B,128KiB 32KiB,128KiB"
	if strings.Join(places, " ") != want {
		t.Errorf("tiles %v, want %s", places, want)
	}
	if v := c.Tiles[1].Value; math.Abs(v/(49e6+2000*(32<<10))-1) > 0.04 {
		t.Errorf("tile %+v", c.Tiles[1])
	}
}

func TestChartsThatCannotBeDrawnSayWhy(t *testing.T) {
	for name, c := range map[string]struct {
		spec   record.Chart
		change func([]record.Trial, []record.Record)
		note   string
		lines  int
	}{
		"metric":          {record.Chart{Kind: record.Lines, Metric: "server.idle_rss_byte", X: "connections"}, untouched, `did you mean "server.idle_rss_bytes"?`, 0},
		"kind":            {record.Chart{Kind: "line", Metric: idleRSS, X: "connections"}, untouched, `did you mean "lines"?`, 0},
		"factor":          {record.Chart{Kind: record.Lines, Metric: idleRSS, X: "connection"}, untouched, `no factor "connection"; did you mean "connections"?`, 0},
		"by":              {record.Chart{Kind: record.Lines, Metric: idleRSS, X: "connections", By: "amr"}, untouched, `did you mean "arm"?`, 0},
		"y":               {record.Chart{Kind: record.Heat, Metric: idleRSS, X: "connections", Y: "reqest"}, untouched, `did you mean "request"?`, 0},
		"where":           {record.Chart{Kind: record.Lines, Metric: idleRSS, X: "connections", Where: map[string]string{"arm": "asio"}}, untouched, "no valid trial at arm=asio", 0},
		"text not value":  {record.Chart{Kind: record.Lines, Metric: idleRSS, X: "connections", Where: map[string]string{writeBuffer: "0"}}, untouched, "no valid trial at opt.server.write_buffer=0", 0},
		"absent metric":   {record.Chart{Kind: record.Lines, Metric: "work_s", X: "connections"}, untouched, "no valid trial has time for the work", 0},
		"words only":      {record.Chart{Kind: record.Lines, Metric: idleRSS, X: "arm", Where: map[string]string{"connections": "1"}}, untouched, "a line needs numbers", 0},
		"against":         {record.Chart{Kind: record.Front, Metric: "exchanges_per_s", Against: "rss"}, untouched, "against: find metric", 0},
		"no direction":    {record.Chart{Kind: record.Front, Metric: "server.meter_share", Against: idleRSS}, untouched, "server.meter_share has no better direction", 0},
		"nothing against": {record.Chart{Kind: record.Front, Metric: "exchanges_per_s", Against: "work_s"}, untouched, "no arm has both", 0},
		"a word among numbers": {record.Chart{Kind: record.Lines, Metric: idleRSS, X: "rate", Where: map[string]string{"connections": "1", "arm": "w0B-r0B"}}, func(trials []record.Trial, _ []record.Record) {
			for i := range trials {
				if trials[i].Block > 4 {
					trials[i].Levels["rate"] = "max"
				}
			}
		}, "rate=max is left out: a line needs numbers", 1},
	} {
		got := drawn(t, buffers(0, 0), c.spec, c.change)
		if !strings.Contains(strings.Join(got.Notes, "\n"), c.note) || len(got.Lines) != c.lines || got.Tiles != nil || got.Marks != nil {
			t.Errorf("%s: notes %q, want %q; %d lines", name, got.Notes, c.note, len(got.Lines))
		}
	}
}

// One block has no interval, and what is 0 has no geometric mean.
func TestPointsWithoutAnInterval(t *testing.T) {
	o := buffers(0, 0)
	o.Blocks = 1
	spec := record.Chart{Kind: record.Lines, Metric: idleRSS, X: "connections", By: "arm"}
	if p := drawn(t, o, spec, untouched).Lines[2].Points[0]; p.N != 1 || p.Low != p.Value || p.High != p.Value {
		t.Errorf("one block: %+v", p)
	}
	o.Blocks, spec.Metric = 6, "error_share"
	if p := drawn(t, o, spec, untouched).Lines[2].Points[0]; p.N != 6 || p.Value != 0 || p.Low != 0 || p.High != 0 {
		t.Errorf("no errors: %+v", p)
	}
}

// Rate against memory: speed is bought with memory up to a point.
func TestFront(t *testing.T) {
	o := synthetic.Options{Bare: true, Blocks: 6, Connections: []int{50}, SD: 0.001}
	memory := map[string]float64{}
	for _, a := range []struct {
		name         string
		speed, bytes float64
	}{{"small", 1, 10e6}, {"middle", 2, 14e6}, {"wasteful", 1.9, 60e6}, {"large", 2.1, 80e6}} {
		o.Arms = append(o.Arms, synthetic.Arm{Name: a.name, Server: "go-net", Speed: a.speed})
		memory[a.name] = a.bytes
	}
	o.Memory = func(levels map[string]string) float64 { return memory[levels["arm"]] }
	spec := record.Chart{Kind: record.Front, Metric: "exchanges_per_s", Against: idleRSS}
	c := drawn(t, o, spec, untouched)
	var marks []string
	for _, m := range c.Marks {
		marks = append(marks, fmt.Sprintf("%s %v", m.Name, m.Front))
	}
	if got := strings.Join(marks, ", "); got != "small true, middle true, wasteful false, large true" {
		t.Errorf("marks: %s", got)
	}
	if c.Unit != "1/s" || c.AgainstUnit != "B" {
		t.Errorf("%s against %s", c.Unit, c.AgainstUnit)
	}
	if m := c.Marks[1]; m.Cell != "connections=50" || m.Metric.N != 6 || math.Abs(m.Against.Value/14e6-1) > 0.01 || m.Metric.Low >= m.Metric.High {
		t.Errorf("mark %+v", m)
	}
	spec.By = "server"
	if c = drawn(t, o, spec, untouched); len(c.Marks) != 1 || c.Marks[0].Name != "go-net" || c.Marks[0].Metric.Trials != 30 {
		t.Errorf("by server: %+v", c.Marks)
	}
}
