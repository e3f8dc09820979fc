package study

import (
	"testing"

	"netdyno/internal/record"
)

func TestProcessesThatAreLeftToTheHosts(t *testing.T) {
	varied := &Study{Hold: []Setting{{Factor: "transport", Level: Level{Text: "go-net"}}},
		Vary: []Varied{{Factor: "clients", Levels: []Level{{Text: "1", Value: 1}, {Text: Auto, Value: 1}}}}, Blocks: 1}
	if err := varied.Complete(); err == nil {
		t.Error("auto beside a number was not refused")
	}

	auto := standardLevel("clients", Auto)
	for _, c := range []struct {
		servers string // that the study holds; "" for none
		want    string
	}{{"", Auto}, {"3", "3"}} {
		s := &Study{Hold: []Setting{{Factor: "transport", Level: Level{Text: "go-net"}}, {Factor: "clients", Level: auto}},
			Vary: []Varied{{Factor: "connections", Levels: []Level{standardLevel("connections", "100"), standardLevel("connections", "900")}}}, Blocks: 2, Seed: 1}
		if c.servers != "" {
			s.Hold = append(s.Hold, Setting{Factor: "servers", Level: standardLevel("servers", c.servers)})
		}
		if err := s.Complete(); err != nil {
			t.Fatal(err)
		}
		s.Compare.Baseline = "100"
		planned, _, err := s.Plan()
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		trials, err := WithProcesses(planned, func(r record.Trial) (clients, servers string, err error) {
			if asked++; r.Levels["servers"] != c.want {
				t.Errorf("servers=%q is planned as %q, want %q", c.servers, r.Levels["servers"], c.want)
			}
			return "c" + r.Levels["connections"], "s" + r.Levels["connections"], nil
		})
		if err != nil || asked != 2 || len(trials) != len(planned) {
			t.Fatalf("%d trials after %d questions, %v; want %d after 2", len(trials), asked, err, len(planned))
		}
		for i, r := range trials {
			servers := c.servers
			if servers == "" {
				servers = "s" + r.Levels["connections"]
			}
			if r.Levels["clients"] != "c"+r.Levels["connections"] || r.Levels["servers"] != servers || Left(r) || !Left(planned[i]) {
				t.Errorf("trial %s has %v; planned were %v", r.ID, r.Levels, planned[i].Levels)
			}
		}
	}
}
