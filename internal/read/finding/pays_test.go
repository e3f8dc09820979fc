package finding_test

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/pays"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// weighed runs arms of different cost through Find with one replacement: tcp and
// tuned are there, rdma would be bought.
func weighed(t *testing.T, cost float64, change func(trials []record.Trial, records []record.Record)) pays.Pays {
	t.Helper()
	return weighedAt(t, 0, cost, change)
}

// weighedAt asks for the cores of a speed in bits per second.
func weighedAt(t *testing.T, at int64, cost float64, change func(trials []record.Trial, records []record.Record)) pays.Pays {
	t.Helper()
	o := synthetic.Options{
		Bare: true, Connections: []int{50}, SD: 0.005, BlockSD: 0.2, Blocks: 8, Primary: []string{rate},
		Arms: []synthetic.Arm{{Name: "tcp", Cost: 1}, {Name: "tuned", Cost: 0.8}, {Name: "rdma", Cost: cost}},
	}
	h, trials, records := synthetic.Run(o)
	h.Study.Pays = []record.Pays{{Title: "RDMA", Arms: []string{"rdma"}, InsteadOf: []string{"tcp", "tuned"}, At: at}}
	change(trials, records)
	f := find(t, h, trials, records)
	if len(f.Pays) != 1 {
		t.Fatalf("%d replacements, want 1", len(f.Pays))
	}
	return f.Pays[0]
}

// What is saved is the difference of the two figures beside it, times the speed.
func TestAReplacementIsWorthTheCoresThatItSaves(t *testing.T) {
	p := weighed(t, 0.2, func([]record.Trial, []record.Record) {})
	if len(p.Cells) != 1 {
		t.Fatalf("%d cells, want 1: %s", len(p.Cells), p.Reason)
	}
	w := p.Cells[0]
	want := (w.Base.CPU.Value - w.Arm.CPU.Value) * w.Speed / 1e9
	if w.Base.Arm != "tuned" || w.Nominal || math.Abs(w.Cores.Point-want) > 1e-9*want || want <= 0 {
		t.Errorf("%s, %+v cores at %g bytes/s; want %g cores saved against tuned", w.Base.Arm, w.Cores, w.Speed, want)
	}
	if w.Cores.Low <= 0 || w.Cores.Low > want || w.Cores.High < want {
		t.Errorf("the interval of %g cores is %+v", want, w.Cores)
	}
	if !strings.HasPrefix(p.Sentence, "RDMA pays on this link if it costs less than ") || !strings.Contains(p.Sentence, "that went over it") {
		t.Error(p.Sentence)
	}
}

// Where the study sets the link's rate, the cores are those of a full link.
func TestAReplacementIsWeighedAtTheLinksRate(t *testing.T) {
	p := weighed(t, 0.2, func(trials []record.Trial, _ []record.Record) {
		for i := range trials {
			trials[i].Levels["link.rate"] = "100Gbit"
		}
	})
	if len(p.Cells) != 1 || !p.Cells[0].Nominal || p.Cells[0].Speed != 12.5e9 || !strings.Contains(p.Sentence, "at the link's 12.5 GB/s") {
		t.Errorf("%+v: %s", p.Cells, p.Sentence)
	}
}

// Where the study says of what speed the cores are, they are of that, whatever the link has.
func TestAReplacementIsWeighedAtASpeedThatIsAsked(t *testing.T) {
	p := weighedAt(t, 100e9, 0.2, func(trials []record.Trial, _ []record.Record) {
		for i := range trials {
			trials[i].Levels["link.rate"] = "10Gbit"
		}
	})
	if len(p.Cells) != 1 || p.Cells[0].Nominal || p.Cells[0].Speed != 12.5e9 {
		t.Fatalf("%+v", p.Cells)
	}
	if !strings.HasPrefix(p.Sentence, "RDMA pays if it costs less than ") || !strings.Contains(p.Sentence, "which it saves at 100Gbit/s, 50 connections: ") {
		t.Error(p.Sentence)
	}
}

func TestAReplacementThatSavesNothing(t *testing.T) {
	for cost, want := range map[float64]string{0.8: "Whether RDMA saves CPU cannot be told from 8 blocks: ", 2: "RDMA does not pay by its CPU: it takes "} {
		if p := weighed(t, cost, func([]record.Trial, []record.Record) {}); !strings.HasPrefix(p.Sentence, want) {
			t.Errorf("cost %g: %s, want %s…", cost, p.Sentence, want)
		}
	}
}

// The reason of a trial that was refused is that of the answer.
func TestAReplacementThatCannotRun(t *testing.T) {
	p := weighed(t, 0.2, func(trials []record.Trial, records []record.Record) {
		for i, r := range records {
			if strings.Contains(trials[i].Arm, "rdma") {
				records[i] = record.Record{
					Schema: r.Schema, Trial: r.Trial, StartedAt: r.StartedAt, Outcome: record.Unsupported,
					Failure: &record.Failure{Kind: contract.Unsupported, Text: "no RDMA device on host local"},
				}
			}
		}
	})
	if p.Sentence != "Whether RDMA pays cannot be told here: rdma: no RDMA device on host local." {
		t.Error(p.Sentence)
	}
}
