package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/printable"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/summary"
	"netdyno/internal/run/session"
	"netdyno/test/synthetic"
)

func TestBareJSON(t *testing.T) {
	const url = "http://127.0.0.1:8080/"
	for _, c := range []struct {
		typed string
		bare  int // place of the --json that asks for the result; -1 for none
	}{
		{"run " + url + " --json", 2},
		{"run --json " + url, 1},
		{"run " + url + " --json -c 50", 2},
		{"run " + url + " --json connections=1,50", 2},
		{"run --json localhost:8080/x", 1},
		{"curl " + url + " --json", 2},
		{"curl --json {\"a\":1} " + url, -1},
		{"run " + url + " --json @order.json", -1},
		{"run " + url + " --json @-", -1},
		{"run " + url + " --json -1.5", -1},
		{"run " + url + " --json [] --json", 4},
		{"run " + url + " --json={}", -1},
		{"run " + url + " -- --json", -1},
		{"transports --json", -1},
		{"capacity " + url + " --json", -1},
	} {
		args := strings.Fields(c.typed)
		want := slices.Clone(args)
		if c.bare >= 0 {
			want[c.bare] = "--" + jsonFlag
		}
		if got := bareJSON(args); !slices.Equal(got, want) {
			t.Errorf("%s: %q", c.typed, got)
		}
	}
}

// The result is one document, however little was measured, and decodes into what is
// documented.
func TestResultAsJSON(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "127.0.0.1:8080"}}, Connections: []int{1, 10}, Blocks: 5, SD: 0.03, Seed: 1, Primary: []string{"exchanges_per_s"}})
	for i := range records {
		for w := range records[i].Workers {
			if records[i].Workers[w].Role == "server" {
				records[i].Workers[w].Ready.Foreign = true
			}
		}
	}
	for _, n := range []int{0, 1, len(records)} {
		found, err := finding.Find(header, trials, records[:n])
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		to := silent()
		to.Writer = printable.NewWriter(&out)
		if err := (resultFlags{asJSON: true, to: to}).show("results/x", found); err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(&out)
		d.DisallowUnknownFields()
		var got summary.Summary
		if err := d.Decode(&got); err != nil || d.More() {
			t.Fatalf("%d records: %v", n, err)
		}
		if got.Schema != summary.Schema || got.Answer.Sentence == "" || got.Report != session.Directory("results/x").HTML() || got.Totals.Planned != len(trials) {
			t.Errorf("%d records: %+v", n, got)
		}
		if n < len(records) {
			continue
		}
		load := got.Loads[1]
		if len(got.Loads) != 2 || load.Connections != "10" || load.Requests == 0 || load.Rate.Within <= 0 || load.Percentile("p99.9") == nil || load.MaxUs <= load.Percentile("p99.9").Value || len(load.Histogram) == 0 {
			t.Errorf("%+v", load)
		}
		if got.Totals.Requests != got.Loads[0].Requests+load.Requests {
			t.Errorf("%d requests in all", got.Totals.Requests)
		}
	}
}

func TestQuietPrintsTheAnswer(t *testing.T) {
	var out bytes.Buffer
	to := silent()
	to.Writer = printable.NewWriter(&out)
	found := finding.Findings{}
	found.Answer.Sentence = "It answers. One round gives no interval."
	if err := (resultFlags{quiet: true, to: to}).show("results/x", found); err != nil || out.String() != "It answers. One round gives no interval.\n" {
		t.Errorf("%v: %q", err, out.String())
	}
}

func TestResultFlagsContradict(t *testing.T) {
	for _, f := range []struct {
		resultFlags
		dry  bool
		want string
	}{
		{resultFlags{asJSON: true, quiet: true}, false, "expected one of them"},
		{resultFlags{asJSON: true}, true, "--dry-run measures nothing"},
		{resultFlags{quiet: true}, true, "--dry-run measures nothing"},
	} {
		before := stdout
		if err := f.divert(f.dry); err == nil || !strings.Contains(err.Error(), f.want) || stdout != before {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
