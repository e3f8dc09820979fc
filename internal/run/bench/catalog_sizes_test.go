package bench

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/run/study"
)

// An arm that cannot draw is refused with the reason, and nothing else is.
func TestSizesAndArrivalsNeedTheirFeatures(t *testing.T) {
	with := func(name string, features ...contract.Feature) Offer {
		return Offer{Transport: contract.Transport{Name: name, Wire: "http/1.1", Roles: []contract.Role{contract.Server, contract.Client}, Features: features}}
	}
	program := Offer{Transport: contract.Transport{Name: "iperf3", Roles: []contract.Role{contract.Server, contract.Client}}}
	decode := func(factor, level string) study.Work {
		w, err := study.Decode(map[string]string{"server": "x", "client": "x", "rate": "1000", factor: level})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	drawn, bursts := decode("request", "uniform:1B..4KiB"), decode("arrival", "burst:on=10ms,off=90ms")
	for _, c := range []struct {
		work  study.Work
		end   Offer
		words string
	}{
		{drawn, with("plain"), "does not have feature sizes"},
		{drawn, with("drawing", contract.FeatureSizes), ""},
		{drawn, program, "all of one size"},
		{bursts, with("plain", contract.FeatureSizes), "does not have feature arrivals"},
		{bursts, with("bursting", contract.FeatureArrivals), ""},
		{bursts, program, "makes requests by itself"},
		{decode("request", "4KiB"), program, ""},
		{decode("arrival", "poisson"), with("plain"), ""},
	} {
		err := able(c.work, c.end)
		if (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", c.end.Name, err, c.words)
		}
	}
	if err := able(bursts, program, with("bursting", contract.FeatureArrivals)); err != nil {
		t.Errorf("a server of the user's: %v", err)
	}
	same := drawn.Exchange
	same.DownBytes, same.DownSizes = same.UpBytes, same.UpSizes
	if err := sizesFit(echo, same); err != nil {
		t.Error(err)
	}
	for wire, x := range map[string]contract.Exchange{echo: drawn.Exchange, stream: same} {
		if sizesFit(wire, x) == nil {
			t.Errorf("wire %s takes %+v", wire, x)
		}
	}
}
