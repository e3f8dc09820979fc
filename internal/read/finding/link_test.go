package finding_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/link"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// linked runs arms over a link of 8 Mbit/s of which each carries a share, by arm and
// connections, and asks what fills it.
func linked(t *testing.T, o synthetic.Options, share func(arm, connections string) float64, change func(*record.Header)) *link.Link {
	t.Helper()
	o.Bare, o.Blocks, o.Primary = true, 8, []string{serverCPU}
	h, trials, records := synthetic.Run(o)
	for i := range records {
		trials[i].Levels["link.rate"] = "8Mbit/s"
		records[i].Trial.Levels = trials[i].Levels
		own := share(trials[i].Arm, trials[i].Levels["connections"])
		for j := range records[i].Workers {
			carry(&records[i].Workers[j], own)
		}
	}
	h.Facts.Rig = "netns:2"
	h.Study.Fills = &record.LinkQuestion{TCP: []string{"plain", "sendfile"}, Share: 0.95}
	if change != nil {
		change(&h)
	}
	return find(t, h, trials, records).Link
}

// carry has a worker's interface send a share of 8 Mbit/s.
func carry(w *record.Worker, share float64) {
	length := w.Close.Meter.AtNs - w.Open.Meter.AtNs
	for i, edge := range []*record.Edge{w.Open, w.Close} {
		sent := int64(float64(i) * share * 1e6 * float64(length) / 1e9)
		edge.Meter.Interfaces.Delete("lo")
		edge.Meter.Interfaces.Set("eth0", contract.Interface{SentBytes: sent, SentPackets: sent / 1514})
	}
}

func linkArms() synthetic.Options {
	return synthetic.Options{Connections: []int{1, 4}, SD: 0.002, Arms: []synthetic.Arm{
		{Name: "plain", Server: "x", Cost: 1}, {Name: "sendfile", Server: "x", Cost: 0.5, Levels: map[string]string{"opt.client.send": "sendfile"}}, {Name: "mpi", Cost: 3},
	}}
}

// answerTo is the answer to the question that begins so.
func answerTo(t *testing.T, l *link.Link, question string) string {
	t.Helper()
	for _, a := range l.Answers {
		if strings.HasPrefix(a.Question, question) {
			return a.Sentence
		}
	}
	t.Fatalf("no question begins with %q: %+v", question, l.Answers)
	return ""
}

func TestALinkIsFilledByTheCheapestThatFillsIt(t *testing.T) {
	l := linked(t, linkArms(), func(arm, connections string) float64 {
		switch {
		case arm == "mpi":
			return 0.6
		case connections == "1" && arm == "sendfile":
			return 0.9
		}
		return 0.99
	}, func(h *record.Header) {
		h.Study.Pays = []record.Pays{{Title: "MPI", Arms: []string{"mpi"}, InsteadOf: []string{"plain", "sendfile"}}}
	})
	for question, want := range map[string]string{
		"Can TCP":   "TCP fills this link with 4 streams and ",
		"How many":  "To fill the link plain needs 1 stream; sendfile needs 4 streams; it is not filled by mpi (60.0 %).",
		"Is MPI":    "MPI is not needed to fill it: TCP does, and mpi brings 60.0 %. MPI does not pay by its CPU: it takes ",
		"How is a ": "A TCP program is tuned by opt.client.send=sendfile of plain (",
	} {
		if got := answerTo(t, l, question); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s…", question, got, want)
		}
	}
	if got := answerTo(t, l, "Can TCP"); !strings.Contains(got, "by sendfile: 99.0 % (") || !strings.HasSuffix(got, ") of 8\u00a0Mbit/s, headers counted.") {
		t.Error(got)
	}
	for _, x := range l.Settings {
		if math.Abs(x.Client.Value+x.Server.Value-x.Cores.Value) > 1e-3*x.Cores.Value || x.Share.Low > x.Share.Value || x.Share.High < x.Share.Value {
			t.Errorf("%s at %s: %+v", x.Arm, x.Cell, x)
		}
	}
}

func TestALinkThatTCPDoesNotFill(t *testing.T) {
	of := func(shareOfTCP, ofMPI float64) *link.Link {
		return linked(t, linkArms(), func(arm, _ string) float64 {
			if arm == "mpi" {
				return ofMPI
			}
			return shareOfTCP
		}, func(h *record.Header) {
			h.Study.Pays = []record.Pays{{Title: "MPI", Arms: []string{"mpi"}, InsteadOf: []string{"plain", "sendfile"}}}
		})
	}
	l := of(0.7, 0.99)
	if got := answerTo(t, l, "Can TCP"); !strings.HasPrefix(got, "TCP does not fill this link: the most is 70.0 % (") {
		t.Error(got)
	}
	if got := answerTo(t, l, "Is MPI"); !strings.HasPrefix(got, "MPI is needed to fill it: mpi does with 1 stream, and TCP does not. ") {
		t.Error(got)
	}
	// Trials on both sides of the bound leave it open.
	random := rand.New(rand.NewPCG(1, 1))
	l = linked(t, linkArms(), func(string, string) float64 { return 0.95 * math.Exp(0.02*random.NormFloat64()) }, nil)
	if got := answerTo(t, l, "Can TCP"); !strings.HasPrefix(got, "Whether TCP fills this link is open: the most is 9") {
		t.Error(got)
	}
}

// On loopback nothing is a link: the answer names the commands that ask a real one.
func TestLoopbackIsNoLink(t *testing.T) {
	h, trials, records := synthetic.Run(linkArms())
	h.Study.Fills = &record.LinkQuestion{TCP: []string{"plain", "sendfile"}, Share: 0.95}
	f := find(t, h, trials, records)
	if got := answerTo(t, f.Link, "Can TCP"); !strings.HasPrefix(got, "There is no link to fill: on loopback ") || !strings.Contains(got, "--rig ssh:HOST,HOST") {
		t.Error(got)
	}
	if len(f.Link.Part().Sections) != 1 || len(f.Link.Headline().Answers) != len(f.Link.Answers)-1 {
		t.Errorf("%+v", f.Link.Part())
	}
	h.Study.Fills = nil
	if f := find(t, h, trials, records); f.Link != nil || len(f.Link.Part().Sections) > 0 || len(f.Link.Headline().Sentences) > 0 {
		t.Error("a study that does not ask has answers")
	}
}
