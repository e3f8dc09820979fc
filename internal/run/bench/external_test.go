package bench

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// lonely is a catalog with a client, a server and a pair.
func lonely() *Catalog {
	all := []contract.Role{contract.Server, contract.Client}
	options := []contract.Option{
		{Name: "nodelay", Type: contract.TypeBool, Default: true},
		{Name: "backlog", Type: contract.TypeInt, Default: 0, Roles: []contract.Role{contract.Server}},
	}
	return &Catalog{Programs: []Program{{Hello: contract.Hello{Transports: []contract.Transport{
		{Name: "both", Wire: echo, Roles: all, Options: options},
		{Name: "server", Wire: echo, Roles: []contract.Role{contract.Server}},
		{Name: "pair", Wire: "null", Roles: []contract.Role{contract.Pair}},
	}}}}}
}

func TestAloneTakesOnlyWhatAClientCanDo(t *testing.T) {
	for _, c := range []struct{ levels, want string }{
		{"server=both client=both", ""},
		{"server=somewhere-else client=both", ""},
		{"server=both client=both opt.nodelay=no", ""},
		{"server=both client=both opt.client.nodelay=no", ""},
		{"server=both client=server", "has no role client"},
		{"server=pair client=pair", "starts both ends itself"},
		{"server=both client=nobody", "no worker here has it"},
		{"server=both client=brpc", "whose worker is not here (native/brpc/README.md builds it); netdyno's own end of the same protocol is baidu-std"},
		{"server=both client=baidu-std-asio", "netdyno has one end of wire baidu_std of its own, which is baidu-std"},
		{"server=both client=both opt.server.backlog=5", "opt.server.backlog is for the command that starts the server"},
		{"server=both client=both opt.backlog=5", "backlog"},
		{"server=both client=both servers=2", "servers=2 is for"},
		{"server=both client=both path=direct", ""},
		{"server=both client=both path=nginx", "path: the server stands already"},
		{"server=both client=both listeners=2", "listeners=2 is for"},
		{"server=both client=both tls=yes", "does not have feature tls"},
		{"server=both client=both request=1B response=2B", "wire echo returns what it is sent"},
	} {
		levels := map[string]string{}
		for _, level := range strings.Fields(c.levels) {
			factor, text, _ := strings.Cut(level, "=")
			levels[factor] = text
		}
		work, err := study.Decode(levels)
		if err != nil {
			t.Fatal(err)
		}
		_, err = lonely().ClientOnly(work)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.levels, err, c.want)
		}
	}
}

// What cannot lie between two ends is said before anything runs.
func TestHopsOfAPathFit(t *testing.T) {
	c := lonely()
	hop := []contract.Role{contract.Hop}
	wire := contract.Option{Name: "wire", Type: contract.TypeChoice, Default: "http/1.1", Choices: []string{"http/1.1", echo}}
	c.Programs[0].Hello.Transports = append(c.Programs[0].Hello.Transports,
		contract.Transport{Name: "nginx", Roles: hop, Options: []contract.Option{wire}},
		contract.Transport{Name: ownHop, Roles: hop, Options: []contract.Option{{Name: "wire", Type: contract.TypeText}}},
		contract.Transport{Name: "datagrams", Wire: echo, UDP: true, Roles: []contract.Role{contract.Server, contract.Client}},
	)
	for _, x := range []struct {
		server, path, more string
		want               string
	}{
		{"both", "direct", "", ""},
		{"both", "nginx", "", ""},
		{"both", "nginx+nginx", "", ""},
		{"both", "exec:relay {port} {upstream}", "", ""},
		{"both", "nginz", "", `no hop "nginz" here; did you mean "nginx"?`},
		{"both", "both", "", `no hop "both" here`},
		{"both", "nginx", "down", "nginx does not carry wire stream as netdyno sets it up"},
		{"pair", "nginx", "", "starts both of its ends itself"},
		{"datagrams", "nginx", "", "moves datagrams"},
	} {
		levels := map[string]string{"server": x.server, "client": x.server, record.PathFactor: x.path}
		if x.more != "" {
			levels["stream"] = x.more
		}
		work, err := study.Decode(levels)
		if err != nil {
			t.Fatal(err)
		}
		server, client, err := c.pair(work)
		if err == nil {
			_, err = c.hops(work, server, client)
		} else if x.more != "" { // what a hop carries does not depend on its ends
			server, _ = c.Named(x.server)
			_, err = c.hops(work, server, server)
		}
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s by %s: %v, want %q", x.server, x.path, err, x.want)
		}
	}
}

func TestAFailureNamesTheServerOnce(t *testing.T) {
	tr := &trial{peers: []string{"10.0.0.1:8080"}}
	for text, want := range map[string]string{
		"every connection was lost":         "every connection was lost; the server is what listens on 10.0.0.1:8080",
		"dial 10.0.0.1:8080: no route":      "dial 10.0.0.1:8080: no route",
		"dial tcp 10.0.0.1:8080: timed out": "dial tcp 10.0.0.1:8080: timed out",
	} {
		f := &record.Failure{Text: text, Worker: "client-1"}
		if tr.nameServer(f); f.Text != want {
			t.Errorf("%q became %q, want %q", text, f.Text, want)
		}
	}
	ours := &record.Failure{Text: "no such transport"} // of no worker: the server has no part in it
	if tr.nameServer(ours); ours.Text != "no such transport" {
		t.Errorf("a failure of no client's names the server: %s", ours.Text)
	}
	tr.nameServer(nil)
}
