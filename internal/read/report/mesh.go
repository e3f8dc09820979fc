package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/read/mesh"
)

// mesh lays out what is worse than the others, with its evidence, and every host
// divided by the others.
func (l *layout) mesh() []Section {
	m := l.Mesh
	if m == nil {
		return nil
	}
	note := fmt.Sprintf("Each host, and each pair when its two hosts are taken out, is divided by the others. Intervals hold together: among equal hosts anything is named in at most %s of meshes. "+
		"What is named is worse by more than %s too, in more than half of its blocks.", shareText(m.Level), shareText(m.Margin))
	if m.Unnamed != "" {
		note = "Nobody is named: " + m.Unnamed + "."
	}
	named := Section{ID: "outliers", Title: "What is worse than the others", Note: note, Tables: []Table{outlierTable(m)}}
	if len(m.Outliers) == 0 && m.Unnamed == "" {
		named.Note = "Nothing is named. " + note
		named.Tables = nil
	}
	if len(m.Hidden) > 0 {
		named.Tables = append(named.Tables, hiddenTable(m))
	}
	return []Section{named, {ID: "hosts-apart", Title: "Host by host", Tables: []Table{hostTable(m, true)}}}
}

// shareText prints a share in percent.
func shareText(x float64) string {
	return strings.TrimSpace(fmt.Sprintf("%.3g", 100*x)) + noBreak + "%"
}

// outlierTable has a row for each effect by which something is named. What is unlike
// beside it, and why a host was lost, stands below.
func outlierTable(m *mesh.Mesh) Table {
	t := Table{Columns: slices.Concat(columns("what", "evidence"), numbers("÷ the others"), columns("partners"))}
	for _, o := range m.Outliers {
		who := joined(" ", kindText(o), strings.Join(o.Hosts, whoJoins[o.Kind]))
		if o.Missing > 0 {
			t.Rows = append(t.Rows, []Datum{word(who), word(fmt.Sprintf("no figure: %d of %d", o.Missing, o.Of)), missing(), word("")})
			t.Notes = append(t.Notes, sentence(o.Hosts[0]+", last: "+o.Reason))
		}
		for _, e := range o.Evidence {
			partners := ""
			if e.Of > 0 {
				partners = fmt.Sprintf("%d of %d", e.Partners, e.Of)
			}
			t.Rows = append(t.Rows, []Datum{word(who), word(evidenceLabel(m, e)), effectDatum(e.Effect, true), word(partners)})
		}
		if len(o.Facts) > 0 {
			t.Notes = append(t.Notes, sentence("unlike the others, "+strings.Join(o.Hosts, ", ")+": "+strings.Join(o.Facts, "; ")))
		}
	}
	return t
}

// hiddenTable has a row for each metric: how much worse what is not named may be.
func hiddenTable(m *mesh.Mesh) Table {
	t := Table{
		Caption: fmt.Sprintf("How much worse than the others a host, or the way between two, may be that is not named, by the worst end of their intervals. Hosts are as good as each other where that is at most %s.", shareText(m.Bound()-1)),
		Columns: slices.Concat(columns("in"), numbers("a host", "a way")),
	}
	for _, h := range m.Hidden {
		row := words(labelOf(h.Metric))
		for _, times := range []float64{h.Hosts, h.Ways} {
			if times > 0 {
				row = append(row, number(ratio(times), ""))
			} else {
				row = append(row, missing())
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

var whoJoins = map[mesh.Kind]string{mesh.OfPair: " → ", mesh.OfLeaf: ", "}

// kindText names what is wrong.
func kindText(o mesh.Outlier) string {
	if o.Kind == mesh.OfHost && o.Full {
		return "host, CPU full"
	}
	return string(o.Kind)
}

// evidenceLabel names an effect.
func evidenceLabel(m *mesh.Mesh, e mesh.Evidence) string {
	what := map[string]string{mesh.Goodput: "goodput", m.Latency: "latency", mesh.SendCPU: "CPU per GB", mesh.ReceiveCPU: "CPU per GB"}[e.Metric]
	how := map[mesh.Role]string{mesh.Sends: "sending", mesh.Receives: "receiving", mesh.Asks: "as client", mesh.Answers: "as server"}[e.Role]
	return joined(" ", what, how)
}

func effectDatum(e mesh.Effect, interval bool) Datum {
	if !e.Known() {
		return missing()
	}
	r := &Ratio{Text: ratio(e.Ratio)}
	if interval && e.Low < e.High {
		r.Interval = ratioInterval(e.Low, e.High)
	}
	return Datum{Ratio: r, Strong: e.Off}
}

// hostTable has a row for each host, and the middle pair's figures below.
func hostTable(m *mesh.Mesh, whole bool) Table {
	t := Table{Columns: append(columns("", ""), meshColumns(m)...)}
	if whole {
		t.Caption = "Every host as sender, as receiver, in the role in which its latency is higher, and by what it spends itself: divided by the others, with simultaneous intervals."
	}
	kinds := map[string]string{}
	for _, o := range m.Outliers {
		for _, h := range o.Hosts {
			if o.Kind != mesh.OfPair {
				kinds[h] = kindText(o)
			}
		}
	}
	for _, h := range m.Hosts {
		if !whole && kinds[h.Name] == "" {
			continue
		}
		row := words(h.Name, kinds[h.Name])
		for _, e := range hostEffects(m, h) {
			row = append(row, effectDatum(e, whole))
		}
		t.Rows = append(t.Rows, row)
	}
	middle, low, high := words("middle pair", ""), words("lowest", ""), words("highest", "")
	for _, name := range meshMetrics(m) {
		i := slices.IndexFunc(m.Middles, func(one mesh.Middle) bool { return one.Metric == name })
		one := m.Middles[i]
		s := scaleFor(name, one.Value)
		middle = append(middle, word(s.Format(one.Value)+noBreak+s.Unit))
		low, high = append(low, number(s.Format(one.Low), "")), append(high, number(s.Format(one.High), ""))
	}
	t.Rows = append(t.Rows, middle, low, high)
	return t
}

// meshMetrics are the metrics of the columns of a table of hosts.
func meshMetrics(m *mesh.Mesh) []string {
	var all []string
	for _, one := range m.Middles {
		all = append(all, one.Metric)
		if one.Metric == mesh.Goodput {
			all = append(all, one.Metric)
		}
	}
	return all
}

func meshColumns(m *mesh.Mesh) []Column {
	titles := map[string][]string{
		mesh.Goodput: {"sends", "receives"}, m.Latency: {"latency"}, mesh.SendCPU: {"send CPU"}, mesh.ReceiveCPU: {"recv CPU"},
	}
	var all []Column
	for _, one := range m.Middles {
		all = append(all, numbers(titles[one.Metric]...)...)
	}
	return all
}

func hostEffects(m *mesh.Mesh, h mesh.Host) []mesh.Effect {
	effects := map[string][]mesh.Effect{
		mesh.Goodput: {h.Sends, h.Receives}, m.Latency: {h.Latency()}, mesh.SendCPU: {h.SendCPU}, mesh.ReceiveCPU: {h.ReceiveCPU},
	}
	var all []mesh.Effect
	for _, one := range m.Middles {
		all = append(all, effects[one.Metric]...)
	}
	return all
}

// namedPairs has the pairs that are named.
func namedPairs(m *mesh.Mesh) Table {
	t := Table{Columns: append(columns("from", "to", ""), numbers("÷ the others")...)}
	for _, o := range m.Outliers {
		if o.Kind != mesh.OfPair {
			continue
		}
		for _, e := range o.Evidence {
			t.Rows = append(t.Rows, append(words(o.Hosts[0], o.Hosts[1], evidenceLabel(m, e)), effectDatum(e.Effect, true)))
		}
	}
	return t
}

// meshForms are what a terminal shows of a mesh: the hosts that are named, below
// them what the others do, and the pairs that are named.
func (l *layout) meshForms() [][]Table {
	tables := []Table{hostTable(l.Mesh, false)}
	if pairs := namedPairs(l.Mesh); len(pairs.Rows) > 0 {
		tables = append(tables, pairs)
	}
	return [][]Table{tables}
}
