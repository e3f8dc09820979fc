package hops

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A hop that uses 20 µs for an exchange and makes it twice as slow is told so, beside the
// same trials without it, and the path is the sum.
func TestHopsAreReadBesideDirect(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{
		Arms: []synthetic.Arm{
			{Name: "plain", Server: "go-net", Levels: map[string]string{record.PathFactor: "direct"}},
			{Name: "proxied", Server: "go-net", Speed: 0.5, Levels: map[string]string{record.PathFactor: "nginx"}},
		},
		Connections: []int{100}, Blocks: 6, Rate: 1000,
	})
	for i := range records {
		if records[i].Trial.Arm == "proxied" {
			synthetic.Hop(&records[i], "nginx", 20_000, 4096)
		}
	}
	s, err := cells.Read(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	all := Read(s)
	if len(all) != 1 {
		t.Fatalf("%d paths have hops, want that of proxied alone: %+v", len(all), all)
	}
	p := all[0]
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.02*math.Abs(want) {
			t.Errorf("%s is %g, want %g", what, got, want)
		}
	}
	near("the hop's CPU per exchange", p.CPU.Value, 20)
	near("the path's", p.PathCPU.Value, 32) // 12 of the server's
	near("the path's over direct's", p.PathRatio.Value, 32.0/12)
	near("a connection's memory", p.PerConnected.Value, 4096)
	if p.Times != metric.ResponseP50 || p.AddedP50.N != 6 || !(p.AddedP50.Low > 0) || !(p.AddedP99.Value > 0) {
		t.Errorf("added are %+v and %+v to %s", p.AddedP50, p.AddedP99, p.Times)
	}
	if !p.SharedCPUs || len(p.Hops) != 1 || p.Hops[0].Version != "nginx 1" {
		t.Errorf("its hops are %+v, on shared CPUs: %v", p.Hops, p.SharedCPUs)
	}
	sections := all.Part().Sections
	if len(sections) != 1 || !strings.Contains(sections[0].Sentences[0], "path nginx") && !strings.Contains(sections[0].Sentences[0], "Path nginx") {
		t.Fatalf("the part is %+v", sections)
	}
	if rows := sections[0].Tables[1].Rows; len(rows) != 2 || rows[1][1].Text != "\u00a0\u00a0\u00a0to UPSTREAM" {
		t.Errorf("the configuration is shown as %+v", rows)
	}
	if none := Hops(nil).Part(); len(none.Sections) > 0 || len(Hops(nil).Headline().Sentences) > 0 {
		t.Errorf("a run without hops has %+v", none)
	}
}
