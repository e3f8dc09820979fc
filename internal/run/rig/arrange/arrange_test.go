package arrange

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
)

func TestParse(t *testing.T) {
	c, err := Parse("netns:3?mtu=9000&rate=1Gbit&loss=1%&delay=2ms", nil)
	if err != nil || c.kind.Name != "netns" || c.Argument != "3" || c.Options["mtu"] != "9000" {
		t.Fatalf("%+v, %v", c, err)
	}
	if got, want := c.Levels(), map[string]string{"link.delay": "2ms", "link.loss": "1%", "link.rate": "1Gbit"}; !maps.Equal(got, want) {
		t.Errorf("levels %q, want %q", got, want)
	}
	if c, err := Parse("ssh:me@a=10.0.0.1,b?config=x=y", nil); err != nil || c.Argument != "me@a=10.0.0.1,b" || c.Options["config"] != "x=y" || c.Name != "ssh:me@a=10.0.0.1,b" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := Parse("netns:1Gbit?delay=2ms", nil); err != nil || c.Argument != "" || c.Name != "netns" || !maps.Equal(c.Levels(), map[string]string{"link.rate": "1Gbit", "link.delay": "2ms"}) {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := Parse("loopback", nil); err != nil || c.Levels() != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestParseTeaches(t *testing.T) {
	for text, want := range map[string]string{
		"netn:2":                    `did you mean "netns"?`,
		"":                          "unknown kind",
		"netns:2?rat=1Gbit":         `unknown key "rat"; did you mean "rate"?`,
		"netns:1Gbit?rate=2Gbit":    "rate is given twice",
		"netns:2?rate":              "rate has no value; expected rate=VALUE",
		"netns:2?rate=":             "rate has no value",
		"netns:2?rate=1Gbit&rate=2": "rate is given twice",
		"ssh:a,b?partition=x":       `unknown key "partition"`,
	} {
		if _, err := Parse(text, nil); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What cannot be right is refused before anything is built or connected.
func TestBuildTeaches(t *testing.T) {
	for text, want := range map[string]string{
		"netns:x":          `"x" is not a number of hosts`,
		"netns:1":          "1 namespaces; expected from 2 to 512",
		"netns:513":        "expected from 2 to 512",
		"netns:2?mtu=9":    "mtu=9; expected from 576 to 65535",
		"netns:2?mtu=many": "mtu=many is not a size in bytes",
		"ssh:":             "is not a host",
		"ssh:a,,b":         `"" is not a host`,
		"ssh:a,-oX=y":      `"-oX=y" is not a host`,
		"ssh:a,a":          "two hosts are named a",
		"slurm:0":          "0 nodes; expected from 1",
		"slurm?shared=so":  "shared=so; expected yes or no",
	} {
		c, err := Parse(text, nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if built, err := c.Build(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: built %v, error %v, want %s", text, built, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("netns:3?rate=1Gbit")
	f.Add("ssh:a=b,c?config=")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text, nil)
		if err == nil && !slices.Contains(names(), c.kind.Name) {
			t.Errorf("%q is of kind %q", text, c.kind.Name)
		}
	})
}

// A condition of a published figure may name any kind of rig.
func TestEveryKindIsAConditionOfAFigure(t *testing.T) {
	if got, want := slices.Sorted(slices.Values(record.RigKinds())), slices.Sorted(slices.Values(names())); !slices.Equal(got, want) {
		t.Errorf("record.RigKinds are %q, the kinds %q", got, want)
	}
}
