package source

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// Limits of a race.
const (
	maxConfirm    = 100
	maxRaceTrials = 1_000_000
	maxAs         = 100
	standardRace  = 10 // blocks that confirm, where the study names no number
	raceBlocks    = 16 // and those of the race itself
)

var raceKeys = []string{"best", "within", "confirm", "trials", "time", "as"}

// raced is a race with its positions.
type raced struct {
	at   position
	node *node // nil of a race that a command makes
	record.Race
}

// readRace reads the section race.
func readRace(e entry) (*raced, error) {
	n := e.value
	if err := n.mappingOf(raceKeys); err != nil {
		return nil, err
	}
	r := &raced{at: n.at, node: n, Race: record.Race{Confirm: standardRace}}
	err := n.texts("race", map[string]*string{"best": &r.Best}, "best")
	if within := n.get("within"); err == nil && within != nil {
		r.Within, err = readBounds(within)
	}
	if err == nil {
		err = n.wholeInto("confirm", &r.Confirm, maxConfirm)
	}
	if err == nil {
		err = n.wholeInto("trials", &r.Trials, maxRaceTrials)
	}
	if time := n.get("time"); err == nil && time != nil {
		r.TimeS, err = readTime(*time)
	}
	if as := n.get("as"); err == nil && as != nil {
		r.As, err = readAs(as)
	}
	return r, err
}

// wholeInto reads a whole number above 0, where the key is there.
func (n *node) wholeInto(key string, into *int, most int) error {
	e := n.get(key)
	if e == nil {
		return nil
	}
	text, err := e.scalarOf("a whole number")
	if err != nil {
		return err
	}
	if _, err := fmt.Sscanf(text+"\n", "%d\n", into); err != nil || *into < 1 || *into > most {
		return e.value.at.errorf("%s: found %q; expected a whole number from 1 to %d", key, text, most)
	}
	return nil
}

// readAs reads how settings are written outside of netdyno, by factor.
func readAs(e *entry) (map[string]string, error) {
	if e.value.kind != mapping || len(e.value.entries) > maxAs {
		return nil, e.value.at.errorf("as: found %s; expected at most %d factors, each with how it is written, such as {opt.server.read_buffer: \"grpc.ReadBufferSize({value})\"}", counted(e.value), maxAs)
	}
	all := map[string]string{}
	for _, one := range e.value.entries {
		text, err := one.scalarOf("a text with {value}")
		if err == nil {
			err = study.CheckText(text)
		}
		if err != nil {
			return nil, err
		}
		all[one.key] = text
	}
	return all, nil
}

// blocks are the most that a race may take where its study names no number.
func (r *raced) blocks() *looks { return &looks{at: r.at, blocks: []int{raceBlocks + r.Confirm}} }

// apply gives a complete study its race.
func (r *raced) apply(s *study.Study) error {
	if r == nil {
		return nil
	}
	if key, text := s.Scope().Race(r.Race, s.Blocks); text != "" {
		if r.node == nil {
			return r.at.errorf("race: %s: %s", key, text)
		}
		return r.node.problem(key, text)
	}
	if len(s.Stages)+len(s.Further) > 0 || s.Settle > 0 || s.Mesh {
		return r.at.errorf("race: a race ends by itself; expected one number of blocks, the most that it may take, and neither continue, settle nor mesh")
	}
	race := r.Race
	s.Race = &race
	return nil
}

func writeRace(b *bytes.Buffer, r *record.Race) {
	if r == nil {
		return
	}
	fmt.Fprintf(b, "race:\n  best: %s\n  confirm: %d\n", quote(r.Best), r.Confirm)
	if r.Trials > 0 {
		fmt.Fprintf(b, "  trials: %d\n", r.Trials)
	}
	if r.TimeS > 0 {
		fmt.Fprintf(b, "  time: %gs\n", r.TimeS)
	}
	for i, bound := range r.Within {
		if i == 0 {
			b.WriteString("  within:\n")
		}
		fmt.Fprintf(b, "    %s: %s\n", bound.Metric, quote(bound.Text))
	}
	for i, factor := range slices.Sorted(maps.Keys(r.As)) {
		if i == 0 {
			b.WriteString("  as:\n")
		}
		fmt.Fprintf(b, "    %s: %s\n", factor, quote(r.As[factor]))
	}
}

// AddRace makes the study of a command's own arms a race. A bound is METRIC <= VALUE or
// METRIC >= VALUE.
func (a *Arguments) AddRace(given string, r record.Race, bounds []string) error {
	here := position{text: given}
	for _, text := range bounds {
		b, err := readBound(text)
		if err != nil {
			return here.errorf("%s", err)
		}
		r.Within = append(r.Within, b)
	}
	a.typed.race = &raced{at: here, Race: r}
	return nil
}

// readBound reads a bound as it is typed.
func readBound(text string) (record.Bound, error) {
	for _, sign := range []string{"<=", "≤", ">=", "≥"} {
		name, value, found := strings.Cut(text, sign)
		if !found {
			continue
		}
		e := entry{key: "within", value: &node{kind: mapping, entries: []entry{{key: strings.TrimSpace(name), value: scalarNode(position{}, strings.TrimSpace(value))}}}}
		all, err := readBounds(&e)
		if err != nil {
			return record.Bound{}, err
		}
		if all[0].AtLeast != (sign == ">=" || sign == "≥") {
			return record.Bound{}, fmt.Errorf("within: %q bounds %s on its better side; expected the other sign", text, all[0].Metric)
		}
		return all[0], nil
	}
	return record.Bound{}, fmt.Errorf("within: found %q; expected METRIC <= VALUE or METRIC >= VALUE, such as server.rss_bytes <= 2GB", text)
}
