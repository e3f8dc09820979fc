package export

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode"

	"netdyno/internal/metric"
	"netdyno/internal/printable"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
)

// writeBenchmarks writes the valid trials in Go's benchmark format: a line for each
// trial, named by its arm and cell, so that the trials of one arm and cell are samples of
// one benchmark. An invalid trial is a comment with its reason.
//
// The configuration lines hold only what is equal in any two runs that can be compared,
// since benchstat puts runs whose configuration differs into separate tables.
//
// Source: golang.org/design/14313-benchmark-format; golang.org/x/perf/benchfmt.
func writeBenchmarks(w io.Writer, r Run, _ Table) error {
	s, err := r.judged()
	if err != nil {
		return err
	}
	b := benchmarks{printer: printer{out: w}, run: r, figures: benchmarkFigures(s)}
	b.print("# netdyno %s, study %s: a line for each valid trial\n", oneLine(r.Header.Netdyno), oneLine(r.study()))
	b.print("study: %s\n", oneLine(r.study()))
	if rig := oneLine(r.Header.Facts.Rig); rig != "" {
		b.print("rig: %s\n", rig)
	}
	for _, f := range b.figures {
		if f.Better != "" {
			b.print("Unit %s better=%s\n", f.unit, f.Better)
		}
	}
	for _, judged := range s.Places() {
		for _, v := range judged {
			b.trial(s, v)
		}
	}
	return b.err
}

// benchmarks is a file being written.
type benchmarks struct {
	printer
	run     Run
	figures []benchmarkFigure
}

// benchmarkFigure is a metric in a unit of the format.
type benchmarkFigure struct {
	metric.Metric
	unit  string
	scale float64
}

// benchmarkFigures returns every metric that a valid trial has, the primary ones first:
// benchstat prints its tables in the order of the units.
func benchmarkFigures(s *cells.Dataset) []benchmarkFigure {
	there := map[string]bool{}
	for _, v := range s.Trials {
		if v.Trial.Status == trial.Valid {
			for name := range v.Trial.Values.All() {
				there[name] = true
			}
		}
	}
	var all []benchmarkFigure
	for _, m := range metric.All() {
		if there[m.Name] {
			unit, scale := benchmarkUnit(namingOf(m))
			all = append(all, benchmarkFigure{m, unit, scale})
		}
	}
	slices.SortStableFunc(all, func(x, y benchmarkFigure) int {
		return rankOf(s.Compare.Primary, x.Name) - rankOf(s.Compare.Primary, y.Name)
	})
	return all
}

func rankOf(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return len(names)
}

// benchmarkUnit names a unit as Go's benchmarks do, which have times in ns and divide
// by an operation, here an exchange: "server-cpu-ns/op".
func benchmarkUnit(n naming) (unit string, scale float64) {
	unit, scale = strings.NewReplacer(".", "-", "_", "-").Replace(n.stem), n.scale
	switch n.base {
	case ofSeconds:
		unit, scale = unit+"-ns", scale*1e9
	case ofBytes:
		unit += "-B"
	case ofRatio:
		unit += "-ratio"
	}
	switch n.per {
	case "":
		return unit, scale
	case "exchange":
		return unit + "/op", scale
	case "gb":
		return unit + "/GB", scale
	}
	return unit + "/" + n.per, scale
}

func (b *benchmarks) trial(s *cells.Dataset, v *trial.Judged) {
	switch {
	case v.Record == nil:
		return // not run yet
	case v.Trial.Status != trial.Valid:
		b.print("# left out: trial %s of arm %s is %s: %s\n", oneLine(v.Plan.ID), oneLine(v.Plan.Arm), v.Trial.Status, oneLine(v.Trial.Reason))
		return
	}
	done, counted := exchanges(b.run, v).(int64)
	if !counted {
		done = 1 // the format has a number there
	}
	b.print("%s %d", b.name(s, v), done)
	if rate := v.Trial.Values.At(metric.ExchangesPerS); rate > 0 {
		b.print(" %s ns/op", plainNumber(1e9/rate))
	}
	for _, f := range b.figures {
		if x, ok := v.Trial.Values.Of(f.Name); ok && figure(x) != nil {
			unit := f.unit
			if v.Trial.AtLeast(f.Name) { // a unit of its own, which benchstat compares with no figure
				unit = "at-least-" + unit
			}
			b.print(" %s %s", plainNumber(x*f.scale), unit)
		}
	}
	b.print("\n")
}

// name is a benchmark's name: the study, the arm, and the levels that vary beside it.
func (b *benchmarks) name(s *cells.Dataset, v *trial.Judged) string {
	study := []rune(valid(b.run.study()))
	name := "Benchmark" + strings.ToUpper(string(study[:1])) + string(study[1:])
	parts := []string{escaped(name, inName)}
	compared := cmp.Or(s.Compare.Factor, "arm")
	add := func(factor, level string) {
		parts = append(parts, escaped(factor, inName)+"="+escaped(level, func(c rune) bool { return inName(c) || c == '=' }))
	}
	add(compared, v.Plan.Arm)
	for _, f := range s.Vary {
		if level, ok := v.Plan.Levels[f.Name]; ok && f.Name != compared {
			add(f.Name, level)
		}
	}
	return undashed(strings.Join(parts, "/"))
}

// inName tells what means nothing to the format, nor to benchstat's filters: no space,
// slash, equals sign, quote or control character.
func inName(c rune) bool {
	return unicode.IsGraphic(c) && !unicode.IsSpace(c) && !strings.ContainsRune("/=%\"\\", c)
}

// undashed writes the dash before a number at a name's end as %2D: the format would
// take it for GOMAXPROCS.
func undashed(name string) string {
	stem := strings.TrimRight(name, "0123456789")
	if stem == name || !strings.HasSuffix(stem, "-") {
		return name
	}
	return strings.TrimSuffix(stem, "-") + "%2D" + name[len(stem):]
}

// oneLine is text for a line of its own.
func oneLine(s string) string { return strings.TrimSpace(printable.Text(s)) }
