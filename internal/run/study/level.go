package study

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"netdyno/internal/arrivals"
	"netdyno/internal/each"
	"netdyno/internal/pattern"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/sizes"
)

// Level is one value of a factor. Two levels are the same when their texts
// are.
type Level struct {
	Text  string   // canonical
	Value float64  // of a number, in base units; exact, as ranges stay below 2^53
	At    Position // nil for a default
}

// unbounded is the rate that prints and reads as no rate at all, of exchanges
// and of a link.
const unbounded = "max"

// MaxText bounds in bytes a level that is free text: a foreign server's command
// line, say.
const MaxText = 900

var transportName = pattern.Once(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// Level reads a level of this factor. Errors name the text and what was
// expected; the caller adds the position.
func (f Factor) Level(text string) (Level, error) {
	l, err := f.readLevel(record.CurrentLevel(f.Name, text))
	if err != nil {
		return Level{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	if f.Name == record.RateOf && (isShare(l.Text) || !positive(l)) {
		return Level{}, fmt.Errorf("%s: %q is no rate; expected a number such as 40k", f.Name, quantity.Clip(text, 40))
	}
	if f.Max > 0 && (l.Value < f.Min || l.Value > f.Max) {
		return Level{}, fmt.Errorf("%s: %s is out of range; expected from %s to %s", f.Name, l.Text, f.print(f.Min), f.print(f.Max))
	}
	return l, nil
}

func (f Factor) readLevel(text string) (Level, error) {
	if text == unbounded && (f.Kind == Rate || f.Kind == BitRate) {
		return Level{Text: text}, nil
	}
	switch f.Kind {
	case Bytes:
		n, err := quantity.ParseBytes(text)
		return Level{Text: quantity.BytesText(n), Value: float64(n)}, err
	case Sizes:
		return readSizes(text)
	case Times:
		s, err := sizes.ParseTime(text)
		if err != nil {
			return Level{}, err
		}
		return Level{Text: s.Text, Value: s.Mean()}, nil
	case Arrival:
		a, err := arrivals.Parse(text)
		if err != nil {
			return Level{}, err
		}
		return Level{Text: a.Text, Value: a.Rate}, nil
	case Duration:
		d, err := quantity.ParseDuration(text)
		return Level{Text: quantity.DurationText(d), Value: float64(d)}, err
	case Count:
		n, err := quantity.ParseCount(text)
		return Level{Text: quantity.CountText(n), Value: float64(n)}, err
	case BitRate:
		return readBitRate(text)
	case Rate:
		return readRate(text)
	case Share:
		return readShare(text, f.Min > 0)
	case Multiple:
		return readMultiple(text)
	case Flag:
		return readFlag(text)
	case Choice:
		if !slices.Contains(f.Choices, text) {
			return Level{}, fmt.Errorf("unknown level %q; %s", quantity.Clip(text, 80), quantity.Hint(text, f.Choices))
		}
	case Transport:
		if !transportName().MatchString(text) {
			return Level{}, fmt.Errorf("%q is not a transport's name; expected lower-case letters, digits, dots, - and _", quantity.Clip(text, 80))
		}
	case Paths:
		return readPath(text)
	case Text:
		return Level{Text: text}, CheckText(text)
	case Bundle:
		return Level{}, fmt.Errorf("arms are written under vary, as a mapping from names to levels")
	}
	return Level{Text: text}, nil
}

// readSizes reads a size or how sizes are distributed, which counts as its mean. One in a
// file that is yet to be read is kept as it is.
func readSizes(text string) (Level, error) {
	if sizes.Unread(text) {
		return Level{Text: text, Value: 1}, CheckText(text)
	}
	if sizes.Is(text) || strings.Contains(text, ":") {
		s, err := sizes.Parse(text)
		if err != nil {
			return Level{}, err
		}
		return Level{Text: s.Text, Value: s.Mean()}, nil
	}
	n, err := quantity.ParseBytes(text)
	if err != nil {
		if name := quantity.Nearest(text, sizes.Names()); name != "" {
			err = fmt.Errorf("%w (or sizes that vary: %q?)", err, name)
		}
	}
	return Level{Text: quantity.BytesText(n), Value: float64(n)}, err
}

// ReadSizes puts the points of files in the place of levels that name them: cdf:FILE. It
// is called before the study is used. The error names the position.
func (s *Study) ReadSizes(read func(name string, most int64) ([]byte, error)) error {
	for factor, l := range s.Levels() {
		if f, err := FactorNamed(factor); err != nil || f.Kind != Sizes || !sizes.Unread(l.Text) {
			continue
		}
		text, err := sizes.ReadFile(l.Text, read)
		if err != nil {
			return Errorf(l.At, "%s: %s", factor, err)
		}
		of, err := sizes.Parse(text)
		if err != nil {
			return Errorf(l.At, "%s: %s", factor, err)
		}
		l.Text, l.Value = of.Text, of.Mean()
	}
	return nil
}

// vary tells whether a level of request or response stands for several sizes.
func vary(l Level) bool { return sizes.Is(l.Text) }

func readRate(text string) (Level, error) {
	if isShare(text) {
		share, err := quantity.ParseShare(text)
		if err == nil && !(share > 0) {
			err = fmt.Errorf("%q offers nothing; expected a share above 0%%", text)
		}
		return Level{Text: strconv.FormatFloat(share*100, 'g', 15, 64) + "%", Value: share}, err
	}
	rate, err := quantity.ParseRate(text)
	if err != nil {
		return Level{}, fmt.Errorf("%w (or %s, for the closed loop)", err, unbounded)
	}
	if !(rate > 0) {
		return Level{Text: unbounded}, nil
	}
	return Level{Text: quantity.RateText(rate), Value: rate}, nil
}

// isShare tells whether a level of a rate is a share of another.
func isShare(text string) bool { return strings.HasSuffix(text, "%") }

// readBitRate reads the rate of a link; 0 is no bound, as max.
func readBitRate(text string) (Level, error) {
	n, err := quantity.ParseBitRate(text)
	if err != nil {
		return Level{}, fmt.Errorf("%w (or %s, for a link as it is)", err, unbounded)
	}
	if n == 0 {
		return Level{Text: unbounded}, nil
	}
	return Level{Text: quantity.BitRateText(n), Value: float64(n)}, nil
}

func readShare(text string, some bool) (Level, error) {
	share, err := quantity.ParseShare(text)
	if err == nil && some && !(share > 0) {
		err = fmt.Errorf("%q leaves nothing; expected a share above 0", text)
	}
	return Level{Text: quantity.ShareText(share), Value: share}, err
}

// readMultiple reads a plain number, which may end in x: 2 and 2x are the same.
func readMultiple(text string) (Level, error) {
	x, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return Level{}, fmt.Errorf("%q is not a multiple; expected a number such as 2 or 0.5", quantity.Clip(text, 40))
	}
	return Level{Text: strconv.FormatFloat(x, 'g', -1, 64), Value: x}, nil
}

func readFlag(text string) (Level, error) {
	switch text {
	case "yes", "true", "on":
		return Level{Text: "yes", Value: 1}, nil
	case "no", "false", "off":
		return Level{Text: "no"}, nil
	}
	return Level{}, fmt.Errorf("%q is neither; expected yes or no", quantity.Clip(text, 80))
}

// CheckText refuses a text that is empty, too long or not printable.
func CheckText(text string) error {
	if text == "" {
		return fmt.Errorf("the level is empty")
	}
	if len(text) > MaxText {
		return fmt.Errorf("the text has %d bytes; expected at most %d", len(text), MaxText)
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("the text %q has control characters", quantity.Clip(text, 80))
	}
	return nil
}

// print writes a bound in the factor's canonical form.
func (f Factor) print(value float64) string {
	switch f.Kind {
	case Bytes, Sizes:
		return quantity.BytesText(int64(value))
	case Duration:
		return quantity.DurationText(time.Duration(value))
	case Rate:
		return quantity.RateText(value)
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// standard is the factor's default level; its text in the table is canonical,
// which a test holds it to.
func (f Factor) standard() Level {
	l, err := f.Level(f.Default)
	if err != nil {
		return Level{Text: f.Default}
	}
	return l
}

// standardLevel reads a level that the code itself writes; a test holds it to
// be one.
func standardLevel(factor, text string) Level {
	f, err := FactorNamed(factor)
	if err != nil {
		return Level{Text: text}
	}
	f.Default = text
	return f.standard()
}

func positive(l Level) bool { return l.Value > 0 }
func explicit(l Level) bool { return l.At != nil }
func streams(l Level) bool  { return l.Text != unstreamed }

func hasText(levels []Level, text string) bool {
	return slices.ContainsFunc(levels, func(l Level) bool { return l.Text == text })
}

func textsOf(levels []Level) []string {
	return each.Of(levels, func(l Level) string { return l.Text })
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// standardLevels are the levels of a trial that the study does not mention,
// read once: they are needed for every trial.
var standardLevels = sync.OnceValue(func() map[string]Level {
	levels := map[string]Level{}
	for _, f := range factors {
		if f.inTrial() {
			levels[f.Name] = f.standard()
		}
	}
	return levels
})

// defaults returns a trial's levels before the study has its say. The caller
// owns the map.
func defaults() map[string]Level { return maps.Clone(standardLevels()) }

// set gives a trial a level; a transport is both its ends.
func set(levels map[string]Level, factor string, l Level) {
	if factor == "transport" {
		levels["server"], levels["client"] = l, l
		return
	}
	levels[factor] = l
}

// impliedCodec encodes a message for which the study names no codec. Every transport that
// has codecs has it.
func impliedCodec(message Level) Level {
	l := standardLevel("codec", "proto")
	l.At = message.At
	return l
}

// settle makes a trial's levels say what the trial will do: a default that means nothing
// beside another level is removed, and a level that another one implies is added. A level
// that the study itself wrote is never removed here: check has refused contradictions.
func settle(levels map[string]Level) {
	if levels["amount"].Value > 0 {
		levels["window"] = Level{Text: "0s"}
	}
	if a := levels["arrival"]; a.Value > 0 {
		levels["rate"] = Level{Text: quantity.RateText(a.Value), Value: a.Value}
		if of, err := arrivals.Parse(a.Text); err == nil && !explicit(levels["window"]) && levels["window"] == defaults()["window"] {
			levels["window"] = Level{Text: quantity.DurationText(of.Lasts), Value: float64(of.Lasts)}
		}
	}
	if message := levels["message"]; message.Text != "" && !explicit(levels["codec"]) && levels["codec"].Text == rawCodec {
		levels["codec"] = impliedCodec(message)
	}
	if levels["codec"].Text != rawCodec {
		delete(levels, "request")
		delete(levels, "response")
	}
	if levels[WorkloadFactor].Text != "" {
		delete(levels, "request")
		delete(levels, "response")
	}
	_, said := levels["work.by"]
	switch works := positive(levels["work"]); {
	case !works:
		delete(levels, "work.by")
	case !said:
		levels["work.by"] = standardLevel("work.by", standardWork)
	}
	_, chunked := levels["chunk"]
	switch streamed := levels["stream"].Text != unstreamed; {
	case !streamed:
		delete(levels, "chunk")
	case !chunked:
		levels["chunk"] = standardLevel("chunk", standardChunk)
	}
}
