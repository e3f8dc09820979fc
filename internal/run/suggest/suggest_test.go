package suggest_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/run/study"
	"netdyno/internal/run/suggest"
)

var offered = []contract.Transport{
	{Name: "left", Doc: "one", Roles: []contract.Role{contract.Server, contract.Client}, Options: []contract.Option{
		{Name: "depth", Type: contract.TypeInt, Doc: "how deep", Roles: []contract.Role{contract.Server}},
		{Name: "mode", Type: contract.TypeChoice, Choices: []string{"fast", "safe"}, Doc: "how"},
	}},
	{Name: "right", Doc: "another", Roles: []contract.Role{contract.Server}, Options: []contract.Option{
		{Name: "mode", Type: contract.TypeChoice, Choices: []string{"safe", "slow"}},
		{Name: "sync", Type: contract.TypeBool},
	}},
	{Name: "between", Doc: "a hop", Roles: []contract.Role{contract.Hop}},
	{Name: "hop-exec", Doc: "a hop of yours", Roles: []contract.Role{contract.Hop}},
}

// after is a command line in a directory that holds before/ and after/.
func after(typed ...string) suggest.Line {
	return suggest.Line{
		Typed:      typed,
		Transports: func() []contract.Transport { return offered },
		Read: func(string) ([]byte, error) {
			return []byte("study: own\nquestion: which?\nvary:\n  arm:\n    old: {transport: left}\n    new: {transport: left, opt.mode: fast}\n"), nil
		},
		Directories: func(begun string) []string {
			return slices.DeleteFunc([]string{"after", "before"}, func(d string) bool { return !strings.HasPrefix(d, begun) })
		},
	}
}

func texts(words []suggest.Word) string {
	var all []string
	for _, w := range words {
		all = append(all, w.Text)
	}
	return strings.Join(all, " ")
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		line suggest.Line
		word string
		want string
	}{
		{after(), "event-loops", "event-loops event-loops-quick event-loops-rate"},
		{after(), "connec", "connections="},
		{after("event-loops"), "event", ""},
		{after("connections=1"), "connec", ""},
		{after("concurrency=1"), "connec", ""}, // another name of the same
		{after(), "li", "line-rate line-rate-matrix line-rate-quick line-rate-shape listeners= link.rate= link.delay= link.loss= link.mtu="},
		{after(), "marg", "margin="},
		{after(), "settl", "settle="},
		{after(), "transport=", "transport=left transport=right"},
		{after(), "transport=left,", "transport=left,right"},
		{after(), "client=", "client=left"},
		{after(), "path=", "path=direct path=between"},
		{after(), "tls=", "tls=yes tls=no"},
		{after(), "placement=s", "placement=separate placement=shared"},
		{after(), "margin=", "margin=1% margin=2% margin=5% margin=10%"},
		{after(), "connections=5", "connections=50"},
		{after(), "conns=5", "conns=50"},
		{after(), "build=before,", "build=before,after"},
		{after(), "build=before,a", "build=before,after"},
		{after("own.yaml"), "arm=", "arm=old arm=new"},
		{after("own.yaml"), "arm=old,", "arm=old,new"},
		{after("calibrate"), "arm=", ""},
		{after(), "arm=", ""},
		{after("own.yaml", "arm=new"), "baseline=", "baseline=new"},
		{after("transport=left,right"), "baseline=r", "baseline=right"},
		{after("transport=left,"), "baseline=", ""},
		{after(), "primary=exch", "primary=exchanges_per_s"},
		{after(), "require=exch", "require=exchanges_per_s"},
		{after("transport=left"), "opt.", "opt.depth= opt.mode= opt.server. opt.client."},
		{after("transport=left"), "opt.client.", "opt.client.mode="},
		{after("own.yaml"), "opt.s", "opt.server."},
		{after(), "opt.sy", "opt.sync="},
		{after(), "opt.sync=", "opt.sync=yes opt.sync=no"},
		{after(), "opt.mode=", "opt.mode=fast opt.mode=safe opt.mode=slow"},
		{after("transport=right"), "opt.server.mode=", "opt.server.mode=safe opt.server.mode=slow"},
		{after(), "no-such=", ""},
		{after(), "question=", ""},
	} {
		if got := texts(c.line.Next(c.word)); got != c.want {
			t.Errorf("after %q, %q becomes %q, want %q", c.line.Typed, c.word, got, c.want)
		}
	}
	behindURL := after()
	behindURL.Keys = true
	if got := texts(behindURL.Next("event")); got != "" {
		t.Errorf("behind a URL a study is offered: %q", got)
	}
}

// Whatever is offered can be read: each key exists, each level is one.
func TestEverythingOfferedIsRead(t *testing.T) {
	for _, key := range after("x").Next("") {
		if key.Doc == "" {
			t.Errorf("%s has no word of explanation", key.Text)
		}
		for _, level := range after("x").Next(key.Text) {
			name, text, isLevel := strings.Cut(level.Text, "=")
			f, err := study.FactorNamed(name)
			if !isLevel || text == "" || err != nil || f.Kind == study.Whole {
				continue
			}
			if _, err := f.Level(text); err != nil {
				t.Errorf("%s is offered: %v", level.Text, err)
			}
		}
	}
}
