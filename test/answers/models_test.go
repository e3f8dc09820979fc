package answers_test

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// model is a run whose answer was written by hand before there was code that gives it.
type model struct {
	options synthetic.Options
	second  *synthetic.Options // with another truth in cells of its own
	change  func(r *record.Record)
	study   func(s *record.Study)
}

var (
	spread  = []synthetic.Arm{{Name: "pooled"}, {Name: "unary", Speed: 0.34, Cost: 2.9}, {Name: "tuned", Speed: 0.52, Cost: 1.9}, {Name: "readall", Speed: 0.44, Cost: 3}}
	traded  = []synthetic.Arm{{Name: "tcp"}, {Name: "uring", Speed: 1.3, Cost: 1.2}, {Name: "epoll", Cost: 0.7}}
	alike   = []synthetic.Arm{{Name: "tcp"}, {Name: "uring"}, {Name: "epoll"}}
	few     = []int{50}
	labels  = map[string]string{"pooled": "HTTP/1.1, pooled buffer", "readall": "HTTP/1.1, read whole", "unary": "gRPC, unary", "tuned": "gRPC, tuned", "tcp": "plain TCP", "uring": "io_uring", "epoll": "raw epoll"}
	rateCPU = []string{"exchanges_per_s", "server.cpu_us_per_exchange"}
)

// end makes one of a record's workers use one core for all of the window.
func end(r *record.Record, worker int) {
	from, to := r.Workers[worker].Open.Meter, r.Workers[worker].Close.Meter
	to.Threads[0].CPUNs = from.Threads[0].CPUNs + (to.AtNs - from.AtNs)
}

// overLink moves a record's bytes from the loopback to a card, and makes them a stream.
func overLink(r *record.Record) {
	for j := range r.Workers {
		w := &r.Workers[j]
		for _, edge := range []*record.Edge{w.Open, w.Close} {
			moved, _ := edge.Meter.Interfaces.Of("lo")
			edge.Meter.Interfaces.Set("eth0", moved)
			edge.Meter.Interfaces.Delete("lo")
		}
		w.Setup.Exchange.Stream = contract.StreamDown
	}
}

var models = map[string]model{
	"winner":        {options: synthetic.Options{Arms: spread, Connections: few, SD: 0.01, Primary: rateCPU}},
	"trade":         {options: synthetic.Options{Arms: traded, Connections: few, SD: 0.01, Primary: rateCPU}},
	"no-difference": {options: synthetic.Options{Arms: alike, Connections: few, SD: 0.003, Blocks: 10, Primary: rateCPU}},
	"undecided":     {options: synthetic.Options{Arms: append(alike[:3:3], synthetic.Arm{Name: "unary", Speed: 0.5, Cost: 2}), Connections: few, SD: 0.08, Primary: rateCPU}},
	"crossing": {
		options: synthetic.Options{Arms: []synthetic.Arm{{Name: "tcp", Cost: 0.8}, {Name: "uring"}}, Connections: []int{50}, SD: 0.01, Primary: rateCPU[1:]},
		second:  &synthetic.Options{Arms: []synthetic.Arm{{Name: "tcp", Cost: 1.3}, {Name: "uring"}}, Connections: []int{1000}, SD: 0.01, Primary: rateCPU[1:], Seed: 1},
	},
	"generator-limited": {
		options: synthetic.Options{Arms: traded, Connections: few, SD: 0.01, Primary: rateCPU[:1]},
		change: func(r *record.Record) {
			if r.Trial.Arm == "uring" {
				end(r, 1)
			}
		},
	},
	"link-limited": {
		options: synthetic.Options{Arms: []synthetic.Arm{{Name: "tcp"}, {Name: "uring", Cost: 0.6}}, Connections: few, SD: 0.002, BlockSD: 0.001, Primary: []string{"goodput_bytes_per_s", "server.cpu_us_per_exchange"}},
		change:  overLink,
		study:   func(s *record.Study) { s.Compare.Margin = 0.02 },
	},
	"all-overloaded": {
		options: synthetic.Options{Arms: alike, Connections: few, SD: 0.01, Rate: 20_000, Primary: []string{"server.cpu_us_per_exchange", "response_p99_us"}},
		change:  func(r *record.Record) { offered(r, 30_000) },
		study:   func(s *record.Study) { s.Hold["rate"] = "30000" },
	},
	"arm-absent": {
		options: synthetic.Options{Arms: spread, Connections: few, SD: 0.01, Primary: rateCPU},
		change: func(r *record.Record) {
			if r.Trial.Arm == "tuned" {
				*r = record.Record{Schema: r.Schema, Trial: r.Trial, StartedAt: r.StartedAt, Outcome: record.Unsupported, Failure: &record.Failure{Kind: contract.Unsupported, Text: "no such worker"}}
			}
		},
	},
	"arm-refused": {
		options: synthetic.Options{Arms: spread, Connections: few, SD: 0.01, Primary: rateCPU},
		change: func(r *record.Record) {
			if r.Trial.Arm == "tuned" && r.Trial.Block > 1 {
				*r = record.Record{Schema: r.Schema, Trial: r.Trial, StartedAt: r.StartedAt, Outcome: record.Failed, Failure: &record.Failure{Kind: contract.Peer, Text: "connection refused"}}
			}
		},
	},
	"two-blocks": {options: synthetic.Options{Arms: spread, Connections: few, SD: 0.01, Blocks: 2, Primary: rateCPU}},
}

// offered has a record's clients asked for more than they did.
func offered(r *record.Record, rate float64) {
	for j := range r.Workers {
		if w := &r.Workers[j]; w.Setup != nil {
			w.Setup.Load.Rate = rate
		}
	}
	r.Trial.Levels["rate"] = "30000"
}

// run makes the records of a model.
func (m model) run() (record.Header, []record.Trial, []record.Record) {
	header, trials, records := synthetic.Run(m.options)
	if m.second != nil {
		other, more, moreRecords := synthetic.Run(*m.second)
		for i := range more {
			more[i].ID = "x" + more[i].ID
			more[i].Order += len(trials)
			moreRecords[i].Trial = more[i]
		}
		trials, records = append(trials, more...), append(records, moreRecords...)
		header.Study.Vary[1].Levels = append(header.Study.Vary[1].Levels, other.Study.Vary[1].Levels...)
	}
	if m.change != nil {
		for i := range records {
			m.change(&records[i])
		}
	}
	if m.study != nil {
		m.study(&header.Study)
	}
	header.Study.Labels.Levels = map[string]map[string]string{"arm": labels}
	header.Study.Charts = []record.Chart{{Title: "by connections", Kind: record.Lines, Metric: header.Study.Compare.Primary[0], X: "connections", By: "arm"}}
	return header, trials, records
}

func TestModelAnswers(t *testing.T) {
	for name, m := range models {
		t.Run(name, func(t *testing.T) {
			header, trials, records := m.run()
			f, err := finding.Find(header, trials, records)
			if err != nil {
				t.Fatal(err)
			}
			matches(t, "models/"+name, screenOf(t, f))
		})
	}
}
