// Package arrange reads what a user chose as the rig, on a command line or in
// a file, and builds it.
package arrange

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/containers"
	"netdyno/internal/run/rig/namespaces"
	"netdyno/internal/run/rig/openssh"
	"netdyno/internal/run/rig/pods"
	"netdyno/internal/run/rig/remote"
	"netdyno/internal/run/rig/slurm"
)

// kinds are all there are; a new one is a line here and its package.
var kinds = append(containers.Kinds,
	rig.LoopbackKind,
	namespaces.Kind,
	rig.ExternalKind,
	openssh.Kind,
	slurm.Kind,
	pods.Kind,
	remote.Kind,
)

// Choice is a rig as the user wrote it: "netns:3?rate=1Gbit".
type Choice struct {
	rig.Choice
	kind rig.Kind
}

// linkOptions are keys that any rig may be given: levels of factors, which
// only a rig that shapes its link takes.
var linkOptions = map[string]string{"rate": "link.rate", "delay": "link.delay", "loss": "link.loss"}

// Parse reads a rig of the form KIND[:ARGUMENT][?KEY=VALUE&…], of some kinds
// KIND:RATE for KIND?rate=RATE, or a file whose
// name ends in .yaml. The error names what was expected and the nearest valid
// name.
func Parse(text string, read func(file string) ([]byte, error)) (Choice, error) {
	if isFile(text) {
		return parseFile(text, read)
	}
	head, query, _ := strings.Cut(text, "?")
	name, argument, _ := strings.Cut(head, ":")
	rate := ""
	if linksByRate(name) && argument != "" && strings.Trim(argument, "0123456789") != "" {
		if _, err := quantity.ParseBitRate(argument); err == nil {
			argument, rate = "", argument
		}
	}
	c, err := choose(text, name, argument)
	if err != nil {
		return c, err
	}
	if rate != "" {
		c.Options["rate"] = rate
	}
	if query == "" {
		return c, nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if err := c.set(key, value); err != nil {
			return c, err
		}
	}
	return c, nil
}

// linksByRate tells whether the argument of a kind may be the rate of its links.
func linksByRate(name string) bool {
	return slices.ContainsFunc(kinds, func(k rig.Kind) bool { return k.Name == name && k.Links })
}

// choose begins a choice of the named kind.
func choose(text, name, argument string) (Choice, error) {
	i := slices.IndexFunc(kinds, func(k rig.Kind) bool { return k.Name == name })
	if i < 0 {
		return Choice{}, fmt.Errorf("rig %q: unknown kind %q; %s", text, name, quantity.Hint(name, names()))
	}
	title := name
	switch {
	case isFile(text):
		title += " of " + text
	case argument != "":
		title += ":" + argument
	}
	return Choice{kind: kinds[i], Choice: rig.Choice{Text: text, Form: kinds[i].Form, Name: title, Argument: argument, Options: map[string]string{}}}, nil
}

// set takes one option.
func (c *Choice) set(key, value string) error {
	valid := slices.Concat(c.kind.Options, slices.Sorted(maps.Keys(linkOptions)))
	switch {
	case !slices.Contains(valid, key):
		return c.Errorf("unknown key %q; %s", key, quantity.Hint(key, valid))
	case value == "":
		return c.Errorf("%s has no value; expected %s=VALUE", key, key)
	case c.Options[key] != "":
		return c.Errorf("%s is given twice", key)
	}
	c.Options[key] = value
	return nil
}

func names() []string {
	return each.Of(kinds, func(k rig.Kind) string { return k.Name })
}

// Forms returns how each kind of rig is written, for help texts.
func Forms() []string {
	return each.Of(kinds, func(k rig.Kind) string { return k.Form })
}

// Levels returns what the rig says of its link, as a level, in the user's spelling, for
// each factor that the rig names; nil when the rig names none.
func (c Choice) Levels() map[string]string {
	var levels map[string]string
	for key, factor := range linkOptions {
		if value, given := c.Options[key]; given {
			if levels == nil {
				levels = map[string]string{}
			}
			levels[factor] = value
		}
	}
	return levels
}

// String returns the rig as the user wrote it.
func (c Choice) String() string { return c.Text }

// External tells whether the servers of the rig stand already.
func (c Choice) External() bool { return c.kind.Name == rig.ExternalName }

// Build makes the rig; whoever gets it closes it.
func (c Choice) Build(ctx context.Context) (rig.Rig, error) { return c.kind.Build(ctx, c.Choice) }
