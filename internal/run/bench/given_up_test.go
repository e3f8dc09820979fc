package bench

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

func planned(id string, levels ...string) record.Trial {
	t := record.Trial{ID: id, Levels: map[string]string{"server": "go-net", "client": "go-net"}}
	for _, l := range levels {
		name, level, _ := strings.Cut(l, "=")
		t.Levels[name] = level
	}
	return t
}

func notReady(text string) *record.Failure {
	return &record.Failure{Kind: contract.Timeout, Text: text, Worker: "client-1", State: "idle"}
}

func TestASilentServerIsNotWaitedForAThirdTime(t *testing.T) {
	g := givenUp{}
	silent := notReady("the server at 10.0.0.1:80 accepted 2 connections and said nothing for 15s")
	g.learn(planned("b01-001", "connections=1"), silent)
	if f := g.known(planned("b01-002", "connections=1")); f != nil {
		t.Errorf("after one failure the next trial fails with %v, want it tried", f)
	}
	g.learn(planned("b01-002", "connections=50"), silent)
	f := g.known(planned("b02-001", "connections=99"))
	if f == nil || f.Kind != contract.Timeout || f.Worker != "client-1" || !strings.Contains(f.Text, "not tried again after b01-001 and b01-002") || !strings.Contains(f.Text, "said nothing for 15s") {
		t.Errorf("after two failures the next trial fails with %v, want it not tried, with the reason", f)
	}
	if f := g.known(planned("b02-002", "opt.server.address=10.0.0.2:80")); f != nil {
		t.Errorf("a trial of another server fails with %v, want it tried", f)
	}
	g.learn(planned("b02-003", "connections=1"), nil)
	if f := g.known(planned("b02-004", "connections=1")); f != nil {
		t.Errorf("after the server answered a trial fails with %v, want it tried", f)
	}
}

func TestAnyOtherWaitInVainIsForItsOwnLevels(t *testing.T) {
	g := givenUp{}
	for _, id := range []string{"b01-001", "b02-001"} {
		g.learn(planned(id, "connections=10000"), notReady("no ready within 35s"))
	}
	if g.known(planned("b03-001", "connections=10000")) == nil {
		t.Error("a trial of the same levels is tried a third time")
	}
	if f := g.known(planned("b03-002", "connections=1")); f != nil {
		t.Errorf("a trial of other levels fails with %v, want it tried", f)
	}
	for _, other := range []*record.Failure{
		{Kind: contract.Timeout, Text: "no mark within 10s", Worker: "server", State: "window"},
		{Kind: contract.Peer, Text: "connection refused", Worker: "client-1", State: "idle"},
	} {
		g := givenUp{}
		g.learn(planned("b01-001"), other)
		g.learn(planned("b02-001"), other)
		if f := g.known(planned("b03-001")); f != nil {
			t.Errorf("after %v a trial fails with %v, want it tried", other, f)
		}
	}
}

func TestASetupThatFailsTheSameWayTwiceIsNotTriedAgain(t *testing.T) {
	failed := func(text string) *record.Failure {
		return &record.Failure{Kind: contract.SetupFailed, Text: text, Worker: "server", State: "idle"}
	}
	g := givenUp{}
	g.learn(planned("b01-001", "connections=1"), failed("read cert.pem: no such file"))
	g.learn(planned("b02-001", "connections=1"), failed("read cert.pem: no such file"))
	if g.known(planned("b03-001", "connections=1")) == nil {
		t.Error("a trial whose set-up failed the same way twice is tried again")
	}
	if f := g.known(planned("b03-002", "connections=50")); f != nil {
		t.Errorf("a trial of other levels fails with %v, want it tried", f)
	}
	g = givenUp{}
	g.learn(planned("b01-001", "connections=1"), failed("read cert.pem: no such file"))
	g.learn(planned("b02-001", "connections=1"), failed("listen: address in use"))
	if f := g.known(planned("b03-001", "connections=1")); f != nil {
		t.Errorf("after two different failures a trial fails with %v, want it tried", f)
	}
}
