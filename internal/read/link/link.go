// Package link answers what a study of a link is asked: whether TCP fills it, with how
// little, whether anything else is necessary, and how a TCP program is tuned. Shares are
// of the link's nominal rate, headers counted. It is pure.
package link

import (
	"cmp"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/pays"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// Link is what a run says of the link that its trials went through.
type Link struct {
	Spec     record.LinkQuestion `json:"spec"`
	Rate     string              `json:"rate,omitempty"`           // nominal, as a level of link.rate: "1Gbit/s"; "" where no trial has one
	Level    float64             `json:"interval_level,omitempty"` // 1 − the confidence of every share's interval: those of TCP hold together with 95 %
	Settings []Setting           `json:"settings,omitempty"`       // every arm in every cell at Spec.Where, in the study's order
	Tuned    []Tuned             `json:"tuned,omitempty"`          // arms of TCP with options, beside the same arm without, the cheapest first
	Answers  []Answer            `json:"answers"`                  // in the order of the questions
}

// Answer is one question with its answer, which names a command where it waits for
// something.
type Answer struct {
	Question string `json:"question"`
	Sentence string `json:"sentence"`
}

// Setting is an arm in a cell. Without a known rate it has no Share.
type Setting struct {
	Cell     string       `json:"cell"`
	Arm      string       `json:"arm"`
	Streams  float64      `json:"streams"`           // connections
	Threads  float64      `json:"threads,omitempty"` // of each end; 0 where the transport chooses
	Share    cells.Figure `json:"share"`             // of the link's rate, headers counted; its interval is of Link.Level
	Goodput  cells.Figure `json:"goodput"`           // bytes/s
	Cores    cells.Figure `json:"cores"`             // of both ends together
	Client   cells.Figure `json:"client_cores"`
	Server   cells.Figure `json:"server_cores"`
	Limit    trial.Limit  `json:"limit"` // of most of its trials
	Standing Standing     `json:"standing,omitempty"`
}

// Standing says whether a setting fills the link.
type Standing string

// The standings of a setting.
const (
	Fills      Standing = "fills it"
	StaysBelow Standing = "stays below"
	Open       Standing = "open"
)

// Read answers the questions of a study that asks about its link; nil for any other.
func Read(s *cells.Dataset, replacements pays.Replacements) *Link {
	if s.Header.Study.Fills == nil {
		return nil
	}
	l := &Link{Spec: *s.Header.Study.Fills}
	at := l.settings(s)
	l.judge(at)
	l.tuned(s)
	l.answer(s, replacements)
	return l
}

// gathered are the trials of a setting.
type gathered struct {
	judged                []*trial.Judged
	share, goodput, cores cells.Pool
	client, server        cells.Pool
}

// settings gathers every arm in every cell at the spec's levels, by valid trials alone,
// and finds out the link's rate.
func (l *Link) settings(s *cells.Dataset) []*gathered {
	var at []*gathered
	for _, cell := range s.Cells {
		for _, arm := range s.Arms {
			g := &gathered{}
			for _, v := range s.Of(cell, arm) {
				if v.Trial.Status == trial.Valid && s.IsAt(v, l.Spec.Where) {
					g.add(v)
				}
			}
			if len(g.judged) == 0 {
				continue
			}
			if rate, known := s.LinkRate(g.judged); known {
				l.Rate = cmp.Or(l.Rate, rate)
			}
			l.Settings = append(l.Settings, g.setting(cell, arm))
			at = append(at, g)
		}
	}
	return at
}

func (g *gathered) add(v *trial.Judged) {
	g.judged = append(g.judged, v)
	enter := func(p *cells.Pool, name string) {
		if x, ok := v.Trial.Values.Of(name); ok {
			p.Add(v.Plan.Block, x)
		}
	}
	enter(&g.share, metric.LinkRateShare)
	enter(&g.goodput, metric.Goodput)
	enter(&g.client, metric.OfClient+metric.Cores)
	enter(&g.server, metric.OfServer+metric.Cores)
	if both, ok := cells.OfBothEnds(&v.Trial, metric.Cores); ok {
		g.cores.Add(v.Plan.Block, both)
	}
}

func (g *gathered) setting(cell, arm string) Setting {
	x := Setting{Cell: cell, Arm: arm}
	levels := g.judged[0].Plan.Levels
	x.Streams, _ = view.NumberOf(levels["connections"])
	x.Threads, _ = view.NumberOf(levels["threads"])
	x.Share, _ = g.share.Figure() // what has no value is 0 and is not shown
	x.Goodput, _ = g.goodput.Figure()
	x.Cores, _ = g.cores.Figure()
	x.Client, _ = g.client.Figure()
	x.Server, _ = g.server.Figure()
	x.Limit, _ = cells.LimitOf(g.judged)
	return x
}

// leastBlocks is the number of blocks from which a share has a standing.
const leastBlocks = 3

// judge widens the shares' intervals so that those of all settings of TCP hold together
// (Bonferroni): that the best of them fills the link is then said wrongly in at most 5 %
// of runs, however many were tried. The same interval decides every standing.
func (l *Link) judge(at []*gathered) {
	of := 0
	for _, x := range l.Settings {
		if l.isTCP(x.Arm) {
			of++
		}
	}
	l.Level = (1 - stat.Confidence) / float64(max(1, of))
	for i := range l.Settings {
		x := &l.Settings[i]
		logs := at[i].share.Logs()
		e, ok := stat.MeanAt(logs, l.Level)
		if !ok || len(logs) < leastBlocks {
			continue
		}
		x.Share.Low, x.Share.High = math.Exp(e.Low), cells.Finite(math.Exp(e.High))
		switch {
		case x.Share.Low >= l.Spec.Share:
			x.Standing = Fills
		case x.Share.High < l.Spec.Share:
			x.Standing = StaysBelow
		default:
			x.Standing = Open
		}
	}
}

func (l *Link) isTCP(arm string) bool { return slices.Contains(l.Spec.TCP, arm) }

// cheapest returns, of the settings of some arms that fill the link, the one that takes
// the fewest cores of both ends; nil for none.
func (l *Link) cheapest(of func(arm string) bool) *Setting {
	var least *Setting
	for i := range l.Settings {
		x := &l.Settings[i]
		if of(x.Arm) && x.Standing == Fills && x.Cores.N > 0 && (least == nil || x.Cores.Value < least.Cores.Value) {
			least = x
		}
	}
	return least
}

// Filled tells whether some setting of TCP fills the link.
func (l *Link) Filled() bool { return l != nil && l.cheapest(l.isTCP) != nil }

// most returns the setting of some arms that brings the most of the link, or without a
// rate the most; nil for none.
func (l *Link) most(of func(arm string) bool) *Setting {
	var best *Setting
	for i := range l.Settings {
		x := &l.Settings[i]
		if of(x.Arm) && (best == nil || cmp.Or(cmp.Compare(x.Share.Value, best.Share.Value), cmp.Compare(x.Goodput.Value, best.Goodput.Value)) > 0) {
			best = x
		}
	}
	return best
}
