package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/reach"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

const rate = "exchanges_per_s"

// reachOf runs a closed loop whose rate is a share of the machine's best, by
// arm and connections, through Find with one reach.
func reachOf(t *testing.T, shares map[string]map[string]float64, spec record.Reach) reach.Reach {
	t.Helper()
	o := synthetic.Options{Bare: true, Connections: []int{1, 4, 16}, SD: 0.002, BlockSD: 0.3, Blocks: 8, Primary: []string{rate}}
	for _, name := range []string{"go-net", "uring", "asio"} {
		o.Arms = append(o.Arms, synthetic.Arm{Name: name})
	}
	h, trials, records := synthetic.Run(o)
	for i := range records {
		share, known := shares[records[i].Trial.Arm][records[i].Trial.Levels["connections"]]
		if !known {
			continue
		}
		for j := range records[i].Workers {
			scale(&records[i].Workers[j], share)
		}
	}
	h.Study.Reaches = []record.Reach{spec}
	f := find(t, h, trials, records)
	if len(f.Reaches) != 1 {
		t.Fatalf("%d reaches, want 1", len(f.Reaches))
	}
	return f.Reaches[0]
}

// scale makes a worker of a synthetic trial do a share of its work.
func scale(w *record.Worker, share float64) {
	part := func(n *int64) { *n = int64(float64(*n) * share) }
	for _, edge := range []*record.Edge{w.Open, w.Close} {
		if edge != nil {
			c := &edge.Reading.Counts
			part(&c.Exchanges)
			part(&c.SentBytes)
			part(&c.ReceivedBytes)
		}
	}
	if w.Result != nil {
		c := &w.Result.Counts
		part(&c.Exchanges)
		c.SentBytes, c.ReceivedBytes = c.Exchanges*w.Setup.Exchange.UpBytes, c.Exchanges*w.Setup.Exchange.DownBytes
	}
}

// Blocks drift by 30 %, arms differ by a few percent: shares are taken within
// blocks, so that the least is found all the same.
func TestReachFindsTheLeast(t *testing.T) {
	s := reachOf(t, map[string]map[string]float64{
		"go-net": {"1": 0.5, "4": 0.97, "16": 0.99},
		"uring":  {"1": 0.96, "4": 1, "16": 0.98},
		"asio":   {"1": 0.5, "4": 0.8, "16": 0.9},
	}, record.Reach{Metric: rate, Share: 0.95, Least: []string{"connections"}})
	if s.Reason != "" {
		t.Fatal(s.Reason)
	}
	if s.BestOf != "uring" || s.Best.Levels[0].Text != "4" || s.Best.Share != 1 {
		t.Errorf("the best is %s at %+v, want uring at 4 connections", s.BestOf, s.Best)
	}
	want := map[string]string{"go-net": "4", "uring": "1", "asio": ""}
	for _, r := range s.Reached {
		got := ""
		for _, candidate := range r.Least {
			got += candidate.Levels[0].Text
		}
		if got != want[r.Arm] {
			t.Errorf("%s needs %q connections, want %q", r.Arm, got, want[r.Arm])
		}
	}
	for _, words := range []string{"of uring with connections=4", "go-net reaches 95.0 % of it with connections=4", "Even at their best these stay below: asio (90"} {
		if !strings.Contains(s.Sentence, words) {
			t.Errorf("the sentence lacks %q: %s", words, s.Sentence)
		}
	}
}

// The best is not held against itself: of its arm only what needs less is said.
func TestReachSaysNothingOfTheBestItself(t *testing.T) {
	s := reachOf(t, map[string]map[string]float64{
		"go-net": {"1": 0.5, "4": 0.97, "16": 0.99},
		"uring":  {"1": 0.8, "4": 1, "16": 0.98},
		"asio":   {"1": 0.5, "4": 0.8, "16": 0.9},
	}, record.Reach{Metric: rate, Share: 0.95, Least: []string{"connections"}})
	if strings.Contains(s.Sentence, "uring reaches") || strings.Contains(s.Sentence, "(100 %)") || !strings.Contains(s.Sentence, "go-net reaches 95.0 % of it") {
		t.Errorf("the sentence holds the best against itself: %s", s.Sentence)
	}
}

// One block has no interval, so nobody can be said to come to a share.
func TestReachNeedsTwoBlocks(t *testing.T) {
	o := synthetic.Options{Bare: true, Connections: []int{1, 4}, Blocks: 1, Primary: []string{rate}, Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "uring"}}}
	h, trials, records := synthetic.Run(o)
	h.Study.Reaches = []record.Reach{{Metric: rate, Share: 0.95, Least: []string{"connections"}}}
	if s := find(t, h, trials, records).Reaches[0]; !strings.Contains(s.Reason, "no arm has a valid value in 2 blocks") || s.Sentence != "" || len(s.Reached) > 0 {
		t.Errorf("of one block it is said: %+v", s)
	}
	o.Blocks = 3
	h, trials, records = synthetic.Run(o)
	h.Study.Reaches = []record.Reach{{Metric: rate, Share: 0.95, Least: []string{"connections"}}}
	for i := range records {
		if r := &records[i]; r.Trial.Arm == "uring" && r.Trial.Levels["connections"] == "4" && r.Trial.Block > 1 {
			r.Outcome, r.Failure = record.Failed, &record.Failure{Kind: contract.Peer, Text: "gone"}
		} else if r.Trial.Arm == "uring" && r.Trial.Levels["connections"] == "4" {
			for j := range r.Workers {
				scale(&r.Workers[j], 0.9)
			}
		}
	}
	s := find(t, h, trials, records).Reaches[0]
	if !strings.Contains(s.Sentence, "Left out, because fewer than 2 blocks have both them and the best: uring with connections=4.") {
		t.Errorf("a candidate of one block is a candidate: %+v", s)
	}
}

func TestReachSaysWhyNot(t *testing.T) {
	for want, spec := range map[string]record.Reach{
		"no valid trial at connections=7": {Metric: rate, Share: 0.95, Least: []string{"connections"}, Where: map[string]string{"connections": "7"}},
		`no factor "thread"`:              {Metric: rate, Share: 0.95, Least: []string{"thread"}},
		"is no number":                    {Metric: rate, Share: 0.95, Least: []string{"server"}},
		`metric "rate"`:                   {Metric: "rate", Share: 0.95, Least: []string{"connections"}},
	} {
		if s := reachOf(t, nil, spec); !strings.Contains(s.Reason, want) || s.Sentence != "" || len(s.Reached) > 0 {
			t.Errorf("%+v: %+v, want a reason with %q", spec, s, want)
		}
	}
}
