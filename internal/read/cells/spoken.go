package cells

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// spoken are the factors whose levels are said as a count of something.
var spoken = map[string][2]string{
	"connections": {"connection", "connections"},
	"threads":     {"thread", "threads"},
	"clients":     {"client", "clients"},
	"servers":     {"server", "servers"},
	"inflight":    {"exchange in flight", "exchanges in flight"},
	"amount":      {"exchange on each connection", "exchanges on each connection"},
}

// endless is a trial that no amount ends.
const endless = "amount=0"

// Spoken returns a cell's name as a person would say it: "10,000 connections,
// request=4KiB" for "connections=10000 request=4KiB". A level that it has no words
// for stays as it is typed.
func Spoken(cell string) string { return SpokenWithout(cell, "") }

// SpokenWithout is Spoken without the level of a factor.
func SpokenWithout(cell, without string) string {
	var parts []string
	for _, level := range levelsIn(cell) {
		factor, value, _ := strings.Cut(level, "=")
		words, known := spoken[factor]
		switch {
		case factor == without:
		case level == endless && strings.Contains(cell, "window="): // the window says how a trial ends
		case known && value == "1":
			parts = append(parts, "1 "+words[0])
		case known:
			parts = append(parts, thousands(value)+" "+words[1])
		case factor == "rate" && strings.HasSuffix(value, "%"):
			parts = append(parts, strings.TrimSuffix(value, "%")+" % of flat out")
		case factor == "rate" && value != "max":
			parts = append(parts, rate(value))
		default:
			parts = append(parts, level)
		}
	}
	return strings.Join(parts, ", ")
}

// rate is a rate as measured ones are shown: "15 k/s", "500/s".
func rate(level string) string {
	perSecond, err := quantity.ParseRate(level)
	if err != nil {
		return level + "/s"
	}
	for _, unit := range []struct {
		scale float64
		name  string
	}{{1e6, " M/s"}, {1e3, " k/s"}} {
		if perSecond >= unit.scale {
			return quantity.RateText(perSecond/unit.scale) + unit.name
		}
	}
	return quantity.RateText(perSecond) + "/s"
}

// thousands groups the digits of a count: "10,000".
func thousands(count string) string {
	if strings.Trim(count, "0123456789") != "" {
		return count
	}
	for i := len(count) - 3; i > 0; i -= 3 {
		count = count[:i] + "," + count[i:]
	}
	return count
}

// Names say what the arms, levels and cells of a study are called. They are made once, of the
// study's header.
type Names struct {
	compared string
	labels   record.Labels
}

// Arm returns what an arm is called in tables and charts: its label, the level as a person
// would say it, or its name.
func (n Names) Arm(arm string) string { return n.Level(n.compared, arm) }

// Within is Arm as it stands within a sentence: "gRPC (unary)" of "gRPC, unary".
func (n Names) Within(arm string) string {
	label := n.Arm(arm)
	if of, which, found := strings.Cut(label, ", "); found {
		return of + " (" + which + ")"
	}
	return label
}

// WithinAt is Within with the cell: "gRPC (unary) at 50 connections".
func (n Names) WithinAt(arm, cell string) string { return n.Within(arm) + n.At(cell) }

// Level returns the label of a factor's level, or the level as a person would say it.
func (n Names) Level(factor, level string) string {
	if label := n.labels.Levels[factor][level]; label != "" {
		return label
	}
	if says(factor) {
		return spokenLevel(factor, level)
	}
	return named(factor) + " " + quantity.WithSpace(level)
}

// At names a cell behind an arm: " at 50 connections"; "" for the only cell.
func (n Names) At(cell string) string {
	if label := n.Cell(cell); label != "" {
		return " at " + label
	}
	return ""
}

// AtAny names several cells behind an arm, and counts most of many.
func (n Names) AtAny(of []string) string {
	if len(of) == 1 {
		return n.At(of[0])
	}
	spoken := make([]string, len(of))
	for i, cell := range of {
		spoken[i] = n.Cell(cell)
	}
	return " at " + quantity.Names(spoken)
}

// Cell returns the words for a cell: the label of the cell's sweep with the levels that vary
// in the sweep, or else the cell's levels in plain words. It is "" for the only cell.
func (n Names) Cell(cell string) string { return n.CellWithout(cell, "") }

// CellOr is Cell, or another text for the only cell.
func (n Names) CellOr(cell, other string) string { return cmp.Or(n.Cell(cell), other) }

// CellWithout is Cell without the level of a factor.
func (n Names) CellWithout(cell, without string) string {
	own, ok := n.labels.Cells[cell]
	if !ok {
		own.Beside = cell
	}
	var parts []string
	if own.Label != "" {
		parts = append(parts, own.Label)
	}
	var unlabelled []string
	for _, level := range levelsIn(own.Beside) {
		factor, value, _ := strings.Cut(level, "=")
		if factor == without {
			continue
		}
		if text, err := strconv.Unquote(value); err == nil {
			value = text
		}
		if label := n.labels.Levels[factor][value]; label != "" {
			parts = append(parts, label)
		} else {
			unlabelled = append(unlabelled, level)
		}
	}
	if spoken := Spoken(strings.Join(unlabelled, " ")); spoken != "" {
		parts = append(parts, spoken)
	}
	return strings.Join(parts, ", ")
}

// levelsIn takes a cell's name apart: "factor=level", or "factor=" and a quoted one.
func levelsIn(cell string) []string {
	var all []string
	for cell = strings.TrimSpace(cell); cell != ""; cell = strings.TrimSpace(cell) {
		end := strings.IndexFunc(cell, unicode.IsSpace)
		if eq := strings.IndexByte(cell, '='); eq > 0 {
			if quoted, err := strconv.QuotedPrefix(cell[eq+1:]); err == nil {
				end = eq + 1 + len(quoted)
			}
		}
		if end <= 0 {
			end = len(cell)
		}
		all, cell = append(all, cell[:end]), cell[end:]
	}
	return all
}

// named is a factor's name in words: "client write buffer" of opt.client.write_buffer.
func named(factor string) string {
	return strings.NewReplacer(".", " ", "_", " ").Replace(strings.TrimPrefix(factor, "opt."))
}
