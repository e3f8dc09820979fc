package workertest

import (
	"maps"
	"net/http"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// Held is how long HoldReplies holds each of the two parts of a reply, and HeldBytes how long
// its body is.
const (
	Held      = 20 * time.Millisecond
	HeldBytes = 1000
)

// HoldReplies answers each request with a head and the begin of a body after Held, and with
// the rest after as long again.
func HoldReplies(w http.ResponseWriter, _ *http.Request) {
	time.Sleep(Held)
	_, _ = w.Write(make([]byte, 1)) // the client says what fails
	_ = http.NewResponseController(w).Flush()
	time.Sleep(Held)
	_, _ = w.Write(make([]byte, HeldBytes-1))
}

// StagesOf demands that a client tells how long the stages of its exchanges took. setup names
// it, a server that holds its replies (HoldReplies), and how the server is trusted; tcp says that
// the client connects before it encrypts.
func StagesOf(t *testing.T, setup contract.Setup, tcp bool, drive func(*testing.T, contract.Setup) contract.Result) {
	t.Helper()
	const amount = 4
	setup.Role, setup.Stages, setup.Exchange = contract.Client, true, Blocks(0, HeldBytes)
	options := map[string]any{"verify": "length"}
	maps.Copy(options, setup.Options)
	setup.Options = options
	transport, secret := setup.Transport, setup.TLS
	run := func(fresh, resume bool) contract.Result {
		setup.Load = contract.Load{Connections: 1, Amount: amount, Fresh: fresh}
		if secret != nil {
			setup.TLS = &contract.TLS{Authorities: secret.Authorities, Resume: resume}
		}
		r := drive(t, setup)
		if r.Stages == nil || r.Counts.Exchanges != amount {
			t.Fatalf("stages %+v, counts %+v, %+v", r.Stages, r.Counts, r.Reasons)
		}
		return r
	}
	for _, fresh := range []bool{false, true} {
		r := run(fresh, false)
		first, whole := histogram(t, r.Stages.FirstByte, amount), histogram(t, r.Service, amount)
		const precision = 0.01 // of histograms
		if first.MeanNs() < (1-precision)*float64(Held) || first.MeanNs() >= whole.MeanNs() || whole.MeanNs() < 2*(1-precision)*float64(Held) {
			t.Errorf("%s, fresh %t: the first byte comes after %.0f ns and the last one after %.0f; want %v and twice that, or more", transport, fresh, first.MeanNs(), whole.MeanNs(), Held)
		}
		for _, stage := range []struct {
			name, text string
			is         bool
		}{{"connect", r.Stages.Connect, fresh && tcp}, {"handshake", r.Stages.Handshake, fresh && secret != nil}} {
			if !stage.is && stage.text != "" {
				t.Errorf("%s, fresh %t: it tells times of stage %s, which is none of its", transport, fresh, stage.name)
			} else if stage.is {
				histogram(t, stage.text, amount)
			}
		}
		if r.Stages.Resumed != 0 {
			t.Errorf("%s, fresh %t: %d handshakes resumed a session, want none", transport, fresh, r.Stages.Resumed)
		}
	}
	if secret == nil {
		return
	}
	if r := run(true, true); r.Stages.Resumed == 0 {
		t.Errorf("%s: no handshake resumed a session", transport)
	}
}

// histogram decodes times, of which there are to be so many.
func histogram(t *testing.T, text string, count int64) *hist.Histogram {
	t.Helper()
	h, err := hist.Decode(text)
	if err != nil || h.Count() != count {
		t.Fatalf("times %v, %v; want %d", h, err, count)
	}
	return h
}
