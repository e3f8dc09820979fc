package arrange

import (
	"errors"
	"runtime"
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
hosts:
  - {name: store, ssh: node76, address: 10.1.0.76, cpus: 0-3}
  - {ssh: me@node73, interface: ens1f0}
`))
	if err != nil || c.kind.Name != "ssh" || c.Options["config"] != "lab/config" || len(c.Hosts) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	if s := c.Hosts[0]; s.Title() != "store" || len(s.CPUs()) != 4 || c.Hosts[1].Title() != "me@node73" {
		t.Errorf("hosts %+v", c.Hosts)
	}
	if got := c.Levels(); len(got) != 1 || got["link.rate"] != "10Gbit" {
		t.Errorf("levels %q", got)
	}
}

func TestPrefixesAreARig(t *testing.T) {
	c, err := Parse("pods.yml", written(`
rig: prefix
options: {shared: "yes"}
hosts:
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
	hosts := r.Hosts()
	if len(hosts) != 2 || hosts[1].Name != "there" || hosts[1].Address != "127.0.0.2" || len(hosts[1].CPUs) != 1 {
		t.Fatalf("hosts %+v", hosts)
	}
	if out, err := hosts[1].Ask(t.Context(), nil, "sh", "-c", "printf $A"); err != nil || string(out) != "b" {
		t.Errorf("the prefix gave %q, %v", out, err)
	}
}

func TestFilesTeach(t *testing.T) {
	for text, want := range map[string]string{
		"rig: shh":                               `did you mean "ssh"?`,
		"rig: ssh\nhost: []":                     `unknown field "host"`,
		"rig: slurm\nseats: 3":                   `unknown field "seats"`,
		"rig: [":                                 "lab.yaml",
		"":                                       "lab.yaml: the file is empty",
		"# nothing":                              "the file is empty",
		"rig: ssh\n---\nrig: ssh":                "line 3: a second document begins",
		"rig: &a ssh":                            "1:6: anchor is not part of a rig file",
		"rig: ssh\nhosts: [&a {ssh: a}, *a]":     "anchor is not part of a rig file",
		"rig: ssh\nhosts: [{<<: {ssh: a}}]":      "mergekey is not part of a rig file",
		"rig: !!str ssh":                         "tag is not part of a rig file",
		"rig: \x1b[2J":                           "1:6: control character U+001B",
		strings.Repeat("a: b\n", MaxFile):        "the file has 1310720 bytes; expected at most 262144",
		"rig: ssh\nhosts: [{address: 10.0.0.1}]": "host 1 has no ssh, by which rig ssh reaches it",
		"rig: ssh\nhosts: [{ssh: a, node: b}]":   "host 1 has the key node, which rig ssh does not read",
		"rig: ssh\nhosts: [{ssh: a}, {ssh: a}]":  "two hosts are named a",
		"rig: ssh\nhosts: [{ssh: -oX}]":          `"-oX" is not a host`,
		"rig: ssh\nhosts: [{ssh: a, cpus: x}]":   `host 1: cpus: parse CPU list "x"`,
		"rig: ssh\noptions: {rat: 1}":            `unknown key "rat"; did you mean "rate"?`,
		"rig: prefix":                            "names no host",
		"rig: prefix\nhosts: [{prefix: [env]}]":  `address "" of env is not an IP address`,
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

// A hostile file costs no more than a small multiple of its bound, whatever it
// makes of nesting: 500 kB of open brackets took 6.6 GB once.
func TestAHostileFileIsCheap(t *testing.T) {
	const most = 400 << 20 // bytes, twice what the worst of these takes
	line := func(text string) string { return strings.Repeat(text, 990/len(text)) + "\n" }
	for name, text := range map[string]string{
		"open brackets":          strings.Repeat("[", 500_000),
		"open braces":            strings.Repeat("{", MaxFile),
		"brackets line by line":  strings.Repeat("[\n", MaxFile/2),
		"deep lists":             strings.Repeat(line("- "), MaxFile/1000),
		"deep keys":              strings.Repeat(line("? "), MaxFile/1000),
		"keys of keys":           strings.Repeat(line("a: "), MaxFile/1000),
		"deeper with every line": staircase(MaxFile),
		"aliases of aliases":     "rig: &a [x,x,x,x,x,x,x,x,x]\nhosts: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\noptions: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("lab.yaml", written(text))
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > most {
			t.Errorf("%s: %d MB were allocated, want less than %d MB", name, got>>20, most>>20)
		} else {
			t.Logf("%s: %d MB", name, got>>20)
		}
	}
}

// staircase nests mappings as deep as lines allow, a column a line.
func staircase(most int) string {
	var b strings.Builder
	for depth := 0; depth < 990 && b.Len() < most-1000; depth++ {
		b.WriteString(strings.Repeat(" ", depth) + "a:\n")
	}
	return b.String()
}
