package arrange

import (
	"errors"
	"strings"
	"testing"
)

// written reads any file as this text.
func written(text string) func(string) ([]byte, error) {
	return func(string) ([]byte, error) { return []byte(text), nil }
}

func TestFile(t *testing.T) {
	c, err := Parse("lab.yaml", written(`
rig: ssh
options: {config: lab/config, rate: 10Gbit}
places:
  - {name: store, ssh: node76, address: 10.1.0.76, cpus: 0-3}
  - {ssh: me@node73, interface: ens1f0}
`))
	if err != nil || c.kind.name != "ssh" || c.options["config"] != "lab/config" || len(c.described) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	if s := c.described[0]; s.name() != "store" || len(s.cpus()) != 4 || c.described[1].name() != "me@node73" {
		t.Errorf("places %+v", c.described)
	}
	if got := c.Levels(); len(got) != 1 || got[0] != "link.rate=10Gbit" {
		t.Errorf("levels %q", got)
	}
}

func TestPrefixesAreARig(t *testing.T) {
	c, err := Parse("pods.yml", written(`
rig: prefix
options: {shared: "yes"}
places:
  - {name: here, prefix: [env], address: 127.0.0.1}
  - {name: there, prefix: [env, A=b], address: 127.0.0.2, cpus: "0"}
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	places := r.Places()
	if len(places) != 2 || places[1].Name != "there" || places[1].Address != "127.0.0.2" || len(places[1].CPUs) != 1 {
		t.Fatalf("places %+v", places)
	}
	if out, err := places[1].Ask(t.Context(), nil, "sh", "-c", "printf $A"); err != nil || string(out) != "b" {
		t.Errorf("the prefix gave %q, %v", out, err)
	}
}

func TestFilesTeach(t *testing.T) {
	for text, want := range map[string]string{
		"rig: shh":            `did you mean "ssh"?`,
		"rig: ssh\nplace: []": `unknown field "place"`,
		"rig: [":              "lab.yaml",
		"rig: ssh\nplaces: [{address: 10.0.0.1}]": "place 1 has no ssh, by which rig ssh reaches it",
		"rig: ssh\nplaces: [{ssh: a, node: b}]":   "place 1 has the key node, which rig ssh does not read",
		"rig: ssh\nplaces: [{ssh: a}, {ssh: a}]":  "two places are named a",
		"rig: ssh\nplaces: [{ssh: -oX}]":          `"-oX" is not a host`,
		"rig: ssh\nplaces: [{ssh: a, cpus: x}]":   `place 1: cpus: parse CPU list "x"`,
		"rig: ssh\noptions: {rat: 1}":             `unknown key "rat"; did you mean "rate"?`,
		"rig: prefix":                             "names no place",
		"rig: prefix\nplaces: [{prefix: [env]}]":  `address "" of env is none`,
	} {
		c, err := Parse("lab.yaml", written(text))
		if err == nil {
			_, err = c.Build(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "lab.yaml") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	missing := errors.New("no such file")
	if _, err := Parse("x.yaml", func(string) ([]byte, error) { return nil, missing }); !errors.Is(err, missing) {
		t.Errorf("a file that is not there: %v", err)
	}
}
