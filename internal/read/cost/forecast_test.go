package cost

import (
	"math"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// runOf is a run of transports whose costs are known at both ends.
func runOf(seed uint64, truths map[string]func(up, down float64) float64) []Cost {
	var all []Cost
	for _, end := range []string{"server", "client"} {
		c := Cost{Spec: record.Cost{Metric: end + ".cpu_us_per_exchange", Terms: perByte.Terms}}
		for _, name := range sorted(truths) {
			m := fitted(c.Spec, planted(seed, 6, 0.02, truths[name]))
			m.Arm, m.Rate = name, 50_000
			c.Models = append(c.Models, m)
		}
		all = append(all, c)
	}
	return all
}

func line(base, perUp, perDown float64) func(up, down float64) float64 {
	return func(up, down float64) float64 { return base + perUp*up + perDown*down }
}

var hundred = Load{Up: 64, Down: 1 << 20, Servers: 2, Clients: 4, Link: 12.5e9, Cores: 8, Rate: 10_000}

// What is forecast is what was planted, times the rate, on as many hosts.
func TestAForecastIsThePlantedCost(t *testing.T) {
	f := ForecastOf(map[string][]Cost{"run": runOf(1, map[string]func(up, down float64) float64{"a": line(15, 2e-4, 1e-4), "b": line(30, 2e-4, 4e-4)})}, hundred, nil)
	if len(f.Choices) != 2 || f.Choices[0].Arm != "a" {
		t.Fatalf("%+v", f)
	}
	each := 15 + 64*2e-4 + (1<<20)*1e-4
	c := f.Choices[0]
	for _, x := range []struct {
		what string
		got  *Figure
		want float64
	}{
		{"cores of a server", c.Server.Cores, each * 1e-6 * hundred.Rate / 2}, {"cores of a client", c.Client.Cores, each * 1e-6 * hundred.Rate / 4},
		{"cores in all", c.Cores, 2 * each * 1e-6 * hundred.Rate},
	} {
		if x.got.Low > x.want || x.want > x.got.High || math.Abs(x.got.Value/x.want-1) > 0.15 {
			t.Errorf("%s: %+v, planted %v", x.what, x.got, x.want)
		}
	}
	other := f.Choices[1]
	if r := other.Ratio; r == nil || math.Abs(r.Value*c.Cores.Value/other.Cores.Value-1) > 1e-9 || r.Low <= 1 {
		t.Errorf("b takes %+v of a's cores: %v and %v", r, other.Cores.Value, c.Cores.Value)
	}
	if len(c.Limits) == 0 || c.Limits[0].Name != "link" || c.Limits[0].Share < 0.4 || c.Limits[0].Share > 0.5 {
		t.Errorf("limits %+v", c.Limits)
	}
}

// What no fitted cell reached is marked, and a model that does not hold forecasts
// nothing.
func TestWhatWasNotMeasuredIsMarked(t *testing.T) {
	run := runOf(3, map[string]func(up, down float64) float64{"a": line(15, 2e-4, 1e-4)})
	load := hundred
	if f := ForecastOf(map[string][]Cost{"run": run}, load, nil); len(f.Choices[0].Beyond) != 0 {
		t.Errorf("inside the range: beyond %v", f.Choices[0].Beyond)
	}
	load.Down, load.Rate = 64<<20, 1e6
	if f := ForecastOf(map[string][]Cost{"run": run}, load, nil); len(f.Choices[0].Beyond) != 2 {
		t.Errorf("beyond %v; want the size and the rate", f.Choices[0].Beyond)
	}
	for i := range run {
		run[i].Models[0].Reason = "it misses one in ten"
	}
	if f := ForecastOf(map[string][]Cost{"run": run}, load, nil); len(f.Choices) != 0 || len(f.Without) != 1 || !strings.Contains(f.Without[0], "no model of client.cpu_us_per_exchange: it misses one in ten") {
		t.Errorf("%+v", f)
	}
}

// Where the model of one end does not hold, the other end's figures are those of a
// whole choice, and everything that takes both is absent.
func TestOneEndIsForecastAlone(t *testing.T) {
	truths := map[string]func(up, down float64) float64{"a": line(15, 2e-4, 1e-4), "b": line(30, 2e-4, 4e-4)}
	load := hundred
	load.Connections, load.Rate = 100, 200_000
	whole := ForecastOf(map[string][]Cost{"run": runOf(6, truths)}, load, nil)
	run := runOf(6, truths)
	run[1].Models[0].Reason = "it misses one in ten"
	f := ForecastOf(map[string][]Cost{"run": run}, load, nil)
	if len(f.Choices) != 2 || f.Choices[0].Arm != "b" || f.Choices[0].Ratio != nil || len(f.Without) != 0 {
		t.Fatalf("%+v", f)
	}
	c, server := f.Choices[1], whole.Choices[0].Server
	if c.Whole() || c.Ratio != nil || c.Client.CPU != nil || c.Client.Cores != nil || c.Client.Memory != nil || !strings.Contains(c.Client.Why, "it misses one in ten") {
		t.Errorf("figures of an end without a model: %+v", c)
	}
	if c.Server.Cores == nil || *c.Server.Cores != *server.Cores || c.Server.Why != "" {
		t.Errorf("server alone %+v, with its client %+v", c.Server, server)
	}
	if !(c.Least > 0 && c.Least < whole.Choices[0].Least) {
		t.Errorf("at least %v connections by one end, %v by both", c.Least, whole.Choices[0].Least)
	}
	if slices.ContainsFunc(c.Limits, func(l Limit) bool { return strings.HasPrefix(l.Name, "client") }) {
		t.Errorf("limits %+v", c.Limits)
	}
}

// Without a rate the load is what fills the link; too few connections are what is
// full first.
func TestLoadAndConnections(t *testing.T) {
	load := hundred
	if got, want := load.FullRate(), 12.5e9*Payload*2/(1<<20); math.Abs(got-want) > 1e-6 {
		t.Errorf("the link is full at %v, want %v", got, want)
	}
	load.Connections, load.RoundTrip = 4, 0.01
	run := runOf(4, map[string]func(up, down float64) float64{"a": line(15, 2e-4, 1e-4)})
	c := ForecastOf(map[string][]Cost{"run": run}, load, nil).Choices[0]
	if c.Limits[0].Name != "connections" || c.Limits[0].Share < 25 || c.Least < 100 {
		t.Errorf("4 connections of %v: limits %+v", c.Least, c.Limits)
	}
}

// A model of the other direction forecasts nothing, also where it does not hold; it is
// named only where no other one of its transport does.
func TestAStreamIsForecastInItsDirection(t *testing.T) {
	run := runOf(5, map[string]func(up, down float64) float64{"a": line(15, 2e-4, 1e-4)})
	for i := range run {
		down, up := run[i].Models[0], run[i].Models[0]
		down.At, down.Ranges = "stream=down", []Range{{"request", 1, 1}, {"response", 64, 4 << 20}}
		up.At, up.Ranges, up.Reason = "stream=up", []Range{{"request", 64, 4 << 20}, {"response", 1, 1}}, "it misses one in ten"
		run[i].Models = []Model{down, up}
	}
	load := hundred
	load.Up = 0
	if f := ForecastOf(map[string][]Cost{"run": run}, load, nil); len(f.Choices) != 1 || f.Choices[0].At != "stream=down" || len(f.Without) != 0 {
		t.Errorf("down: %+v", f)
	}
	load.Up, load.Down = 1<<20, 0
	if f := ForecastOf(map[string][]Cost{"run": run}, load, nil); len(f.Choices) != 0 || len(f.Without) != 2 {
		t.Errorf("up: %d choices, without %q", len(f.Choices), f.Without)
	}
}

// The cost of a mix is the mean of its sizes' costs, also of a model with bends.
func TestAForecastOfAMixIsTheMeanOfItsSizes(t *testing.T) {
	bent := func(up, down float64) float64 { return 15 + 64*2e-4*up/64 + 1e-4*down + 3e-4*max(0, down-65536) }
	runs := map[string][]Cost{"run": runOf(3, map[string]func(up, down float64) float64{"a": bent})}
	const small, large, often = 4096, 1 << 20, 0.9
	mix := hundred
	mix.Sizes = map[string]contract.Table{"response": {{contract.TableEnd / 10 * 9, small, small}, {contract.TableEnd, large, large}}}
	mix.Down = mix.Sizes["response"].Mean()
	cores := func(n Load) float64 {
		t.Helper()
		f := ForecastOf(runs, n, nil)
		if len(f.Choices) != 1 || !f.Choices[0].Whole() {
			t.Fatalf("%+v", f)
		}
		return f.Choices[0].Cores.Value
	}
	of := func(down float64) float64 {
		one := hundred
		one.Down = down
		return cores(one)
	}
	want := often*of(small) + (1-often)*of(large)
	if got := cores(mix); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("a mix takes %v cores, its sizes %v", got, want)
	}
	if mean := of(mix.Down); math.Abs(mean/want-1) < 0.1 {
		t.Errorf("the mean size alone takes %v cores, too near to %v for a test", mean, want)
	}
}
