package hops

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/printable"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// mostSaid bounds the sentences; the table has every path.
const mostSaid = 4

// Headline says what each path costs.
func (all Hops) Headline() part.Headline {
	var h part.Headline
	for _, p := range all {
		if text := p.sentence(); text != "" && len(h.Sentences) < mostSaid {
			h.Sentences = append(h.Sentences, text)
		}
	}
	return h
}

// Part has what each path adds and uses, and how its hops were configured.
func (all Hops) Part() part.Part {
	p := part.Part{ID: "hops", Title: "What lies between"}
	if len(all) == 0 {
		return p
	}
	s := part.Section{ID: "hops-cost", Title: "What each hop costs", Sentences: all.Headline().Sentences, Tables: []part.Table{part.Bounded(all.costs())}}
	if slices.ContainsFunc(all, func(p Path) bool { return p.SharedCPUs }) {
		s.Notes = append(s.Notes, "Hops ran on CPUs of a server or a client, as the machine has too few for all of them: CPU per exchange is each one's own, but rates and times are those of shared CPUs.")
	}
	if t := all.configurations(); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, part.Bounded(t))
	}
	p.Sections = []part.Section{s}
	return p
}

// sentence says what a path costs; "" where nothing is known.
func (p Path) sentence() string {
	if !p.CPU.Known() || !p.AddedP50.Known() || p.CPU.N == 0 {
		return ""
	}
	us := func(a Added) string {
		d := part.Amount(a.Value, a.Low, a.High, part.ScaleFor(p.Times, max(a.High, -a.Low)))
		return d.Figure.Full()
	}
	text := fmt.Sprintf("path %s%s adds %s to the median", p.Level, cells.InCell(p.Cell), us(p.AddedP50))
	if p.AddedP99.Known() {
		text += fmt.Sprintf(" and %s to the 99th percentile", us(p.AddedP99))
	}
	text += fmt.Sprintf("; its hops use %s of CPU", part.FigureWords(metric.HopCPU, p.CPU))
	if p.PathRatio.Known() {
		text += fmt.Sprintf(", and with the server's the path costs %s the CPU of direct", part.TimesIn(p.PathRatio.Value, p.PathRatio.Low, p.PathRatio.High))
	}
	return part.Sentence(text)
}

// costs lists what every path adds to the trials without it, and what its hops use.
func (all Hops) costs() part.Table {
	var between []string // where arms are not named by their paths
	if slices.ContainsFunc(all, func(p Path) bool { return p.Arm != p.Level }) {
		between = []string{"path"}
	}
	t := part.Table{
		Caption: "Added is the difference to the same trial without a hop in the same block: times of the clients, and CPU of the server for an exchange. " +
			"CPU and memory of the hops are those of their processes; the path is hops and server. Intervals are 95 %.",
		Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Titles(between...),
			part.Figures("added median", "added p99", "hop CPU/exchange", "added server CPU", "path CPU/exchange", "path CPU ÷ direct", "hop RSS", "RSS/connection")),
	}
	for _, p := range all {
		added := func(name string, a Added) part.Datum {
			if !a.Known() {
				return part.Missing()
			}
			return part.Amount(a.Value, a.Low, a.High, part.ScaleFor(name, max(a.High, -a.Low)))
		}
		amount := func(name string, f cells.Figure) part.Datum { return part.AmountOf(f, part.ScaleFor(name, f.Value)) }
		ratio := part.Missing()
		if p.PathRatio.Known() {
			ratio = part.Value(part.Times(p.PathRatio.Value), part.Span(p.PathRatio.Low, p.PathRatio.High))
		}
		named := []part.Datum{part.Word(p.Cell), part.Word(p.Arm)}
		for range between {
			named = append(named, part.Word(p.Level))
		}
		t.Rows = append(t.Rows, append(named, []part.Datum{
			added(p.Times, p.AddedP50), added(p.Times, p.AddedP99), amount(metric.HopCPU, p.CPU), added(metric.HopCPU, p.AddedServer),
			amount(metric.PathCPU, p.PathCPU), ratio, amount(metric.HopRSS, p.RSS), amount(metric.HopConnectionRSS, p.PerConnected),
		}...))
	}
	return t
}

// configurations lists the lines of every hop's configuration, each once.
func (all Hops) configurations() part.Table {
	t := part.Table{
		Caption: "The configuration as each hop read it. DIR is a directory that is gone once it listens.",
		Columns: part.Titles("hop", "configuration"), Folded: true,
	}
	told := map[string]bool{}
	for _, p := range all {
		for _, h := range p.Hops {
			name := strings.TrimSpace(h.Name + " " + h.Version)
			if told[name+h.Configuration] || h.Configuration == "" {
				continue
			}
			told[name+h.Configuration] = true
			for line := range strings.Lines(h.Configuration) {
				line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "\u00a0\u00a0\u00a0")
				t.Rows = append(t.Rows, part.Row(printable.Text(name), printable.Text(line)))
				name = ""
			}
		}
	}
	return t
}
