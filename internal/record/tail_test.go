package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
)

// A tail reads each line once, leaves a torn one until it is whole, and holds to the
// plan what is new.
func TestTailReadsWhatWasAppended(t *testing.T) {
	whole := contents(t, newFile(t, "b01-001", "stranger", "b01-002"))
	plan := []Trial{testRecord("b01-001").Trial, testRecord("b01-002").Trial}
	ends := []int{}
	for i, b := range whole {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	var tail Tail
	for _, step := range []struct {
		size int
		ids  string
	}{
		{ends[0] + 3, ""}, {ends[1], "b01-001"}, {ends[1], "b01-001"}, {ends[3] - 1, "b01-001"}, {ends[3], "b01-001 b01-002"},
	} {
		if err := tail.Read(bytes.NewReader(whole[:step.size]), int64(step.size)); err != nil {
			t.Fatalf("%d bytes: %v", step.size, err)
		}
		tail.HoldTo(plan)
		if got := ids(tail.Records); got != step.ids {
			t.Errorf("%d bytes: records %q, want %q", step.size, got, step.ids)
		}
	}
	if len(tail.Problems) != 1 || !strings.Contains(tail.Problems[0].String(), "line 3: trial stranger is not in the plan") {
		t.Errorf("problems %v", tail.Problems)
	}
	if err := tail.Read(bytes.NewReader(nil), 0); err == nil {
		t.Error("a file that became shorter was read on")
	}
	var empty Tail
	if err := empty.Read(bytes.NewReader(nil), 0); err == nil {
		t.Error("a file without a header was read")
	}
}

// An outline has the header, the names and the stop that a whole reading has.
func TestOutlineAgreesWithRead(t *testing.T) {
	path := newFile(t, "b01-001", "b01-002")
	w, _, err := OpenForAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Stop(Stop{Look: 1, Blocks: 6}); err != nil {
		t.Fatal(err)
	}
	if err := w.End(map[string]Host{"local": {}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := append(contents(t, path), "damaged\n"...)
	outline, err := ReadOutline(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var all Contents
	if _, err := all.readLines(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if ids(outline.Records) != ids(all.Records) || outline.Header.Stopped == nil || *outline.Header.Stopped != *all.Header.Stopped ||
		len(outline.Header.Facts.After) != 1 || len(outline.Problems) != len(all.Problems) || len(all.Problems) != 1 {
		t.Errorf("the outline has %q, %+v, %v; want %q, %+v, %v", ids(outline.Records), outline.Header.Stopped, outline.Problems, ids(all.Records), all.Header.Stopped, all.Problems)
	}
	body, err := ReadOne(bytes.NewReader(text), "b01-002")
	if err != nil || !strings.Contains(string(body), `"id":"b01-002"`) {
		t.Errorf("one record: %s, %v", body, err)
	}
	if body, err := ReadOne(bytes.NewReader(text), "b01-003"); err != nil || body != nil {
		t.Errorf("a record that is not there: %s, %v", body, err)
	}
}

// Whoever looks does not keep a run from going on.
func TestBeingWritten(t *testing.T) {
	path := newFile(t, "b01-001")
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if BeingWritten(reader) {
		t.Error("a closed file counts as being written")
	}
	w, _, err := OpenForAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	if !BeingWritten(reader) {
		t.Error("an open file does not count as being written")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if BeingWritten(reader) {
		t.Error("a file that was closed again counts as being written")
	}
}

func TestLiveIsReplacedInItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), LiveFile)
	if err := os.WriteFile(path, []byte("of a killed run"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := CreateLive(path)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Unix(100, 0).UTC()
	long := Live{Trial: "b01-001", BeganAt: began, Ticks: []contract.Tick{{AtNs: 1, Exchanges: 2}, {AtNs: 3, Exchanges: 4}}}
	for _, want := range []Live{long, {Trial: "b01-002", BeganAt: began}} {
		if err := w.Write(want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLive(bytes.NewReader(contents(t, path)))
		if err != nil || got.Trial != want.Trial || !got.BeganAt.Equal(want.BeganAt) || len(got.Ticks) != len(want.Ticks) {
			t.Errorf("read %+v, %v; want %+v", got, err, want)
		}
	}
	torn := contents(t, path)
	torn[20] ^= 1
	if _, err := ReadLive(bytes.NewReader(torn)); err == nil {
		t.Error("a line that is being written was read")
	}
	if err := w.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

func FuzzReadLive(f *testing.F) {
	line, err := encodeLine(Live{Schema: Schema, Trial: "b01-001", Ticks: []contract.Tick{{AtNs: 1}}}, false)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Fuzz(func(t *testing.T, text []byte) {
		if l, err := ReadLive(bytes.NewReader(text)); err == nil && len(l.Ticks) > MaxLiveClients {
			t.Errorf("%d ticks", len(l.Ticks))
		}
	})
}
