package mesh

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// The factors that place the ends of a trial.
const (
	serverHost = "server.host"
	clientHost = "client.host"
)

// standardMargin is the margin of a mesh that declares none.
const standardMargin = 0.05

// Read returns what a run of a mesh found; nil for any other run.
func Read(s *cells.Dataset) *Mesh {
	names := s.LevelsOf(clientHost)
	if len(names) < 2 {
		return nil
	}
	r := newReading(s, names)
	m := &Mesh{Level: Level, Partners: s.Kind.Partners, Margin: s.Compare.Margin, Blocks: r.blocks, Latency: r.latency, Stream: r.stream}
	if m.Margin <= 0 {
		m.Margin = standardMargin
	}
	r.judge(m)
	m.Unnamed = unnamed(len(names), r.blocks)
	if m.Outliers = r.lostHosts(); m.Unnamed == "" {
		m.Outliers = r.diagnose(m, m.Outliers)
		m.Hidden = r.hidden(m)
	}
	m.Middles = r.middles(m)
	for i := range m.Outliers {
		m.Outliers[i].Facts = unlike(s.Facts, m.Outliers[i], named(m.Outliers))
	}
	return m
}

// From how many hosts on a host can be told from its partners, and from how many
// blocks on a pair from a disturbance that meets it twice.
const (
	fewestHosts  = 4
	fewestBlocks = 3
)

func unnamed(hosts, blocks int) string {
	switch {
	case hosts < fewestHosts:
		return fmt.Sprintf("with fewer than %d hosts a host cannot be told from its partners", fewestHosts)
	case blocks < fewestBlocks:
		return fmt.Sprintf("with fewer than %d blocks a slow pair cannot be told from a disturbed one", fewestBlocks)
	}
	return ""
}

// reading is a mesh on its way from trials to effects.
type reading struct {
	names   []string
	at      map[string]int // place of a name
	blocks  int
	latency string // metric
	stream  string // direction of the bulk trials
	hosts   []Host
	lost    []map[int]lost // by host, and by partner
	grids   map[string]*Grid
	effects map[string]Effects
}

// lost is what is known of trials without a figure.
type lost struct {
	missing, of int
	failed      int    // of the missing: cut short, not only doubtful
	reason      string // of the last
	at          int    // its place in the run
}

// lose adds a trial without a figure.
func (l *lost) lose(v *trial.Judged) {
	l.missing, l.at, l.reason = l.missing+1, v.Plan.Order, v.Trial.Reason
	if v.Trial.Status == trial.StatusFailed {
		l.failed++
	}
	if l.reason == "" && len(v.Why) > 0 { // it stood still, and has no rates
		l.reason = v.Why[0]
	}
}

// newReading sorts the valid trials into grids.
func newReading(s *cells.Dataset, names []string) *reading {
	r := &reading{names: names, at: make(map[string]int, len(names)), grids: map[string]*Grid{}, effects: map[string]Effects{}, lost: make([]map[int]lost, len(names))}
	for i, name := range names {
		r.at[name], r.lost[i] = i, map[int]lost{}
		r.hosts = append(r.hosts, Host{Name: name, Leaf: s.Facts.Seats[name].Values[record.LeafFact]})
	}
	blocks := map[int]int{}
	for _, v := range s.Trials {
		if v.Trial.Status != trial.StatusMissing {
			blocks[v.Plan.Block] = 0
		}
	}
	for i, b := range slices.Sorted(maps.Keys(blocks)) {
		blocks[b] = i
	}
	r.blocks = len(blocks)
	for _, v := range s.Trials {
		r.takeTrial(v, blocks)
	}
	return r
}

// takeTrial files one trial.
func (r *reading) takeTrial(v *trial.Judged, blocks map[int]int) {
	client, from := r.at[v.Plan.Levels[clientHost]]
	server, to := r.at[v.Plan.Levels[serverHost]]
	if !from || !to || client == server || v.Trial.Status == trial.StatusMissing {
		return
	}
	measured := v.Trial.Status == trial.Valid && r.measured(v, place{client, server, blocks[v.Plan.Block]})
	for _, end := range [][2]int{{client, server}, {server, client}} {
		h, l := &r.hosts[end[0]], r.lost[end[0]][end[1]]
		h.Trials++
		if measured {
			h.Valid++
		} else {
			l.lose(v)
		}
		l.of++
		r.lost[end[0]][end[1]] = l
	}
}

// place is where a trial belongs in a grid.
type place struct{ from, to, block int }

// measured enters the figures of a valid trial, whose client is its sender unless it
// streams down, and tells whether it has any.
func (r *reading) measured(v *trial.Judged, at place) bool {
	client, server := at.from, at.to
	metrics := map[string]string{Goodput: Goodput, SendCPU: SendCPU, ReceiveCPU: ReceiveCPU}
	switch v.Plan.Levels["stream"] {
	case string(contract.StreamDown):
		at.from, at.to = server, client
		metrics[SendCPU], metrics[ReceiveCPU] = ReceiveCPU, SendCPU
	case "no", "":
		return r.takeLatency(v, at)
	}
	has := false
	for name, of := range metrics {
		has = r.enter(name, v.Trial.Values.At(of), at) || has
	}
	if !has {
		return false
	}
	r.stream = v.Plan.Levels["stream"]
	r.hosts[client].Bulk++
	r.hosts[server].Bulk++
	switch {
	case v.LimitOf == contract.Client && v.Trial.Limit.OfCPU():
		r.hosts[client].Full++
	case v.LimitOf == contract.Server && v.Trial.Limit.OfCPU():
		r.hosts[server].Full++
	}
	return true
}

// takeLatency files a trial of small messages: by what its user waits in an open
// loop, by what an exchange takes in a closed one.
func (r *reading) takeLatency(v *trial.Judged, at place) bool {
	for _, name := range []string{metric.ResponseP50, metric.ServiceP50} {
		if r.latency == "" || r.latency == name {
			if r.enter(name, v.Trial.Values.At(name), at) {
				r.latency = name
				return true
			}
		}
	}
	return false
}

// enter puts a figure into a metric's grid; false when there is none.
func (r *reading) enter(name string, x float64, at place) bool {
	if !cells.Usable(x) {
		return false
	}
	if r.grids[name] == nil {
		r.grids[name] = NewGrid(len(r.names), r.blocks)
	}
	r.grids[name].Set(at.from, at.to, at.block, math.Log(x))
	return true
}

// parts are the tests among which the level is divided: hosts and pairs by goodput
// and by latency, hosts by what either end costs.
const parts = 6

// judge takes every metric apart and enters the hosts' effects.
func (r *reading) judge(m *Mesh) {
	share := m.Level / parts
	rules := map[string]Rule{
		Goodput:    {Worse: -1, Margin: m.Margin, Hosts: share, Pairs: share},
		SendCPU:    {Worse: 1, Margin: m.Margin, Hosts: 2 * share}, // the partners' columns are not looked at
		ReceiveCPU: {Worse: 1, Margin: m.Margin, Hosts: 2 * share},
	}
	if r.latency != "" {
		rules[r.latency] = Rule{Worse: 1, Margin: m.Margin, Hosts: share, Pairs: share}
	}
	for name, rule := range rules {
		if g := r.grids[name]; g != nil {
			r.effects[name] = Judge(g, rule)
		}
	}
	for i := range r.hosts {
		h := &r.hosts[i]
		h.Sends, h.Receives = r.host(Goodput, i)
		h.Asks, h.Answers = r.host(r.latency, i)
		h.SendCPU, _ = r.host(SendCPU, i)
		_, h.ReceiveCPU = r.host(ReceiveCPU, i)
	}
	m.Hosts = r.hosts
	m.Pairs = len(r.effects[Goodput].Pairs)
}

func (r *reading) host(name string, i int) (from, to Effect) {
	e, known := r.effects[name]
	if !known {
		return Effect{}, Effect{}
	}
	return e.From[i], e.To[i]
}

// middles are the metrics' medians over pairs, and how far the pairs of hosts reach
// that are not named.
func (r *reading) middles(m *Mesh) []Middle {
	off := r.which(named(m.Outliers))
	var all []Middle
	for _, name := range []string{Goodput, r.latency, SendCPU, ReceiveCPU} {
		e, known := r.effects[name]
		if !known {
			continue
		}
		var values []float64
		for i, row := range e.Table {
			for j, x := range row {
				if !math.IsNaN(x) && !off[i] && !off[j] {
					values = append(values, x)
				}
			}
		}
		one := Middle{Metric: name, Value: e.Middle, Low: e.Middle, High: e.Middle, Noise: e.Noise}
		if len(values) > 0 {
			one.Value, one.Low, one.High = math.Exp(stat.Median(values)), math.Exp(slices.Min(values)), math.Exp(slices.Max(values))
		}
		all = append(all, one)
	}
	return all
}

// which tells of every host whether it is among some names.
func (r *reading) which(names []string) []bool {
	are := make([]bool, len(r.names))
	for _, name := range names {
		are[r.at[name]] = true
	}
	return are
}

// named lists the hosts of outliers. The hosts of a named pair are not named: they are as
// good as others.
func named(outliers []Outlier) []string {
	var all []string
	for _, o := range outliers {
		if o.Kind != OfPair {
			all = append(all, o.Hosts...)
		}
	}
	return all
}
