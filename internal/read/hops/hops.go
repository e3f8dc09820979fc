// Package hops says what lies between clients and a server costs: what a path adds to the
// times of the same trial without it, in the same block, and what its hops use. It is pure.
package hops

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Hops are the paths of a run, in the study's order.
type Hops []Path

// Path is a path with hops in a cell, beside the same trials without them.
type Path struct {
	Cell         string       `json:"cell"`
	Arm          string       `json:"arm"`
	Level        string       `json:"path"`  // of factor path
	Times        string       `json:"times"` // metric of the median: of response times in an open loop, else of service times
	AddedP50     Added        `json:"added_p50_us"`
	AddedP99     Added        `json:"added_p99_us"`
	AddedServer  Added        `json:"added_server_cpu_us"` // per exchange
	CPU          cells.Figure `json:"hop_cpu_us_per_exchange"`
	PathCPU      cells.Figure `json:"path_cpu_us_per_exchange"` // of hops and server
	PathRatio    Added        `json:"path_cpu_ratio"`           // ÷ the server's where there is no hop
	RSS          cells.Figure `json:"hop_rss_bytes"`
	PerConnected cells.Figure `json:"hop_connection_rss_bytes"`
	Hops         []Hop        `json:"hops"` // from the clients on
	SharedCPUs   bool         `json:"shared_cpus,omitempty"`
}

// Added is a mean over the blocks that have both paths, with its 95 % interval; N is 0
// where there is none.
type Added struct {
	N     int     `json:"n"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Known tells whether there is an interval.
func (a Added) Known() bool { return a.N > 1 }

// Hop is one program of a path, as its first valid trial had it.
type Hop struct {
	Name          string `json:"name"`
	Version       string `json:"version,omitempty"`
	Configuration string `json:"configuration,omitempty"`
	CPUs          []int  `json:"cpus,omitempty"`
}

// Read says what the hops of a run cost; nil of a run without any.
func Read(s *cells.Dataset) Hops {
	without := map[string][]*trial.Judged{} // by the levels besides the path
	for _, judged := range s.Places() {
		for _, v := range judged {
			if v.Plan.Levels[record.PathFactor] == record.Direct {
				key := beside(v.Plan.Levels)
				without[key] = append(without[key], v)
			}
		}
	}
	var all Hops
	for place, judged := range s.Places() {
		if len(judged) == 0 {
			continue
		}
		levels := judged[0].Plan.Levels
		if level := levels[record.PathFactor]; level != "" && level != record.Direct {
			p := Path{Cell: place.Cell, Arm: place.Arm, Level: level}
			p.measure(judged, without[beside(levels)])
			all = append(all, p)
		}
	}
	return all
}

// beside identifies the trials that differ in their path alone.
func beside(levels map[string]string) string {
	var text strings.Builder
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		if factor != record.PathFactor && factor != "arm" { // which only names levels
			fmt.Fprintf(&text, "%q=%q ", factor, levels[factor])
		}
	}
	return text.String()
}

func (p *Path) measure(judged, without []*trial.Judged) {
	tail := metric.ResponseP99
	if p.Times = metric.ResponseP50; !has(judged, p.Times) {
		p.Times, tail = metric.ServiceP50, metric.ServiceP99
	}
	minus := func(a, b float64) float64 { return a - b }
	p.AddedP50 = paired(judged, without, p.Times, p.Times, minus)
	p.AddedP99 = paired(judged, without, tail, tail, minus)
	server := metric.OfServer + metric.CPUPerExchange
	p.AddedServer = paired(judged, without, server, server, minus)
	p.PathRatio = paired(judged, without, metric.PathCPU, metric.PathCPU, func(a, b float64) float64 { return a / b })
	for name, into := range map[string]*cells.Figure{
		metric.HopCPU: &p.CPU, metric.PathCPU: &p.PathCPU, metric.HopRSS: &p.RSS, metric.HopConnectionRSS: &p.PerConnected,
	} {
		*into, _ = cells.PoolOf(trials(judged), name).Figure()
	}
	for _, v := range judged {
		if v.Record != nil && v.Trial.Status == trial.Valid {
			p.describe(v)
			return
		}
	}
}

// describe takes from a trial which programs the hops were.
func (p *Path) describe(v *trial.Judged) {
	var ends [][]int
	for _, w := range v.Record.Workers {
		if w.Role != contract.Hop {
			ends = append(ends, w.CPUSet)
			continue
		}
		h := Hop{Name: w.Transport, CPUs: w.CPUSet}
		if w.Ready != nil {
			h.Version, _ = w.Ready.Options["version"].(string)
			h.Configuration, _ = w.Ready.Options["configuration"].(string)
		}
		p.Hops = append(p.Hops, h)
	}
	for _, h := range p.Hops {
		p.SharedCPUs = p.SharedCPUs || slices.ContainsFunc(ends, func(set []int) bool {
			return slices.ContainsFunc(h.CPUs, func(cpu int) bool { return slices.Contains(set, cpu) })
		})
	}
}

func has(judged []*trial.Judged, name string) bool {
	return slices.ContainsFunc(judged, func(v *trial.Judged) bool {
		_, ok := v.Trial.Values.Of(name)
		return ok && v.Trial.Status == trial.Valid
	})
}

func trials(judged []*trial.Judged) func(func(*trial.Trial) bool) {
	return func(yield func(*trial.Trial) bool) {
		for _, v := range judged {
			if !yield(&v.Trial) {
				return
			}
		}
	}
}

// paired compares the means of each block that has valid trials of both.
func paired(judged, without []*trial.Judged, name, base string, of func(a, b float64) float64) Added {
	a, b := cells.PoolOf(trials(judged), name), cells.PoolOf(trials(without), base)
	var each []float64
	for _, block := range a.Rising() {
		if other := b.Of(block); len(other) > 0 {
			each = append(each, of(stat.Mean(a.Of(block)), stat.Mean(other)))
		}
	}
	e, ok := stat.MeanAt(each, 1-stat.Confidence)
	if !ok {
		return Added{}
	}
	return Added{N: len(each), Value: e.Point, Low: e.Low, High: e.High}
}
