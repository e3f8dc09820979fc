package finding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// Floor is an arm's median service time beside what the arm's path takes of an exchange of
// that length without any work for it: wake-ups, sends and the way.
type Floor struct {
	Cell      string  `json:"cell"`
	Arm       string  `json:"arm"`
	ServiceNs float64 `json:"service_ns"`
	FloorNs   float64 `json:"floor_ns"`        // within it
	Apart     bool    `json:"apart,omitempty"` // the ends are on two hosts, and the way between them is part of the floor
}

const (
	// floorWithin is how many times the floor a service time may be for the floor to be told.
	floorWithin = 10
	// floorAlone is how many exchanges may be under way on average: with more, CPUs stay awake
	// and exchanges wait for each other, which the floor knows nothing of.
	floorAlone = 1.5
	// floorBelow is the share of the shortest exchange on the path below which an arm's are
	// not of its kind: its ends wake in another way.
	floorBelow = 0.9
	// nearlyAll is the share of a time from which on a floor is all but the whole of it.
	nearlyAll = 0.95
)

// floors returns the arms whose median service time is not much more than their path's
// floor; none of a machine that was busy before the run, as what others took of its CPUs
// is in the floor that was measured then.
func floors(s *cells.Dataset, of []cells.Cell) []Floor {
	if len(s.Busy) > 0 {
		return nil
	}
	known := curves(s.Facts.Floors)
	var all []Floor
	for _, cell := range of {
		for _, arm := range cell.Arms {
			service, rate := value(arm, metric.ServiceP50)*1e3, value(arm, metric.ExchangesPerS)
			if !(service > 0) || rate*service/1e9 > floorAlone {
				continue
			}
			curve, found := pathOf(s, known, cell.Name, arm.Name)
			if !found {
				continue
			}
			least, ok := curve.within(service)
			if ok && service <= floorWithin*least {
				all = append(all, Floor{cell.Name, arm.Name, service, least, curve.Server != curve.Client})
			}
		}
	}
	return all
}

func value(arm cells.Arm, name string) float64 {
	m, _ := arm.Summary(name)
	return m.Value
}

// curve is a measured path with its medians by rising work.
type curve struct {
	record.Floor
	points []point
}

// point is an exchange in ns: the time that it took, and the server's work within.
type point struct{ took, work float64 }

// curves leaves out what holds no medians.
func curves(floors []record.Floor) []curve {
	var all []curve
	for _, f := range floors {
		c := curve{Floor: f}
		for _, step := range f.Steps {
			h, err := hist.Decode(step.Times)
			if err != nil {
				continue // a damaged one tells nothing
			}
			if median, ok := h.Percentile(0.5); ok && float64(median) > float64(step.WorkNs) {
				c.points = append(c.points, point{float64(median), float64(step.WorkNs)})
			}
		}
		slices.SortFunc(c.points, func(a, b point) int { return cmp.Compare(a.took, b.took) })
		if len(c.points) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// within returns what of an exchange's time is the path's: straight between two steps, and
// beyond the last as there. False for one that is shorter than any on the path.
func (c curve) within(took float64) (ns float64, ok bool) {
	last := c.points[len(c.points)-1]
	switch first := c.points[0]; {
	case took < floorBelow*first.took:
		return 0, false
	case took <= first.took:
		return took, true
	case took >= last.took:
		return last.took - last.work, true
	}
	i := slices.IndexFunc(c.points, func(p point) bool { return p.took > took })
	a, b := c.points[i-1], c.points[i]
	share := (took - a.took) / (b.took - a.took)
	return took - (a.work + share*(b.work-a.work)), true
}

// pathOf returns the path on which an arm's trials ran. There is none where an end polls: it
// is not woken.
func pathOf(s *cells.Dataset, known []curve, cell, arm string) (curve, bool) {
	for _, v := range s.Of(cell, arm) {
		if v.Record == nil {
			continue
		}
		var server, client *record.Worker
		for i := range v.Record.Workers {
			w := &v.Record.Workers[i]
			if w.Ready != nil && w.Ready.Polls {
				return curve{}, false
			}
			switch {
			case w.Role == contract.Server && server == nil:
				server = w
			case w.Role == contract.Client && client == nil:
				client = w
			}
		}
		if client == nil {
			continue
		}
		i := slices.IndexFunc(known, func(c curve) bool {
			return c.Client == client.Seat && slices.Equal(c.ClientCPUs, client.CPUSet) &&
				(server == nil || c.Server == server.Seat && slices.Equal(c.ServerCPUs, server.CPUSet))
		})
		if i >= 0 {
			return known[i], true
		}
	}
	return curve{}, false
}

// floorSentence says how much of the median service times is not the servers' work; "" where
// no arm's times are so short.
func floorSentence(all []Floor) string {
	if len(all) == 0 {
		return ""
	}
	whose := "this machine's own wake-ups and sends"
	if slices.ContainsFunc(all, func(f Floor) bool { return f.Apart }) {
		whose = "the hosts' own wake-ups and sends and the way between them"
	}
	times := spanOf(all, func(f Floor) float64 { return f.ServiceNs }, quantity.FormatFigure)
	own := "about " + spanOf(all, func(f Floor) float64 { return f.FloorNs }, roughly) + " are"
	if !slices.ContainsFunc(all, func(f Floor) bool { return f.FloorNs < nearlyAll*f.ServiceNs }) {
		own = "nearly all is"
	}
	return fmt.Sprintf("Of the median service time of %s %s %s.", times, own, whose)
}

// spanOf prints the least and the most of a time in ns, as one where they read alike.
func spanOf(all []Floor, of func(Floor) float64, format func(float64) string) string {
	times := make([]float64, len(all))
	for i, f := range all {
		times[i] = of(f) / 1e3
	}
	low, high := slices.Min(times), slices.Max(times)
	scale := metric.Metric{Unit: "µs"}.Scale(high)
	if a, b := format(low/scale.Factor), format(high/scale.Factor); a != b {
		return a + " to " + b + " " + scale.Unit
	}
	return format(high/scale.Factor) + " " + scale.Unit
}

// roughly prints two digits, which is as well as a floor is known.
func roughly(v float64) string {
	if v < 9.5 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	unit := math.Pow(10, max(0, math.Floor(math.Log10(v))-1))
	return strconv.FormatFloat(math.Round(v/unit)*unit, 'f', 0, 64)
}

// warnFloors says of compared times that a part of them is the same for every arm.
func warnFloors(_ *cells.Dataset, f Findings) []record.Warning {
	timed := slices.ContainsFunc(f.Comparisons, func(c compare.Comparison) bool {
		return c.Primary && (strings.HasPrefix(c.Metric, record.Service) || strings.HasPrefix(c.Metric, record.Response))
	})
	if len(f.Floors) == 0 || !timed {
		return nil
	}
	return []record.Warning{{
		About: "floor",
		Text:  "part of the times is the machine's own: services differ by more than shown",
		Advice: floorSentence(f.Floors) + " Where a CPU is free, let the client poll: client=http1-uring opt.client.wait=poll, " +
			"or any other client of event loops in C++",
	}}
}
