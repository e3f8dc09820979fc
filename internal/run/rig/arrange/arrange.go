// Package arrange reads what a user chose as the rig, on a command line or in
// a file, and builds it.
package arrange

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/slurm"
)

// Choice is a rig as the user wrote it: "netns:3?rate=1Gbit".
type Choice struct {
	text      string
	kind      kind
	argument  string            // between the colon and the question mark
	options   map[string]string // after it
	described []description     // hosts, of a file
}

// kind is one sort of rig.
type kind struct {
	name    string
	form    string   // as the user writes it
	options []string // its own keys after the question mark
	build   func(ctx context.Context, c Choice) (rig.Rig, error)
}

// kinds are all there are; a new one is a line here and its package.
var kinds = []kind{
	{"loopback", "loopback", nil, func(context.Context, Choice) (rig.Rig, error) { return rig.Loopback{}, nil }},
	{"netns", "netns[:N][?mtu=BYTES]", []string{"mtu"}, buildNamespaces},
	{rig.ExternalName, "at:HOST:PORT[,HOST:PORT…][?ca=FILE]", []string{"ca"}, buildExternal},
	{"ssh", "ssh:HOST[=ADDRESS],HOST[=ADDRESS]…[?interface=NAME&config=FILE&cache=DIR]", []string{"interface", "config", "cache"}, connectSSH},
	{"slurm", "slurm[:NODES][?interface=NAME&partition=NAME&time=LIMIT…]", append([]string{"interface", "cache", "shared"}, slurm.Requests...), joinSlurm},
	{"prefix", "FILE.yaml", []string{"cache", "shared"}, reachByPrefix},
}

// linkOptions are keys that any rig may be given: levels of factors, which
// only a rig that shapes its link takes.
var linkOptions = map[string]string{"rate": "link.rate", "delay": "link.delay", "loss": "link.loss"}

// Parse reads a rig of the form KIND[:SEATS][?KEY=VALUE&…], or a file whose
// name ends in .yaml. The error names what was expected and the nearest valid
// name.
func Parse(text string, read func(file string) ([]byte, error)) (Choice, error) {
	if isFile(text) {
		return parseFile(text, read)
	}
	c := Choice{text: text, options: map[string]string{}}
	head, query, _ := strings.Cut(text, "?")
	name, seats, _ := strings.Cut(head, ":")
	c.argument = seats
	var err error
	if c.kind, err = kindOf(text, name); err != nil || query == "" {
		return c, err
	}
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if err := c.set(key, value); err != nil {
			return c, err
		}
	}
	return c, nil
}

func kindOf(text, name string) (kind, error) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, fmt.Errorf("rig %q: unknown kind %q; %s", text, name, quantity.Hint(name, names()))
	}
	return kinds[i], nil
}

// set takes one option.
func (c *Choice) set(key, value string) error {
	valid := slices.Concat(c.kind.options, slices.Sorted(maps.Keys(linkOptions)))
	switch {
	case !slices.Contains(valid, key):
		return fmt.Errorf("rig %q: unknown key %q; %s", c.text, key, quantity.Hint(key, valid))
	case value == "":
		return fmt.Errorf("rig %q: %s has no value; expected %s=VALUE", c.text, key, key)
	case c.options[key] != "":
		return fmt.Errorf("rig %q: %s is given twice", c.text, key)
	}
	c.options[key] = value
	return nil
}

func names() []string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return all
}

// Forms returns how each kind of rig is written, for help texts.
func Forms() []string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.form)
	}
	return all
}

// Levels returns what the rig says of its link: a level of each factor that it
// names, as the user wrote it; nil when it names none.
func (c Choice) Levels() map[string]string {
	var levels map[string]string
	for key, factor := range linkOptions {
		if value, given := c.options[key]; given {
			if levels == nil {
				levels = map[string]string{}
			}
			levels[factor] = value
		}
	}
	return levels
}

// String returns the rig as the user wrote it.
func (c Choice) String() string { return c.text }

// External tells whether the servers of the rig stand already.
func (c Choice) External() bool { return c.kind.name == rig.ExternalName }

// Build makes the rig; whoever gets it closes it.
func (c Choice) Build(ctx context.Context) (rig.Rig, error) { return c.kind.build(ctx, c) }

// name is the rig as records name it: without the link, which is a factor.
func (c Choice) name() string {
	name := c.kind.name
	if isFile(c.text) {
		return name + " of " + c.text
	}
	if c.argument != "" {
		name += ":" + c.argument
	}
	return name
}

// flag returns an option that is yes or no; false when it was not given.
func (c Choice) flag(key string) (bool, error) {
	switch c.options[key] {
	case "", "no":
		return false, nil
	case "yes":
		return true, nil
	}
	return false, fmt.Errorf("rig %q: %s=%s; expected yes or no", c.text, key, c.options[key])
}

// count returns how many seats were asked for; standard when none were named.
func (c Choice) count(standard int) (int, error) {
	if c.argument == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(c.argument)
	if err != nil {
		return 0, fmt.Errorf("rig %q: %q is not a number of seats; expected %s", c.text, c.argument, c.kind.form)
	}
	return n, nil
}

// bytes returns an option that is a size; 0 when it was not given.
func (c Choice) bytes(key string) (int, error) {
	text, given := c.options[key]
	if !given {
		return 0, nil
	}
	n, err := quantity.ParseBytes(text)
	if plain, e := strconv.Atoi(text); e == nil { // an MTU is written without its unit
		n, err = int64(plain), nil
	}
	if err != nil || n > 1<<31-1 {
		return 0, fmt.Errorf("rig %q: %s=%s is not a size in bytes", c.text, key, text)
	}
	return int(n), nil
}
