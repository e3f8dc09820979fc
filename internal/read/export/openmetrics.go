package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// writeOpenMetrics writes the figures of each arm in each cell as gauges, and the times
// of their valid trials as histograms, in seconds and bytes. Samples have the time at
// which the last of their trials ended, so that they can be filled in where they belong.
//
// Source: OpenMetrics 1.0.
func writeOpenMetrics(w io.Writer, r Run, _ Table) error {
	s, err := r.judged()
	if err != nil {
		return err
	}
	o := openMetrics{printer: printer{out: w}, run: r, data: s, cells: s.Describe()}
	o.places = o.placesOf()
	for _, m := range metric.All() {
		o.gauges(m)
	}
	for _, kind := range record.Kinds {
		o.histograms(kind)
	}
	o.print("# EOF\n")
	return o.err
}

// openMetrics is an exposition being written.
type openMetrics struct {
	printer
	run    Run
	data   *cells.Dataset
	cells  []cells.Cell
	places []place
}

// place is an arm in a cell, with what all of its samples share.
type place struct {
	cell, arm string
	figures   []cells.Summary
	labels    string
	from, to  time.Time // its first valid trial's begin, its last one's end; zero without any
}

// labelled are the place's labels, with one more on what is a lower bound.
func (p place) labelled(atLeast bool) string {
	if atLeast {
		return p.labels + "," + label("bound", lowerBound)
	}
	return p.labels
}

func (o *openMetrics) placesOf() []place {
	var all []place
	names := o.labelNames()
	for _, cell := range o.cells {
		for _, arm := range cell.Arms {
			p := place{cell: cell.Name, arm: arm.Name, figures: arm.Metrics}
			labels := []string{label("study", o.run.study()), label("run", o.run.name()), label("cell", cell.Name), label("arm", arm.Name)}
			for _, f := range o.run.asked().Vary {
				if level, ok := cell.Levels[f.Name]; ok && names[f.Name] != "" {
					labels = append(labels, label(names[f.Name], level))
				}
			}
			p.labels = strings.Join(labels, ",")
			for _, v := range o.valid(p) {
				begin := v.Record.StartedAt
				end := begin.Add(time.Duration(v.Record.Timeline.CloseNs))
				if p.from.IsZero() || begin.Before(p.from) {
					p.from = begin
				}
				if end.After(p.to) {
					p.to = end
				}
			}
			all = append(all, p)
		}
	}
	return all
}

// valid returns the valid trials of an arm in a cell.
func (o *openMetrics) valid(p place) []*trial.Judged {
	return slices.DeleteFunc(slices.Clone(o.data.Of(p.cell, p.arm)), func(v *trial.Judged) bool {
		return v.Trial.Status != trial.Valid || v.Record == nil
	})
}

// labelNames names the varied factors as labels may be named; two that come out alike
// are numbered.
func (o *openMetrics) labelNames() map[string]string {
	names, taken := map[string]string{}, []string{"study", "run", "cell", "arm", "le", "bound"}
	for _, f := range o.run.asked().Vary {
		if f.Name == o.run.asked().Compare.Factor {
			continue // which is the arm
		}
		name := identifier(f.Name)
		for n := 2; slices.Contains(taken, name); n++ {
			name = identifier(f.Name) + "_" + strconv.Itoa(n)
		}
		names[f.Name], taken = name, append(taken, name)
	}
	return names
}

// label is a label with its value escaped.
func label(name, value string) string {
	return name + `="` + openMetricsText(value) + `"`
}

// openMetricsText escapes a label's value or a help text.
func openMetricsText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`, "\x00", "\uFFFD", "\r", " ").Replace(valid(s))
}

// family heads a metric family.
func (o *openMetrics) family(name, kind, unit, help string) {
	o.print("# TYPE %s %s\n", name, kind)
	if unit != "" {
		o.print("# UNIT %s %s\n", name, unit)
	}
	o.print("# HELP %s %s\n", name, openMetricsText(help))
}

// familyName names a metric's family, which ends in its unit.
func familyName(m metric.Metric) (name, unit string, scale float64) {
	n := namingOf(m)
	name, scale = "netdyno_"+identifier(n.stem), n.scale
	unit = [...]string{ofCount: "", ofSeconds: "seconds", ofBytes: "bytes", ofRatio: "ratio"}[n.base]
	switch n.per {
	case "":
	case "s":
		unit = strings.TrimPrefix(unit+"_per_second", "_")
	case "gb":
		unit, scale = strings.TrimPrefix(unit+"_per_byte", "_"), scale*1e-9
	default:
		unit = strings.TrimPrefix(unit+"_per_"+n.per, "_")
	}
	if unit == "" {
		return name, "", scale
	}
	return name + "_" + unit, unit, scale
}

func (o *openMetrics) gauges(m metric.Metric) {
	name, unit, scale := familyName(m)
	headed := false
	for _, p := range o.places {
		i := slices.IndexFunc(p.figures, func(s cells.Summary) bool { return s.Metric == m.Name })
		if i < 0 || figure(p.figures[i].Value) == nil {
			continue
		}
		if !headed {
			headed = true
			o.family(name, "gauge", unit, m.Doc+": "+m.Formula)
		}
		o.print("%s{%s} %s%s\n", name, p.labelled(p.figures[i].AtLeast), plainNumber(p.figures[i].Value*scale), stamp(p.to))
	}
}

// stamp is the timestamp of a sample, with the space before it.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(" %d.%03d", t.Unix(), t.Nanosecond()/int(time.Millisecond))
}

// boundsNs are the upper bounds of a histogram's buckets: 1, 2 and 5 of each power of
// ten, from 1 µs to 200 s.
var boundsNs = func() []int64 {
	var all []int64
	for power := int64(1000); power <= 100_000_000_000; power *= 10 {
		all = append(all, power, 2*power, 5*power)
	}
	return all[:len(all)-1] // 500 s are more than a histogram has
}()

func (o *openMetrics) histograms(kind string) {
	name := "netdyno_" + kind + "_time_seconds"
	headed := false
	for _, p := range o.places {
		sum, atLeast := hist.New(), false
		for _, v := range o.valid(p) {
			if t, ok := record.NewWindow(v.Record).Times(kind); ok {
				sum.Merge(t.Least)
				atLeast = atLeast || t.Bounded()
			}
		}
		if sum.Count() == 0 {
			continue
		}
		if !headed {
			headed = true
			o.family(name, "histogram", "seconds", kind+" times of all exchanges of valid trials")
		}
		o.buckets(name, p.labelled(atLeast), sum, p)
	}
}

func (o *openMetrics) buckets(name, labels string, h *hist.Histogram, p place) {
	at := stamp(p.to)
	for i, n := range h.Steps().UpTo(boundsNs) {
		o.print("%s_bucket{%s,le=\"%s\"} %d%s\n", name, labels, canonical(float64(boundsNs[i])/1e9), n, at)
	}
	o.print("%s_bucket{%s,le=\"+Inf\"} %d%s\n", name, labels, h.Count(), at)
	o.print("%s_sum{%s} %s%s\n", name, labels, plainNumber(h.MeanNs()*float64(h.Count())/1e9), at)
	o.print("%s_count{%s} %d%s\n", name, labels, h.Count(), at)
	o.print("%s_created{%s} %s%s\n", name, labels, strings.TrimSpace(cmp.Or(stamp(p.from), "0")), at)
}

// canonical is a bound as OpenMetrics has it, so that the same bound is always the same
// text: with a point or an exponent.
func canonical(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}
