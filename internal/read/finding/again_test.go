package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// Attempts in vain are told once, by trials, with what disturbed most of them; what they sent
// counts, and none of their figures does.
func TestTrialsThatWereMadeAgain(t *testing.T) {
	attempt := func(trial, why string) record.Attempt {
		return record.Attempt{Trial: trial, Disturbance: record.Disturbance{Why: why, ForNs: 40e6}, Sent: &contract.Sent{Window: 5}}
	}
	const client, server = "client-1 and its meter did not run", "server and its meter did not run"
	header, trials, records := synthetic.Run(synthetic.Options{})
	header.Asked = []record.Asked{{Probe: 1}}
	before := find(t, header, trials, records)
	for want, attempts := range map[string][]record.Attempt{
		"": nil,
		"1 trial was disturbed and made again; because " + client:          {attempt("b01-001", client), attempt("b01-001", client)},
		"3 trials were disturbed and made again; mostly because " + server: {attempt("b01-001", client), attempt("b01-002", server), attempt("b02-001", server)},
	} {
		header.Again = attempts
		f := find(t, header, trials, records)
		got := ""
		if at := slices.IndexFunc(f.Warnings, func(w record.Warning) bool { return w.About == "again" }); at >= 0 {
			got = f.Warnings[at].Text + "; " + strings.TrimSuffix(f.Warnings[at].Advice, "; netdyno explain again says when that is done")
		}
		if got != want {
			t.Errorf("warning %q, want %q", got, want)
		}
		if f.Tally != before.Tally || f.Sent.Window-before.Sent.Window != int64(5*len(attempts)) {
			t.Errorf("with %d attempts the tally is %+v, was %+v; %d requests measured, were %d", len(attempts), f.Tally, before.Tally, f.Sent.Window, before.Sent.Window)
		}
	}
}
