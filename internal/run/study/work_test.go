package study

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdyno/internal/contract"
)

func TestDecodeReadsEveryLevel(t *testing.T) {
	w, err := Decode(map[string]string{
		"server": "go-net", "client": "asio", "request": "64KiB", "response": "1B", "connections": "100", "inflight": "4", "clients": "3",
		"listeners": "2", "threads": "5", "rate": "20000", "arrival": "poisson", "active": "50%", "placement": "shared", "window": "3s", "warmup": "1s",
		"stream": "both", "chunk": "4KiB", "tls": "yes", "fresh": "no",
		"opt.buffer": "4KiB", "opt.server.listener": "shared", "opt.client.read": "all", "amount": "0", "think": "0s", "codec": "bytes",
	})
	want := Work{
		Server: "go-net", Client: "asio",
		BothOptions: map[string]string{"buffer": "4KiB"}, ServerOptions: map[string]string{"listener": "shared"}, ClientOptions: map[string]string{"read": "all"},
		Exchange: contract.Exchange{UpBytes: 65536, DownBytes: 1, Codec: "bytes", Stream: contract.StreamBoth, ChunkBytes: 4096},
		TLS:      true,
		Load:     contract.Load{Connections: 100, InFlight: 4, Rate: 20000, Arrival: contract.Poisson, ActiveShare: 0.5},
		Servers:  1, Clients: 3, Listeners: 2, Threads: 5, Placement: "shared", Window: 3 * time.Second, Warmup: time.Second, WarmupMost: 10 * time.Second,
	}
	if err != nil || fmt.Sprintf("%+v", w) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v, %v\nwant %+v", w, err, want)
	}
}

func TestDecodeSettlesWhatLevelsImply(t *testing.T) {
	for _, c := range []struct {
		levels map[string]string
		want   Work
	}{
		{nil, Work{Exchange: contract.Exchange{UpBytes: 100, DownBytes: 100, Codec: "bytes"}}},
		{map[string]string{"stream": "down"}, Work{Exchange: contract.Exchange{
			UpBytes: 100, DownBytes: 100, Codec: "bytes", Stream: contract.StreamDown, ChunkBytes: 64 << 10,
		}}},
		{map[string]string{"request": "0B", "response": "4MiB", "fresh": "yes"}, Work{
			Exchange: contract.Exchange{DownBytes: 4 << 20, Codec: "bytes"}, Load: contract.Load{Fresh: true},
		}},
		{map[string]string{"codec": "json-fast", "message": "a.proto:p.T:a.json"}, Work{
			Exchange: contract.Exchange{Codec: "json-fast"}, Message: "a.proto:p.T:a.json",
		}},
	} {
		levels := map[string]string{"server": "x", "client": "x"}
		maps.Copy(levels, c.levels)
		w, err := Decode(levels)
		if err != nil || !reflect.DeepEqual(w.Exchange, c.want.Exchange) || w.Load.Fresh != c.want.Load.Fresh || w.Message != c.want.Message || w.TLS {
			t.Errorf("%v gave %+v, %v", c.levels, w, err)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for want, levels := range map[string]map[string]string{
		`decode trial: unknown factor "serve"; did you mean "server"?`:                                                                  {"serve": "x"},
		"decode trial: the level of client is missing":                                                                                  {"server": "x"},
		"decode trial: window is 0s and there is no amount; expected one of them":                                                       {"server": "x", "client": "x", "window": "0s"},
		`decode trial: rate: "fast" does not begin with a number; expected a rate per second such as 20k (or max, for the closed loop)`: {"rate": "fast"},
	} {
		if _, err := Decode(levels); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestClientsShareTheLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Work{Clients: rapid.IntRange(1, 40).Draw(t, "clients")}
		w.Load.Connections = rapid.IntRange(w.Clients, 10000).Draw(t, "connections")
		w.Load.Rate = rapid.Float64Range(0, 1e6).Draw(t, "rate")
		connections, rate, least, most := 0, 0.0, w.Load.Connections, 0
		for i := range w.Clients {
			l := w.ClientLoad(i)
			connections += l.Connections
			rate += l.Rate
			least, most = min(least, l.Connections), max(most, l.Connections)
		}
		if connections != w.Load.Connections || least == 0 || most-least > 1 || rate < w.Load.Rate*(1-1e-9) || rate > w.Load.Rate*(1+1e-9) {
			t.Fatalf("%d of %d connections, from %d to %d each; rate %v of %v", connections, w.Load.Connections, least, most, rate, w.Load.Rate)
		}
	})
}

func bound(x float64) *float64 { return &x }

var declaredOptions = []contract.Option{
	{Name: "buffer", Type: contract.TypeBytes, Min: bound(1024), Max: bound(1 << 20)},
	{Name: "timeout", Type: contract.TypeDuration, Max: bound(1e9)},
	{Name: "nice", Type: contract.TypeInt, Min: bound(-20)},
	{Name: "factor", Type: contract.TypeFloat},
	{Name: "nodelay", Type: contract.TypeBool},
	{Name: "listener", Type: contract.TypeChoice, Choices: []string{"shared", "reuseport"}, Roles: []contract.Role{contract.Server}},
	{Name: "command", Type: contract.TypeText},
	{Name: "odd", Type: "oddity"},
}

func TestOptionsAreTyped(t *testing.T) {
	got, err := Options(declaredOptions, contract.Server, map[string]string{
		"buffer": "64KiB", "timeout": "2ms", "nice": "-5", "factor": "0.5", "nodelay": "yes", "listener": "shared", "command": "echo -p 7",
	})
	want := map[string]any{
		"buffer": int64(65536), "timeout": int64(2e6), "nice": int64(-5), "factor": 0.5, "nodelay": true, "listener": "shared", "command": "echo -p 7",
	}
	if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
		t.Errorf("got %#v, %v", got, err)
	}
}

func TestOptionErrorsTeach(t *testing.T) {
	for _, c := range []struct {
		role             contract.Role
		name, text, want string
	}{
		{"server", "bufer", "1KiB", `option bufer: the server has no such option; did you mean "buffer"?`},
		{"server", "x", "1", "option x: the server has no such option; expected one of buffer, command, factor, listener, nice, nodelay, odd, timeout"},
		{"client", "listener", "shared", "option listener: the client does not take it, only [server] does"},
		{"server", "buffer", "100B", "option buffer of the server: 100B is out of range; expected at least 1KiB"},
		{"server", "buffer", "2MiB", "option buffer of the server: 2MiB is out of range; expected at most 1MiB"},
		{"server", "timeout", "2s", "option timeout of the server: 2s is out of range; expected at most 1s"},
		{"server", "timeout", "2", `option timeout of the server: "2" has no unit; expected one of h, m, s, ms, us, ns`},
		{"server", "nice", "-21", "option nice of the server: -21 is out of range; expected at least -20"},
		{"server", "factor", "NaN", `option factor of the server: "NaN" is not a number`},
		{"server", "nodelay", "maybe", `option nodelay of the server: "maybe" is neither; expected yes or no`},
		{"server", "listener", "shard", `option listener of the server: unknown level "shard"; did you mean "shared"?`},
		{"server", "odd", "1", `option odd of the server: its worker declares the unknown type "oddity"`},
	} {
		if _, err := Options(declaredOptions, c.role, map[string]string{c.name: c.text}); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestAnOptionReachesTheEndsThatDeclareIt(t *testing.T) {
	ends := map[contract.Role][]contract.Option{
		contract.Server: declaredOptions[:6], contract.Client: declaredOptions[:1],
	}
	w := Work{
		BothOptions:   map[string]string{"buffer": "4KiB", "nice": "3", "listener": "shared"},
		ServerOptions: map[string]string{"timeout": "1ms"},
	}
	got, err := w.OptionsByRole(ends)
	if want := "map[client:map[buffer:4096] server:map[buffer:4096 listener:shared nice:3 timeout:1000000]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v", got, err)
	}
	w.BothOptions["niec"] = "3"
	if _, err := w.OptionsByRole(ends); err == nil || err.Error() != `option niec: no end declares it; did you mean "nice"?` {
		t.Errorf("an option of no end gave %v", err)
	}
	pair := Work{BothOptions: map[string]string{"nice": "1"}, ClientOptions: map[string]string{"buffer": "8KiB"}}
	got, err = pair.OptionsByRole(map[contract.Role][]contract.Option{contract.Pair: declaredOptions})
	if want := "map[pair:map[buffer:8192 nice:1]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("a pair got %v, %v", got, err)
	}
}

func TestDecodeSizesAndArrivals(t *testing.T) {
	ends := map[string]string{"server": "x", "client": "x", "connections": "40", "clients": "4"}
	with := func(more map[string]string) Work {
		levels := maps.Clone(ends)
		maps.Copy(levels, more)
		w, err := Decode(levels)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	x := with(map[string]string{"request": "uniform:100B..4KiB", "response": "choice:50%:1KiB,50%:3KiB"}).Exchange
	if x.UpBytes != 4096 || x.DownBytes != 3072 || x.UpMeanBytes != 2098 || x.DownMeanBytes != 2048 || len(x.UpSizes) != 1 || len(x.DownSizes) != 2 {
		t.Errorf("%+v", x)
	}
	burst := with(map[string]string{"rate": "1000", "arrival": "burst:on=10ms,off=90ms"})
	if l := burst.ClientLoad(1); l.Arrival != contract.Constant || l.Rate != 250 || !l.Repeat || len(l.Phases) != 2 || l.Phases[0] != (contract.Phase{10e6, 2500, 2500}) {
		t.Errorf("%+v", l)
	}
	steps := with(map[string]string{"arrival": "steps:1k,3k/5s", "warmup": "1s"})
	if l := steps.Load; l.Rate != 2000 || steps.Window != 10*time.Second || len(l.Phases) != 3 || l.Phases[0] != (contract.Phase{1e9, 1000, 1000}) || l.Repeat {
		t.Errorf("%+v over %v", l, steps.Window)
	}
	if short := with(map[string]string{"arrival": "ramp:1k..3k/5s", "window": "3s"}); short.Window != 3*time.Second || short.Load.Rate != 2000 {
		t.Errorf("%+v", short)
	}
	for pace, gathers := range map[string]int64{"even": 0, "cheap": 100_000} {
		if l := with(map[string]string{"rate": "1000", "pace": pace}).Load; l.GatherNs != gathers {
			t.Errorf("pace=%s gathers for %d ns, want %d", pace, l.GatherNs, gathers)
		}
	}
	if l := with(map[string]string{"rate": "1000", "arrival": "gamma:cv=2"}).Load; l.Arrival != contract.Drawn || l.GapsCV != 2 || len(l.Gaps) < 100 {
		t.Errorf("%+v", l)
	}
}

// Clients tell stages where the study asks, which they must be able to, or where they can and
// that is of use.
func TestStagesAreToldWhereTheyAreOfUse(t *testing.T) {
	for levels, want := range map[string]struct{ stages, may bool }{
		"":                                  {false, false},
		"stages=yes":                        {true, false},
		"stages=no events=yes":              {false, false},
		"events=yes":                        {false, true},
		"resumption=no":                     {false, true},
		"resumption=yes":                    {false, true},
		"opt.server.address=h:1":            {false, true},
		"opt.server.address=h:1 stages=no":  {false, false},
		"opt.server.address=h:1 stages=yes": {true, false},
	} {
		all := map[string]string{"server": "x", "client": "x"}
		for _, level := range strings.Fields(levels) {
			name, text, _ := strings.Cut(level, "=")
			all[name] = text
		}
		w, err := Decode(all)
		if err != nil || w.Stages != want.stages || w.MayStages != want.may || w.Resume != (levels == "resumption=yes") {
			t.Errorf("%s: %+v, %v", levels, w, err)
		}
	}
}
