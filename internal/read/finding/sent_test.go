package finding

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Of a run by URL all requests count, those of trials without a record or an account too
// as far as they are known.
func TestWhatARunSent(t *testing.T) {
	client := func(sent *contract.Sent) *trial.Judged {
		return &trial.Judged{Record: &record.Record{Workers: []record.Worker{
			{Role: contract.Client, Setup: &contract.Setup{}, Result: &contract.Result{Sent: sent}},
		}}}
	}
	asked := record.Header{Asked: []record.Asked{{Arm: "a", Probe: 3, Client: 2}, {Arm: "b", Probe: 4}}}
	all := &contract.Sent{Verify: 2, Before: 10, Window: 20, Drain: 1, Again: 3}
	for _, c := range []struct {
		name   string
		header record.Header
		trials []*trial.Judged
		want   string
	}{
		{"not by URL", record.Header{}, []*trial.Judged{client(all)}, ""},
		{"two trials, and one to come", asked, []*trial.Judged{client(all), client(all), {}}, "sent 81 requests: 9 beforehand, 4 to verify, 20 warming up, 40 measured, 2 after the window, 6 again"},
		{"the first requests alone", record.Header{Asked: []record.Asked{{Probe: 1}}}, nil, "sent 1 request: 1 beforehand"},
		{"a client that could not ask", record.Header{Asked: []record.Asked{{Probe: 6, Untold: true}}}, []*trial.Judged{client(all)}, "sent 42 requests: 6 beforehand, 2 to verify, 10 warming up, 20 measured, 1 after the window, 3 again; 1 trial did not tell"},
		{"a client that does not tell", asked, []*trial.Judged{client(nil)}, "sent 9 requests: 9 beforehand; 1 trial did not tell"},
	} {
		got := ""
		if s := sentBy(c.header, c.trials); s != nil {
			got = s.Words()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
