package answer

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"netdyno/internal/events"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// alone says what an arm carries that is compared with nothing, in the cell with its highest
// rate: flat out how much, at a rate how quickly. It is "" for a run of several arms or
// without a rate. Every interval is of 95 %.
func (f Found) alone() string {
	arm, cell, ok := fastest(f.Cells)
	if !ok {
		return ""
	}
	who := "It"
	if arm.Settings["server.address"] == "" { // one of netdyno's own
		who = f.label(arm.Name)
	}
	rate, _ := arm.Summary(metric.ExchangesPerS)
	if !rate.Known() {
		return fmt.Sprintf("No answer: the rate of %s is unknown (%s).", f.named(cell, arm), cells.WhyUnknown(rate.N, rate.Of))
	}
	text := ""
	streams := f.streams(who, arm, cell)
	switch p99, open := arm.Summary(metric.ResponseP99); {
	case open && flagged(arm, trial.Overloaded):
		text = fmt.Sprintf("%s does not keep up with the offered rate: it answers %s", who, f.figureOf(rate))
	case streams != "":
		text = streams
	case open:
		text = fmt.Sprintf("%s answers %s%s with a p99 of %s", who, f.figureOf(rate), f.on(cell), f.figureOf(p99))
	default:
		text = fmt.Sprintf("%s carries about %s%s", who, f.figureOf(rate), f.reached(cell))
	}
	text += "."
	if found := arm.Limit.Finding(arm.LimitProof); found != "" {
		text += " " + part.Sentence(found)
	}
	if rate.N == 1 {
		text += " One round gives no interval."
	}
	return text
}

// streams says how an arm's replies come in events, those of a chat as tokens; "" where no
// window saw how.
func (f Found) streams(who string, arm cells.Arm, cell cells.Cell) string {
	names := metric.OfEvents()
	first, begins := arm.Summary(names[0]) // else no reply began in a window
	gap, goesOn := arm.Summary(names[2])   // else replies have one event
	chat := arm.EventKind() == string(events.Chat)
	noun, rest := "event", ", and then one every "+f.figureOf(gap)
	if chat {
		noun, rest = "token", ", with "+f.figureOf(gap)+" between tokens"
	}
	text := fmt.Sprintf("%s brings the first %s after %s%s", who, noun, f.figureOf(first), f.on(cell))
	switch {
	case !begins && !goesOn:
		return ""
	case !begins:
		text = fmt.Sprintf("%s brings one %s every %s%s", who, noun, f.figureOf(gap), f.on(cell))
	case goesOn:
		text += rest
	}
	if !chat {
		return text
	}
	all, _ := arm.Summary(metric.EventsPerS)
	rate, _ := arm.Summary(metric.ExchangesPerS)
	if all.Known() {
		scale := metric.Shown(all.Metric).Scale(all.Value)
		text += ": " + part.Joined(" ", scale.Format(all.Value), strings.TrimSuffix(scale.Unit, "/s"), "tokens/s in all")
	}
	const settled = 20 // replies a connection, so that those that a window cuts do not matter
	n, err := strconv.ParseInt(cmp.Or(cell.Levels["connections"], f.Plan().Hold["connections"]), 10, 64)
	if err == nil && all.Known() && rate.Value > 0 && arm.Totals != nil && arm.Totals.Exchanges >= settled*n {
		text += fmt.Sprintf(", about %s a reply", quantity.FormatFigure(all.Value/rate.Value))
	}
	return text
}

// fastest returns the only arm in the cell in which its rate is highest, of those in
// which it is known if there are any.
func fastest(all []cells.Cell) (arm cells.Arm, cell cells.Cell, ok bool) {
	best, known := 0.0, false
	for _, c := range all {
		if len(c.Arms) != 1 || c.Arms[0].Name != all[0].Arms[0].Name {
			return arm, cell, false
		}
		rate, has := c.Arms[0].Summary(metric.ExchangesPerS)
		if has && (rate.Known() && !known || rate.Known() == known && rate.Value > best) {
			arm, cell, ok, best, known = c.Arms[0], c, true, rate.Value, rate.Known()
		}
	}
	return arm, cell, ok
}

// reached says with how many connections the highest rate was reached, and what more of them
// do.
func (f Found) reached(cell cells.Cell) string {
	const asMuch = 0.97 // of the highest rate
	most, _ := cell.Arms[0].Summary(metric.ExchangesPerS)
	least, more := math.MaxInt, false
	for _, c := range f.Cells {
		n, err := strconv.Atoi(c.Levels["connections"])
		rate, has := c.Arms[0].Summary(metric.ExchangesPerS)
		if err != nil || len(c.Levels) > 1 || !has {
			return f.on(cell)
		}
		if rate.Value >= asMuch*most.Value {
			least, more = min(least, n), more || n > least
		}
	}
	if len(f.Cells) < 2 {
		return f.on(cell)
	}
	text := ", reached with " + cells.Spoken("connections="+strconv.Itoa(least))
	if more {
		return text + "; more connections only wait"
	}
	return text
}

// on names the cell of a run as people do: " on 100 connections", and what else varies.
func (f Found) on(cell cells.Cell) string {
	levels := cell.Name
	if cell.Levels["connections"] == "" && f.Plan().Hold["connections"] != "" {
		levels = part.Joined(" ", "connections="+f.Plan().Hold["connections"], levels)
	}
	if levels == "" {
		return ""
	}
	return " on " + cells.Spoken(levels)
}

// figureOf prints a figure with its interval in the unit that suits it: "31.5 k requests/s
// (30.9–32.2)".
func (f Found) figureOf(s cells.Summary) string {
	scale := metric.Shown(s.Metric).Scale(s.Value)
	text := part.WithUnit(s.Value, scale)
	switch {
	case s.Metric == metric.ExchangesPerS:
		text = part.Joined(" ", scale.Format(s.Value), f.column(s.Metric, scale).Unit, f.Counted()+"/s")
	case s.AtLeast:
		return "at least " + text
	}
	if s.Sure() && !s.AtLeast {
		text += part.Bracketed(scale.Interval(s.Low, s.High))
	}
	return text
}
