package condition

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// line takes a condition into what is asked, the relation, the other side, and behind
// that the margin and levels.
var (
	line = regexp.MustCompile(`^(.+?)(?: at (.+?))?(?: ?(<=|>=|≤|≥) ?| (<|=|>) )(.+)$`)
	tail = regexp.MustCompile(`^(.+?)(?: ± ?(\S+?) ?%)?(?: at (.+?))?(?: against (.+))?$`)

	multiple = regexp.MustCompile(`^(\S+) ?[x×] (.+)$`)
	best     = regexp.MustCompile(`^best\((.+)\)$`)
	ofBest   = regexp.MustCompile(`^(\S+?) ?% of best$`)
)

// form is how conditions of a form read: what stands left of the relation, which relations
// may follow, and what the parts of both sides mean.
type form struct {
	is      Form
	looks   string // for errors
	left    *regexp.Regexp
	may     []Relation
	read    func(c *Condition, part []string) error
	against func(c *Condition, right string) error
}

// forms are tried in this order; the last takes whatever the others do not.
var forms = []form{
	{
		Least, "least FACTOR, FACTOR with METRIC >= SHARE % of best", regexp.MustCompile(`^least (.+) with (\S+)$`), []Relation{AtLeast},
		func(c *Condition, part []string) error { c.Factors = list(part[1]); return c.metric(part[2]) }, (*Condition).shareOfBest,
	},
	{
		Growth, "METRIC per FACTOR = NUMBER × FACTOR + NUMBER × FACTOR", regexp.MustCompile(`^(\S+) per (\S+)$`), []Relation{Equal},
		func(c *Condition, part []string) error { c.Per = part[2]; return c.metric(part[1]) }, (*Condition).terms,
	},
	{
		Spread, "spread(METRIC over ARM) of ARMS < ARMS", regexp.MustCompile(`^spread\((\S+) over (.+)\) of (.+)$`), []Relation{Less, More},
		func(c *Condition, part []string) error {
			c.Base.Arms, c.Of.Arms = []string{part[2]}, list(part[3])
			return c.metric(part[1])
		},
		func(c *Condition, right string) error { c.Base.Arms = append(c.Base.Arms, list(right)...); return nil },
	},
	{
		Profile, "server.profile(ACTIVITY) of ARMS > ARM, or <= SHARE %", regexp.MustCompile(`^(server|client)\.profile\((.+)\) of (.+)$`), []Relation{Less, AtMost, AtLeast, More},
		func(c *Condition, part []string) error {
			c.End, c.Activity, c.Of.Arms = part[1], part[2], list(part[3])
			return nil
		},
		(*Condition).otherSide,
	},
	{
		Figure, "METRIC of ARMS < ARM, <= NUMBER × ARM, = NUMBER × ARM ± SHARE %, or <= BOUND", regexp.MustCompile(`^(\S+)(?: of (.+))?$`), []Relation{Less, AtMost, Equal, AtLeast, More},
		func(c *Condition, part []string) error { c.Of = sideOf(part[2]); return c.metric(part[1]) }, (*Condition).otherSide,
	},
}

// Parse reads a condition. Level returns a level in canonical text, or why a factor has no
// such level; nil takes levels as they stand. An error says what was found and what was
// expected, with the nearest name where one is unknown.
func Parse(text string, level func(factor, level string) (string, error)) (Condition, error) {
	text = strings.Join(strings.Fields(text), " ")
	part := line.FindStringSubmatch(text)
	if part == nil {
		return Condition{}, fmt.Errorf("found %q; expected a condition such as %s", quantity.Clip(text, 80), forms[len(forms)-1].looks)
	}
	end := tail.FindStringSubmatch(part[5])
	c := Condition{Is: Relation(strings.NewReplacer("≤", "<=", "≥", ">=").Replace(part[3] + part[4])), Size: 1, Margin: DefaultMargin}
	at := slices.IndexFunc(forms, func(f form) bool { return f.left.MatchString(part[1]) })
	if at < 0 {
		return Condition{}, fmt.Errorf("found %q; expected %s", quantity.Clip(part[1], 80), forms[len(forms)-1].looks)
	}
	f := forms[at]
	c.Form = f.is
	if !slices.Contains(f.may, c.Is) {
		return Condition{}, fmt.Errorf("found %s in %q; expected %s", c.Is, quantity.Clip(text, 80), f.looks)
	}
	for _, step := range []func() error{
		func() error { return f.read(&c, f.left.FindStringSubmatch(part[1])) },
		func() error { return f.against(&c, end[1]) },
		func() error { return c.margin(end[2]) },
		func() error { return c.levels(part[2], end[3], end[4], level) },
		c.sound,
	} {
		if err := step(); err != nil {
			return Condition{}, err
		}
	}
	return c, nil
}

func list(text string) []string { return strings.Split(text, ", ") }

func sideOf(text string) Side {
	if inside := best.FindStringSubmatch(text); inside != nil {
		return Side{Arms: list(inside[1]), Best: true}
	}
	if text == "" {
		return Side{}
	}
	return Side{Arms: list(text)}
}

// unitEndings are what a metric's name may be written without.
var unitEndings = []string{"", "_us", "_s", "_bytes", "_per_s", "_bytes_per_s"}

// metric takes over a metric, whose name may stand without its unit.
func (c *Condition) metric(name string) error {
	for _, ending := range unitEndings {
		own, both := strings.CutPrefix(name+ending, BothEnds)
		_, err := metric.Named(own)
		if both {
			_, err = metric.Named(metric.OfServer + own)
		}
		if err == nil {
			c.Metric = name + ending
			return nil
		}
	}
	var names []string
	for _, m := range metric.All() {
		names = append(names, m.Name)
	}
	return fmt.Errorf("unknown metric %q; %s", quantity.Clip(name, 80), quantity.Hint(name, names))
}

// shareOfBest reads the right side of a Least.
func (c *Condition) shareOfBest(right string) (err error) {
	part := ofBest.FindStringSubmatch(right)
	if part == nil {
		return fmt.Errorf("found %q; expected a share of the best, such as 95 %% of best", quantity.Clip(right, 40))
	}
	c.Bound = part[1] + " %"
	c.Size, err = quantity.ParseShare(part[1] + "%")
	return err
}

// terms reads the right side of a Growth.
func (c *Condition) terms(right string) error {
	for _, text := range strings.Split(right, " + ") {
		part := multiple.FindStringSubmatch(text)
		if part == nil {
			return fmt.Errorf("found the term %q; expected NUMBER × FACTOR", quantity.Clip(text, 40))
		}
		size, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return fmt.Errorf("%q is not a number, in the term %q", quantity.Clip(part[1], 40), quantity.Clip(text, 40))
		}
		c.Terms = append(c.Terms, Term{size, part[2]})
	}
	return nil
}

// otherSide reads a bound, some arms, or a multiple of one arm. What reads as a bound is
// one: an arm of that name is written 1 × ARM.
func (c *Condition) otherSide(right string) (err error) {
	if part := multiple.FindStringSubmatch(right); part != nil {
		if c.Size, err = strconv.ParseFloat(part[1], 64); err != nil {
			return fmt.Errorf("%q is not a multiple; expected a number, such as 1.2 × %s", quantity.Clip(right, 40), quantity.Clip(part[2], 40))
		}
		c.Base = sideOf(part[2])
		return nil
	}
	of := metric.Metric{Name: c.what(), Unit: "share"}
	if c.Form == Figure {
		of = metric.Shown(strings.Replace(c.Metric, BothEnds, metric.OfServer, 1))
	}
	size, err := BoundOf(of, right)
	if err == nil {
		c.Size, c.Bound = size, right
		return nil
	}
	if strings.ContainsAny(right[:1], "0123456789.+-") && !strings.ContainsAny(right[1:], "-_/") { // no arm, by its looks
		return err
	}
	c.Base = sideOf(right)
	return nil
}

// BoundOf reads a bound in a metric's unit: a plain number of it, or a quantity.
func BoundOf(m metric.Metric, text string) (x float64, err error) {
	if x, err = strconv.ParseFloat(text, 64); err == nil {
		return x, nil
	}
	switch m.Unit {
	case "µs", "s":
		var d time.Duration
		if d, err = quantity.ParseDuration(text); m.Unit == "µs" {
			x = float64(d) / 1e3
		} else {
			x = d.Seconds()
		}
	case "B", "B/s":
		var n int64
		n, err = quantity.ParseBytes(strings.TrimSuffix(text, "/s"))
		x = float64(n)
	case "1/s":
		x, err = quantity.ParseRate(strings.TrimSuffix(text, "/s"))
	case "share":
		x, err = quantity.ParseShare(strings.Replace(text, " %", "%", 1))
	default:
		err = fmt.Errorf("%q is not a number", quantity.Clip(text, 40))
	}
	if err != nil {
		return 0, fmt.Errorf("the bound of %s: %w; it is in %s", m.Name, err, m.Unit)
	}
	return x, nil
}

// margin reads a share in percent; "" for none.
func (c *Condition) margin(text string) (err error) {
	if text == "" {
		return nil
	}
	c.Margin, err = quantity.ParseShare(text + "%")
	switch {
	case err != nil:
		return fmt.Errorf("the margin: %w", err)
	case !(c.Margin > 0):
		return fmt.Errorf("the margin ± %s %%: expected a share above 0", quantity.Clip(text, 40))
	case c.Is == AtMost || c.Is == AtLeast:
		return fmt.Errorf("found a margin behind %s; expected one behind <, = or > alone", c.Is)
	}
	return nil
}

// levels reads those of the left side, of the right and of what the ratio is divided by.
func (c *Condition) levels(left, right, against string, level func(factor, level string) (string, error)) error {
	into := []*map[string]string{&c.At, &c.Base.At, &c.Against}
	if left == "" {
		left, right = right, ""
	}
	for i, text := range []string{left, right, against} {
		if text == "" {
			continue
		}
		all := map[string]string{}
		for _, one := range strings.Split(text, " and ") {
			factor, value, ok := strings.Cut(one, "=")
			if !ok || factor == "" || strings.Contains(factor, " ") {
				return fmt.Errorf("found %q; expected FACTOR=LEVEL, several joined by and", quantity.Clip(one, 80))
			}
			if level != nil {
				var err error
				if value, err = level(factor, value); err != nil {
					return err
				}
			}
			all[factor] = value
		}
		*into[i] = all
	}
	return nil
}

// rules are what the parts of a condition must be beside each other, each with what is
// said where it is broken.
var rules = []struct {
	broken func(c *Condition) bool
	said   string
}{
	{func(c *Condition) bool { return math.IsInf(c.Size, 0) || math.IsNaN(c.Size) || c.Size < 0 }, "a size is a number from 0 on"},
	{func(c *Condition) bool { return len(c.Base.Arms) > 0 && !(c.Size > 0) }, "a multiple is above 0"},
	{func(c *Condition) bool {
		return len(c.Base.Arms) == 0 && c.Form == Figure && (c.Is == Less || c.Is == More)
	}, "a figure is held against a bound by <=, >= or = ± SHARE %"},
	{func(c *Condition) bool {
		return c.Form == Profile && (len(c.Base.Arms) > 0) != (c.Is == Less || c.Is == More)
	}, "shares of profiles are compared by < or >, and one is held against a bound by <= or >="},
	{func(c *Condition) bool { return c.Form != Spread && !c.Base.Best && len(c.Base.Arms) > 1 }, "the right side has one arm, or best(…)"},
	{func(c *Condition) bool { return len(c.Base.Arms) == 0 && len(c.Base.At) > 0 }, "a bound has no levels of its own; expected at FACTOR=LEVEL behind it alone"},
	{func(c *Condition) bool {
		plain := c.Form == Figure && len(c.Base.Arms) == 1 && !c.Of.Best && !c.Base.Best && len(c.Base.At) == 0 && c.Base.Arms[0] != TheLink
		return len(c.Against) > 0 && !plain
	}, "against divides a ratio of arms of the same cell"},
	{func(c *Condition) bool { return c.Form != Figure && (c.Of.Best || c.Base.Best) }, "best(…) is for figures alone"},
	{func(c *Condition) bool {
		return slices.Contains(c.Base.Arms, TheLink) && (c.Metric != metric.Goodput || len(c.Base.At) > 0)
	}, "the link has a rate and nothing else; it can be the base of " + metric.Goodput + " alone"},
}

func (c *Condition) sound() error {
	for _, r := range rules {
		if r.broken(c) {
			return fmt.Errorf("%s: %s", quantity.Clip(c.String(), 200), r.said)
		}
	}
	return nil
}
