package record

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"netdyno/internal/contract"
)

// An attempt is kept whole and is no record of its trial, whoever reads the file and however.
func TestAnAttemptIsNoRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), RecordsFile)
	f, err := Create(path, Header{CreatedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	by := Disturbance{Why: "client-1 and its meter did not run", ForNs: 40e6}
	disturbed := Record{Trial: Trial{ID: "a"}, Outcome: OK, Workers: []Worker{{
		Name: "client-1", Role: contract.Client, Setup: &contract.Setup{}, Result: &contract.Result{Sent: &contract.Sent{Window: 7}},
	}}}
	counts := disturbed
	counts.Turn = true // which tells them apart
	for _, write := range []func() error{
		func() error { return f.Again(by, disturbed) },
		func() error { return f.Append(Record{Trial: Trial{ID: "b"}, Outcome: OK}) },
		func() error { return f.Append(counts) },
		f.Close,
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Read(path)
	if err != nil || len(c.Problems) > 0 {
		t.Fatal(err, c.Problems)
	}
	if len(c.Records) != 2 || c.Records[0].Trial.ID != "b" || !c.Records[1].Turn {
		t.Errorf("records %+v, want those of b and of a's last attempt", c.Records)
	}
	if want := []Attempt{{"a", by, &contract.Sent{Window: 7}}}; !reflect.DeepEqual(c.Header.Again, want) {
		t.Errorf("attempts %+v, want %+v", c.Header.Again, want)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if outline, err := ReadOutline(bytes.NewReader(text)); err != nil || len(outline.Records) != 2 || len(outline.Problems) > 0 {
		t.Errorf("the outline has %d records, %v, %v", len(outline.Records), outline.Problems, err)
	}
	if one, err := ReadOne(bytes.NewReader(text), "a"); err != nil || !bytes.Contains(one, []byte(`"turn":true`)) {
		t.Errorf("the record of a is %s, %v", one, err)
	}
}
