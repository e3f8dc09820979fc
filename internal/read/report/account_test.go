package report

import (
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// troubled are the findings of a small run in which one trial's counts contradict each
// other, one failed, and a worker said something hostile.
func troubled(t *testing.T) finding.Findings {
	t.Helper()
	header, trials, records := synthetic.Run(synthetic.Options{
		Rate: 20_000, SD: 0.02, Seed: 7, Blocks: 4,
		Arms: []synthetic.Arm{{Name: "go-net"}, {Name: hostileArm, Server: "go-epoll", Cost: 0.6}, {Name: "asio", Cost: 0.5}},
	})
	records[1].Workers[0].Stderr = hostile + "\nlast words"
	records[2].Workers[1].Result.Drained++
	records[3].Outcome, records[3].Failure = record.Failed, &record.Failure{Kind: contract.Peer, Text: hostile, Worker: "server", State: "window"}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// hostileArm has what HTML, a fragment and a list in it give a meaning to.
const hostileArm = `<img src=x onerror=fail()>,a/b&c=d%41+#"'`

func TestAccount(t *testing.T) {
	f := troubled(t)
	account := func(i int) Account {
		a, err := NewAccount(f, f.Trials[i].Plan.ID)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	good, contradicted, failed := account(1), account(2), account(3)
	if good.Status != trial.Valid || len(good.Checks) != len(trial.Checks()) || slices.ContainsFunc(good.Checks, func(c Checked) bool { return c.Found != "" }) {
		t.Errorf("a valid trial: %s, %+v", good.Status, good.Checks)
	}
	if good.Limit == "" || good.Proof == "" || good.Series == nil || len(good.Settings) == 0 || len(good.Figures) < 20 || good.Levels[0].Name != "arm" {
		t.Errorf("a valid trial lacks something: %+v", good)
	}
	if last := contradicted.Checks[len(contradicted.Checks)-1]; contradicted.Status != trial.StatusInvalid || last.Name != "times" ||
		last.Found != contradicted.Reason || !strings.Contains(last.Found, "service times were recorded") {
		t.Errorf("a trial that counted wrongly: %+v", contradicted.Checks)
	}
	if failed.Status != trial.StatusFailed || len(failed.Checks)+len(failed.Figures) > 0 || !strings.Contains(failed.Reason, "alert(1)") {
		t.Errorf("a failed trial: %+v", failed)
	}
	var kept record.Record
	if err := json.Unmarshal([]byte(good.Record), &kept); err != nil || !reflect.DeepEqual(kept.Workers[0].Stderr, hostile+"\nlast words") {
		t.Errorf("the record does not survive: %v, %q", err, kept.Workers[0].Stderr)
	}
	if _, err := NewAccount(f, good.ID+"0"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("an unknown trial: %v", err)
	}
}

// Whatever a worker says is shown and steers nothing.
func TestAccountsArePrintable(t *testing.T) {
	f := troubled(t)
	shown := 0
	for i := range f.Trials[:4] {
		a, err := NewAccount(f, f.Trials[i].Plan.ID)
		if err != nil {
			t.Fatal(err)
		}
		text := string(render(t, func(w io.Writer) error { return a.Text(w, TextOptions{}) }))
		packed, err := packJSON(a)
		if err != nil {
			t.Fatal(err)
		}
		var read Account
		if err := json.Unmarshal(unpacked(t, []byte(packed)), &read); err != nil || !reflect.DeepEqual(a, read) {
			t.Errorf("%s is not what was packed: %v", a.ID, err)
		}
		for _, form := range append([]string{text, read.Reason, read.Record}, saidBy(read.Stderr)...) {
			if strings.ContainsAny(form, "\x1b\u202e") {
				t.Errorf("%s: %q", a.ID, form)
			}
			shown += strings.Count(form, "alert(1)")
		}
		if !strings.Contains(text, a.ID) || len(a.Figures) > 0 && !strings.Contains(text, "server.cpu_us_per_exchange") {
			t.Errorf("the text lacks something: %s", text)
		}
	}
	if shown < 6 {
		t.Errorf("what the workers said is shown %d times", shown)
	}
}

func saidBy(all []Named) []string {
	list := make([]string, len(all))
	for i, n := range all {
		list[i] = n.Text
	}
	return list
}

// Of a large run the page holds less, and says what prints the rest.
func TestPagesHoldAccountsWithinABound(t *testing.T) {
	small := New(troubled(t))
	if len(small.Accounts) != len(small.Trials.All) || small.Trials.Beyond != "" || small.Accounts[0].Record == "" {
		t.Errorf("a small run: %d accounts, %q", len(small.Accounts), small.Trials.Beyond)
	}
	large := New(manyTrials(t))
	if large.Accounts != nil || !strings.Contains(large.Trials.Beyond, "300 trials") || large.Trials.Command != "netdyno report DIR --trial" {
		t.Errorf("a large run: %d accounts, %q", len(large.Accounts), large.Trials.Beyond)
	}
	if said := beyond(2, []Account{{ID: "b01-001"}}); !strings.Contains(said, "records.jsonl") {
		t.Errorf("of records that are left out: %q", said)
	}
}

// manyTrials are the findings of a run of more trials than a page holds accounts of.
func manyTrials(t *testing.T) finding.Findings {
	t.Helper()
	return found(t, synthetic.Options{Bare: true, Blocks: 40, SD: 0.02, Seed: 7})
}

func TestWriteTroubled(t *testing.T) {
	if *out == "" {
		t.Skip("writes pages for test/browser, to the directory of -out")
	}
	writeSample(t, "troubled.html", New(troubled(t)).HTML)
	writeSample(t, "many.html", New(manyTrials(t)).HTML)
}
