package report

import (
	"bytes"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// lostRun is a run in which some trials of an arm ended as given.
func lostRun(t *testing.T, change func(*record.Record)) (page Page, screen, whole, markdown string) {
	t.Helper()
	h, trials, records := synthetic.Run(synthetic.Options{
		Connections: []int{10, 300}, Blocks: 6, Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "threads", Cost: 0.6}},
	})
	for i := range records {
		if r := &records[i]; r.Trial.Arm == "threads" && r.Trial.Levels["connections"] == "300" {
			change(r)
		}
	}
	f, err := finding.Find(h, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	page = New(f)
	var a, b, c bytes.Buffer
	for _, err := range []error{NewScreen(f).Text(&a, TextOptions{Width: 80}), page.Text(&b, TextOptions{Width: 120}), page.Markdown(&c)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return page, a.String(), b.String(), c.String()
}

// A cell in which an arm cannot run is unsupported, and nothing there is invalid or
// went wrong.
func TestAnUnsupportedCellIsNotCalledInvalid(t *testing.T) {
	_, screen, whole, markdown := lostRun(t, func(r *record.Record) {
		*r = record.Record{Trial: r.Trial, StartedAt: r.StartedAt, Outcome: record.Unsupported, Failure: &record.Failure{
			Kind: contract.Unsupported, Worker: "server", State: "idle", Text: "load.connections is 300; transport threads takes at most 256",
		}}
	})
	for name, text := range map[string]string{"screen": screen, "report": whole, "Markdown": markdown} {
		text = strings.ReplaceAll(text, marks, "")
		for _, wrong := range []string{"invalid", "×\n", "went wrong", "valid value"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%s says %q:\n%s", name, wrong, text)
			}
		}
		if !strings.Contains(text, "unsupported") {
			t.Errorf("%s does not say unsupported:\n%s", name, text)
		}
	}
	if want := "load.connections is 300; transport threads takes at most 256"; !strings.Contains(markdown, want) {
		t.Errorf("the report does not say %q", want)
	}
}

// The section's title says no more than what happened.
func TestTheTitleOfWhatWentWrong(t *testing.T) {
	for want, change := range map[string]func(*record.Record){
		"": func(*record.Record) {},
		"What went wrong": func(r *record.Record) {
			r.Outcome, r.Failure = record.Failed, &record.Failure{Kind: contract.Peer, Text: "gone"}
		},
	} {
		page, _, _, _ := lostRun(t, change)
		got := ""
		for _, s := range page.Evidence {
			if s.ID == "failures" {
				got = s.Title
			}
		}
		if got != want {
			t.Errorf("title %q, want %q", got, want)
		}
	}
}
