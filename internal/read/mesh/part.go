package mesh

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// Headline answers whether every host and what connects them is as good as the others.
func (m *Mesh) Headline() part.Headline {
	if m == nil {
		return part.Headline{}
	}
	tables := []part.Table{hostTable(m, false)}
	if pairs := namedPairs(m); len(pairs.Rows) > 0 {
		tables = append(tables, pairs)
	}
	return part.Headline{Place: part.Whole, Sentences: m.sentences(), Tables: tables}
}

// Part lays out what is worse than the others, with its evidence, and every host divided
// by the others.
func (m *Mesh) Part() part.Part {
	p := part.Part{ID: "mesh", Title: "Hosts and what connects them", Short: "Hosts"}
	if m == nil {
		return p
	}
	note := fmt.Sprintf("Each host, and each pair when its two hosts are taken out, is divided by the others. Intervals hold together: among equal hosts anything is named in at most %s of meshes. "+
		"What is named is worse by more than %s too, in more than half of its blocks.", quantity.ChosenShare(m.Level), quantity.ChosenShare(m.Margin))
	named := part.Section{ID: "outliers", Title: "What is worse than the others"}
	switch {
	case m.Unnamed != "":
		note = "Nobody is named: " + m.Unnamed + "."
	case len(m.Outliers) == 0:
		note = "Nothing is named. " + note
	}
	if len(m.Outliers) > 0 || m.Unnamed != "" {
		named.Tables = append(named.Tables, outlierTable(m))
	}
	if len(m.Hidden) > 0 {
		named.Tables = append(named.Tables, hiddenTable(m))
	}
	named.Sentences = []string{note}
	if m.Partners > 0 {
		named.Sentences = append(named.Sentences, drawn(m))
	}
	p.Sections = []part.Section{named, {ID: "hosts-apart", Title: "Host by host", Tables: []part.Table{hostTable(m, true)}}}
	return p
}

// drawn says what a mesh that has drawn its ways can tell.
func drawn(m *Mesh) string {
	return fmt.Sprintf("Each host met %d of the %d others, drawn by lot: %d of %d ways. Of the other ways nothing is known, and groups are found only where their hosts met.",
		m.Partners, len(m.Hosts)-1, m.Pairs, len(m.Hosts)*(len(m.Hosts)-1))
}

// mostMapped is how many hosts a map by pair has room for.
const mostMapped = 128

// outlierTable has a row for each effect by which something is named. What is unlike
// beside it, and why a host was lost, stands below.
func outlierTable(m *Mesh) part.Table {
	t := part.Table{Columns: slices.Concat(part.Titles("what", "evidence"), part.Figures("÷ the others"), part.Titles("partners"))}
	for _, o := range m.Outliers {
		who := part.Joined(" ", kindText(o), strings.Join(o.Hosts, whoJoins[o.Kind]))
		if o.Missing > 0 {
			t.Rows = append(t.Rows, []part.Datum{part.Word(who), part.Word(fmt.Sprintf("no figure: %d of %d", o.Missing, o.Of)), part.Missing(), part.Word("")})
			t.Notes = append(t.Notes, part.Sentence(o.Hosts[0]+", last: "+o.Reason))
		}
		for _, e := range o.Evidence {
			partners := ""
			if e.Of > 0 {
				partners = fmt.Sprintf("%d of %d", e.Partners, e.Of)
			}
			t.Rows = append(t.Rows, []part.Datum{part.Word(who), part.Word(evidenceLabel(m, e)), effectDatum(e.Effect, true), part.Word(partners)})
		}
		if len(o.Facts) > 0 {
			t.Notes = append(t.Notes, part.Sentence("unlike the others, "+strings.Join(o.Hosts, ", ")+": "+strings.Join(o.Facts, "; ")))
		}
	}
	return t
}

// hiddenTable has a row for each metric: how much worse what is not named may be.
func hiddenTable(m *Mesh) part.Table {
	t := part.Table{
		Caption: fmt.Sprintf("How much worse than the others a host, or the way between two, may be that is not named, by the worst end of their intervals. Hosts are as good as each other where that is at most %s.", quantity.ChosenShare(m.Bound()-1)),
		Columns: slices.Concat(part.Titles("in"), part.Figures("a host", "a way")),
	}
	for _, h := range m.Hidden {
		row := part.Row(part.Label(h.Metric))
		for _, times := range []float64{h.Hosts, h.Ways} {
			if times > 0 {
				row = append(row, part.Value(part.Times(times), ""))
			} else {
				row = append(row, part.Missing())
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

var whoJoins = map[Kind]string{OfPair: " → ", OfLeaf: ", "}

// kindText names what is wrong.
func kindText(o Outlier) string {
	if o.Kind == OfHost && o.Full {
		return "host, CPU full"
	}
	return string(o.Kind)
}

// evidenceLabel names an effect.
func evidenceLabel(m *Mesh, e Evidence) string {
	what := map[string]string{Goodput: "goodput", m.Latency: "latency", SendCPU: "CPU per GB", ReceiveCPU: "CPU per GB"}[e.Metric]
	how := map[Role]string{Sends: "sending", Receives: "receiving", Asks: "as client", Answers: "as server"}[e.Role]
	return part.Joined(" ", what, how)
}

func effectDatum(e Effect, interval bool) part.Datum {
	if !e.Known() {
		return part.Missing()
	}
	r := &part.Ratio{Text: part.Times(e.Ratio)}
	if interval && e.Low < e.High {
		r.Interval = part.Span(e.Low, e.High)
	}
	return part.Datum{Ratio: r, Strong: e.Off}
}

// hostTable has a row for each host, and the middle pair's figures below.
func hostTable(m *Mesh, whole bool) part.Table {
	t, columns := part.Table{Columns: part.Titles("", "")}, hostColumns(m)
	for _, c := range columns {
		t.Columns = append(t.Columns, part.Figures(c.title)...)
	}
	if whole {
		t.Caption = "Every host as sender, as receiver, in the role in which its latency is higher, and by what it spends itself: divided by the others, with simultaneous intervals."
	}
	kinds := map[string]string{}
	for _, o := range m.Outliers {
		for _, h := range o.Hosts {
			if o.Kind != OfPair {
				kinds[h] = kindText(o)
			}
		}
	}
	for _, h := range m.Hosts {
		if !whole && kinds[h.Name] == "" {
			continue
		}
		row := part.Row(h.Name, kinds[h.Name])
		for _, c := range columns {
			row = append(row, effectDatum(c.of(h), whole))
		}
		t.Rows = append(t.Rows, row)
	}
	middle, low, high := part.Row("middle pair", ""), part.Row("lowest", ""), part.Row("highest", "")
	for _, c := range columns {
		one := c.Middle
		s := part.ScaleFor(one.Metric, one.Value)
		middle = append(middle, part.Word(s.Format(one.Value)+part.NoBreak+s.Unit))
		low, high = append(low, part.Value(s.Format(one.Low), "")), append(high, part.Value(s.Format(one.High), ""))
	}
	t.Rows = append(t.Rows, middle, low, high)
	return t
}

// hostColumn is a column of a table of hosts: an effect, beside the middle pair's figure.
type hostColumn struct {
	Middle
	title string
	of    func(Host) Effect
}

// hostColumns are in the order of the mesh's metrics; goodput has two.
func hostColumns(m *Mesh) []hostColumn {
	var all []hostColumn
	for _, one := range m.Middles {
		add := func(title string, of func(Host) Effect) { all = append(all, hostColumn{one, title, of}) }
		switch one.Metric {
		case Goodput:
			add("sends", func(h Host) Effect { return h.Sends })
			add("receives", func(h Host) Effect { return h.Receives })
		case m.Latency:
			add("latency", Host.Latency)
		case SendCPU:
			add("send CPU", func(h Host) Effect { return h.SendCPU })
		case ReceiveCPU:
			add("recv CPU", func(h Host) Effect { return h.ReceiveCPU })
		}
	}
	return all
}

// namedPairs has the pairs that are named.
func namedPairs(m *Mesh) part.Table {
	t := part.Table{Columns: append(part.Titles("from", "to", ""), part.Figures("÷ the others")...)}
	for _, o := range m.Outliers {
		if o.Kind != OfPair {
			continue
		}
		for _, e := range o.Evidence {
			t.Rows = append(t.Rows, append(part.Row(o.Hosts[0], o.Hosts[1], evidenceLabel(m, e)), effectDatum(e.Effect, true)))
		}
	}
	return t
}

// Charts returns the heat maps of the mesh: each metric by sender and receiver; none of
// more hosts than can be seen on one.
func (m *Mesh) Charts() []record.Chart {
	if m == nil || len(m.Hosts) > mostMapped {
		return nil
	}
	titles := map[string]string{
		Goodput: "Goodput by pair", SendCPU: "What sending costs, by pair", ReceiveCPU: "What receiving costs, by pair", m.Latency: "Latency by pair",
	}
	var all []record.Chart
	for _, one := range m.Middles {
		where := map[string]string{"stream": m.Stream}
		if one.Metric == m.Latency {
			where["stream"] = "no"
		}
		all = append(all, record.Chart{Title: titles[one.Metric], Kind: record.Heat, Metric: one.Metric, X: serverHost, Y: clientHost, Where: where})
	}
	return all
}
