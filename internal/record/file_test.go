package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func testRecord(id string) Record {
	return Record{Trial: Trial{ID: id, Block: 1, Levels: map[string]string{"server": "go-net", "note": "<é>"}, Seed: 1<<53 - 1}, Outcome: OK}
}

func newFile(t *testing.T, ids ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), RecordsFile)
	w, err := Create(path, Header{Netdyno: "test", CreatedAt: time.Unix(1, 0), Study: Study{Name: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if err := w.Append(testRecord(id)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func ids(records []Record) string {
	var b strings.Builder
	for _, r := range records {
		b.WriteString(r.Trial.ID + " ")
	}
	return strings.TrimSpace(b.String())
}

func TestATailTornAtAnyByteIsCutAndItsTrialRunAgain(t *testing.T) {
	whole := contents(t, newFile(t, "b01-001", "b01-002"))
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	path := filepath.Join(t.TempDir(), RecordsFile)
	for cut := last + 1; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		w, c, err := OpenForAppend(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if ids(c.Records) != "b01-001" || len(c.Problems) != 1 || !strings.HasPrefix(c.Problems[0].String(), "line 3: torn") {
			t.Fatalf("cut at %d: records %s, problems %v", cut, ids(c.Records), c.Problems)
		}
		if err := w.Append(testRecord("b01-002")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, path); !bytes.Equal(got, whole) {
			t.Fatalf("cut at %d: after going on the file is\n%s\nwant\n%s", cut, got, whole)
		}
	}
}

func TestAnyFlippedBitIsFound(t *testing.T) {
	whole := contents(t, newFile(t, "b01-001"))
	header := bytes.IndexByte(whole, '\n') + 1
	path := filepath.Join(t.TempDir(), RecordsFile)
	for at := header; at < len(whole); at++ {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Problems) == 0 {
			t.Errorf("byte %d: damage went unnoticed: %s", at, damaged[header:])
		}
	}
}

func TestReadReportsWhatIsWrong(t *testing.T) {
	line := func(body any) string {
		b, err := encodeLine(body, false)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	header := line(Header{Schema: Schema, CreatedAt: time.Unix(1, 0)})
	one, two := line(testRecord("a")), line(testRecord("b"))
	newer := testRecord("c")
	newer.Schema = Schema + 1
	for name, c := range map[string]struct{ file, records, problems, err string }{
		"duplicate":      {header + one + two + one, "a b", "[line 4: trial a has a record already, on line 2, which stands]", ""},
		"not JSON":       {header + "hello\n" + one, "a", `[line 2: found "hello"; expected {"crc":"8 hex digits","body":{…}}]`, ""},
		"bad sum":        {header + `{"crc":"xyz","body":{}}` + "\n", "", `[line 2: found "{\"crc\":\"xyz\",\"body\":{}}"; expected {"crc":"8 hex digits","body":{…}}]`, ""},
		"damaged":        {header + `{"crc":"00000000","body":{"a":1}}` + "\n", "", `[line 2: the body's CRC-32C is cff7d56a, not "00000000": the line was damaged]`, ""},
		"no trial":       {header + line(Record{Schema: 1}), "", "[line 2: record: its trial has no id]", ""},
		"empty":          {"", "", "[]", "line 1: no whole header; expected the run's header"},
		"torn header":    {header[:9], "", "[]", "line 1: no whole header; expected the run's header"},
		"no header":      {line(Record{Schema: 1, Trial: Trial{ID: "a"}}), "", "[]", "line 1: not a run's header: it has no created_at"},
		"newer header":   {line(Header{Schema: Schema + 1}), "", "[]", "line 1: schema 2 was written by a newer netdyno; this one reads up to schema 1"},
		"newer record":   {header + line(newer), "", "[]", "line 2: schema 2 was written by a newer netdyno; this one reads up to schema 1"},
		"no schema":      {line(map[string]int{"schema": 0}), "", "[]", "line 1: schema 0; expected from 1 to 1"},
		"damaged header": {"{}\n", "", "[]", `line 1: header: found "{}"; expected {"crc":"8 hex digits","body":{…}}`},
	} {
		var got Contents
		_, err := got.readLines(strings.NewReader(c.file))
		if text := fmt.Sprint(err); (err == nil) != (c.err == "") || err != nil && text != c.err {
			t.Errorf("%s: error %v, want %s", name, err, c.err)
		}
		if fmt.Sprint(got.Problems) != c.problems || ids(got.Records) != c.records {
			t.Errorf("%s:\n got %s, %v\nwant %s, %s", name, ids(got.Records), got.Problems, c.records, c.problems)
		}
	}
}

// One line beyond the bound costs its record and no other: whatever its length,
// with a newline or torn, read or gone on with.
func TestAnOverLongLineCostsOneRecord(t *testing.T) {
	after, err := encodeLine(testRecord("b01-003"), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int64{MaxLine, MaxLine + 1, MaxLine + 256<<10, 3 * MaxLine} {
		path := newFile(t, "b01-001")
		before := int64(len(contents(t, path)))
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		// A hole in the file, which takes no room on the disk.
		if err := errors.Join(f.Truncate(before+length), seekEnd(f)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("\n" + string(after)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		var begun, done runtime.MemStats
		runtime.ReadMemStats(&begun)
		c, err := Read(path)
		runtime.ReadMemStats(&done)
		if want := "[line 3: longer than 67108864 bytes]"; err != nil || ids(c.Records) != "b01-001 b01-003" || fmt.Sprint(c.Problems) != want {
			t.Errorf("%d bytes: records %s, problems %v, error %v; want two records and %s", length, ids(c.Records), c.Problems, err, want)
		}
		if got := done.TotalAlloc - begun.TotalAlloc; got > 6*MaxLine { // a growing line is copied a few times
			t.Errorf("%d bytes: %d MB were allocated", length, got>>20)
		}
		w, c, err := OpenForAppend(path)
		if err != nil || len(c.Problems) != 1 {
			t.Fatalf("%d bytes: %v, %v", length, c.Problems, err)
		}
		if err := errors.Join(w.Append(testRecord("b01-004")), w.Close()); err != nil {
			t.Fatal(err)
		}
		if c, err = Read(path); err != nil || ids(c.Records) != "b01-001 b01-003 b01-004" {
			t.Errorf("%d bytes, gone on with: records %s, %v", length, ids(c.Records), err)
		}
		if err := os.Truncate(path, before+length); err != nil {
			t.Fatal(err)
		}
		w, c, err = OpenForAppend(path)
		if err != nil || ids(c.Records) != "b01-001" || !strings.Contains(fmt.Sprint(c.Problems), "line 3: torn") {
			t.Fatalf("%d bytes, torn: records %s, problems %v, %v", length, ids(c.Records), c.Problems, err)
		}
		if err := w.Close(); err != nil || int64(len(contents(t, path))) != before {
			t.Errorf("%d bytes, torn: %d are left, want the %d before it (%v)", length, len(contents(t, path)), before, err)
		}
	}
}

func seekEnd(f *os.File) error {
	_, err := f.Seek(0, io.SeekEnd)
	return err
}

func TestRecordsAreHeldToThePlan(t *testing.T) {
	path := newFile(t, "b01-001", "b01-002", "b01-003")
	c, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := testRecord("b01-003").Trial
	changed.Seed++
	if n := c.HoldTo([]Trial{testRecord("b01-001").Trial, changed}); n != 2 {
		t.Errorf("%d records are outside the plan, want 2", n)
	}
	want := "[line 3: trial b01-002 is not in the plan (trials.jsonl); its record is left out " +
		"line 4: trial b01-003 is not the plan's: its arm, cell, levels or seed differ (trials.jsonl); its record is left out]"
	if got := fmt.Sprint(c.Problems); ids(c.Records) != "b01-001" || got != want {
		t.Errorf("records %s, problems\n%s, want\n%s", ids(c.Records), got, want)
	}
	if c, err = Read(path); err != nil {
		t.Fatal(err)
	}
	if n := c.HoldTo([]Trial{testRecord("b01-001").Trial, testRecord("b01-002").Trial, testRecord("b01-003").Trial}); n > 0 || len(c.Problems) > 0 || len(c.Records) != 3 {
		t.Errorf("records %s, problems %v; want three and none", ids(c.Records), c.Problems)
	}
}

// A name that leads to no file is refused at once, and not waited for.
func TestRecordsComeFromFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), RecordsFile)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, read := Read(path)
	_, header := ReadHeader(path)
	_, trials := ReadTrials(path)
	_, _, again := OpenForAppend(path)
	for what, err := range map[string]error{"Read": read, "ReadHeader": header, "ReadTrials": trials, "OpenForAppend": again} {
		if err == nil || !strings.Contains(err.Error(), "it is a pipe; expected a file") {
			t.Errorf("%s of a FIFO: %v", what, err)
		}
	}
	outside := newFile(t)
	link := filepath.Join(t.TempDir(), RecordsFile)
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	_, read = Read(link)
	_, _, again = OpenForAppend(link)
	for what, err := range map[string]error{"Read": read, "OpenForAppend": again} {
		if err == nil || !strings.Contains(err.Error(), link) {
			t.Errorf("%s by a link that leads out of the directory: %v", what, err)
		}
	}
}

func TestARunIsNeverOverwrittenNorWrittenTwice(t *testing.T) {
	path := newFile(t)
	if _, err := Create(path, Header{}); !os.IsExist(err) {
		t.Errorf("creating it again gave %v", err)
	}
	w, _, err := OpenForAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenForAppend(path); err == nil || !strings.Contains(err.Error(), "another process is writing it") {
		t.Errorf("opening it twice gave %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAReaderMayFollowTheWriter(t *testing.T) {
	path := newFile(t)
	w, _, err := OpenForAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	const n = 100
	done := make(chan error, 1)
	go func() {
		for i := range n {
			if err := w.Append(testRecord(fmt.Sprintf("b01-%03d", i))); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for last, finished := 0, false; !finished; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			finished = true
		default:
		}
		c, err := Read(path)
		if err != nil || len(c.Records) < last || len(c.Problems) > 1 {
			t.Fatalf("while it was written: %d records after %d, %v, %v", len(c.Records), last, c.Problems, err)
		}
		last = len(c.Records)
		if finished && (last != n || len(c.Problems) != 0) {
			t.Fatalf("in the end: %d records, %v", last, c.Problems)
		}
	}
}

// fillDisk appends until the disk is full, frees nothing, and checks that
// the file still ends with a whole line and knows all that was acknowledged.
func fillDisk(path string) error {
	w, err := Create(path, Header{CreatedAt: time.Unix(1, 0)})
	if err != nil {
		return err
	}
	kept := 0
	for full := 0; full < 3; {
		r := testRecord(fmt.Sprint(kept))
		r.Workers = []Worker{{Stderr: strings.Repeat("x", 3000)}}
		if err := w.Append(r); err != nil {
			full++
			continue
		}
		kept++
		if kept > 1000 {
			return fmt.Errorf("the disk never filled")
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	c, err := Read(path)
	if err == nil && (len(c.Records) != kept || len(c.Problems) > 0 || kept == 0) {
		err = fmt.Errorf("%d records of %d acknowledged, %v", len(c.Records), kept, c.Problems)
	}
	return err
}

func TestAFullDiskLeavesWholeLines(t *testing.T) {
	t.Run("file size limit", func(t *testing.T) {
		if path := os.Getenv("NETDYNO_TEST_FILL"); path != "" {
			signal.Ignore(syscall.SIGXFSZ)
			limit := &syscall.Rlimit{Cur: 20000, Max: 20000}
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, limit); err != nil {
				t.Fatal(err)
			}
			if err := fillDisk(path); err != nil {
				t.Fatal(err)
			}
			return
		}
		child := exec.Command(os.Args[0], "-test.run", t.Name()+"$")
		child.Env = append(os.Environ(), "NETDYNO_TEST_FILL="+filepath.Join(t.TempDir(), RecordsFile))
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	t.Run("tmpfs", func(t *testing.T) {
		dir := t.TempDir()
		err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k")
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
			t.Skipf("this user may not mount a tiny tmpfs: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		}()
		if err := fillDisk(filepath.Join(dir, RecordsFile)); err != nil {
			t.Fatal(err)
		}
		if err := WriteFileAtomic(filepath.Join(dir, "big"), make([]byte, 100<<10)); err == nil {
			t.Error("100 KiB fitted in what was left of 64")
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("a failed write left %v, %v", entries, err)
		}
	})
}

func TestTrialsReadBackWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), TrialsFile)
	want := []Trial{testRecord("b01-001").Trial, testRecord("b01-002").Trial}
	for range 2 { // written anew, it replaces
		if err := WriteTrials(path, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadTrials(path)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %v, %v", got, err)
	}
	whole := contents(t, path)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"torn":     {whole[:len(whole)-1], "the last line is torn"},
		"repeated": {append(bytes.Clone(whole), whole...), `line 3: trial id "b01-001" is empty or repeated`},
		"damaged":  {bytes.Replace(whole, []byte("go-net"), []byte("go-nut"), 1), "the line was damaged"},
	} {
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadTrials(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// Records of a mesh of many hosts are packed; they are read as others are, a run goes on
// packed, and what unpacks to more than a line may have is refused.
func TestRecordsOfALargeMeshArePacked(t *testing.T) {
	path := filepath.Join(t.TempDir(), RecordsFile)
	w, err := Create(path, Header{Netdyno: "test", CreatedAt: time.Unix(1, 0), Study: Study{Name: "m", Mesh: true, Partners: 16}})
	if err != nil {
		t.Fatal(err)
	}
	large := testRecord("b01-001")
	large.Trial.Levels["note"] = strings.Repeat("<é>", 10_000)
	if err := errors.Join(w.Append(large), w.Close()); err != nil {
		t.Fatal(err)
	}
	if w, _, err = OpenForAppend(path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(testRecord("b01-002")), w.Close()); err != nil {
		t.Fatal(err)
	}
	c, err := Read(path)
	if err != nil || len(c.Problems) > 0 || ids(c.Records) != "b01-001 b01-002" || c.Records[0].Trial.Levels["note"] != large.Trial.Levels["note"] {
		t.Errorf("read %s with %v, %v", ids(c.Records), c.Problems, err)
	}
	if data := contents(t, path); len(data) > 4096 || bytes.Count(data, []byte(`"body":"`)) != 2 {
		t.Errorf("%d bytes, of which %d bodies are packed; want both", len(data), bytes.Count(data, []byte(`"body":"`)))
	}
	for name, body := range map[string]string{"no base64": `"*"`, "no deflate": `"AAAA"`, "torn": `"AAAA`} {
		if got, err := unpack([]byte(body)); err == nil {
			t.Errorf("%s: unpacked %q", name, got)
		}
	}
	bomb, err := pack(bytes.Repeat([]byte{' '}, MaxLine+1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(bomb); !errors.Is(err, errLong) {
		t.Errorf("what unpacks to more than a line: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	header, _ := encodeLine(Header{Schema: Schema, CreatedAt: time.Unix(1, 0)}, false)
	one, _ := encodeLine(testRecord("a"), false)
	f.Add(header, one)
	packed, _ := encodeLine(testRecord("b"), true)
	f.Add(header, packed)
	f.Add([]byte("{}\n"), []byte("\x00"))
	f.Fuzz(func(t *testing.T, head, rest []byte) {
		var c Contents
		data := append(bytes.Clone(head), rest...)
		if _, err := c.readLines(bytes.NewReader(data)); err != nil {
			return
		}
		seen := map[string]bool{}
		for _, r := range c.Records {
			if r.Trial.ID == "" || seen[r.Trial.ID] {
				t.Fatalf("trial %q is empty or twice in %q", r.Trial.ID, data)
			}
			seen[r.Trial.ID] = true
		}
		if lines := bytes.Count(data, []byte("\n")); len(c.Records)+len(c.Problems) > lines {
			t.Fatalf("%d records and %d problems in %d lines", len(c.Records), len(c.Problems), lines)
		}
	})
}

// What the hosts were like after a run is in its last line, and a resumed run's
// last one counts.
func TestEndIsReadWithTheFacts(t *testing.T) {
	path := newFile(t, "b01-001")
	end := func(thp string) {
		w, c, err := OpenForAppend(path)
		if err != nil || len(c.Records) == 0 {
			t.Fatal(c.Problems, err)
		}
		defer w.Close()
		if err := w.End(map[string]Host{"local": {Values: map[string]string{"thp": thp}}}); err != nil {
			t.Fatal(err)
		}
	}
	end("never")
	end("always")
	c, err := Read(path)
	if err != nil || len(c.Problems) != 0 || len(c.Records) != 1 || c.Header.Facts.After["local"].Values["thp"] != "always" {
		t.Errorf("after %v, problems %v, %d records, %v", c.Header.Facts.After, c.Problems, len(c.Records), err)
	}
}

// A renamed file must not take the place of a device, a FIFO or a directory.
func TestOnlyAFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(fifo, 0o600), os.Symlink("/dev/null", link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, link, dir, "/dev/null"} {
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteFileAtomic(path, []byte("x")); err == nil {
			t.Errorf("%s was replaced", path)
		}
		if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s is another file now: %v", path, err)
		}
	}
	file := filepath.Join(dir, "file")
	for _, text := range []string{"one", "two"} {
		if err := WriteFileAtomic(file, []byte(text)); err != nil || string(contents(t, file)) != text {
			t.Errorf("write %q: %v", text, err)
		}
	}
}

// What fails to be written leaves what was there.
func TestWriteAtomicKeepsWhatWasThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := WriteFileAtomic(path, []byte("before")); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("half way")
	err := WriteAtomic(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "after, half")
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Errorf("error %v, want %v", err, failed)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if text, readErr := os.ReadFile(path); string(text) != "before" || readErr != nil || err != nil || len(left) != 1 {
		t.Errorf("%q (%v) among %d files (%v), want what was there alone", text, readErr, len(left), err)
	}
	err = WriteAtomic(path, func(io.Writer) error {
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Errorf("%d files before anything is written (%v), want the one that was there", len(left), err)
		}
		return nil
	})
	if text, readErr := os.ReadFile(path); len(text) > 0 || readErr != nil || err != nil {
		t.Errorf("%q (%v) after nothing was written (%v), want an empty file", text, readErr, err)
	}
}
