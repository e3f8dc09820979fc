package serve

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// sample is a run that grows as a test says.
type sample struct {
	t       testing.TB
	dir     string
	header  record.Header
	trials  []record.Trial
	records []record.Record
	file    *record.File
	live    *record.LiveWriter
	done    int
	ticks   int64
	began   time.Time // the trial under way
}

// begin makes a run without records in a directory.
func begin(t testing.TB, dir string, change func(*record.Header)) *sample {
	t.Helper()
	s := &sample{t: t, dir: dir, began: time.Now()}
	s.header, s.trials, s.records = synthetic.Run(synthetic.Options{Blocks: 6, Rate: 20_000, SD: 0.01, BlockSD: 0.01, Seed: 5, Bare: true})
	change(&s.header)
	var err error
	if err = os.MkdirAll(dir, 0o755); err == nil {
		err = record.WriteTrials(filepath.Join(dir, record.TrialsFile), s.trials)
	}
	if err == nil {
		s.file, err = record.Create(filepath.Join(dir, record.RecordsFile), s.header)
	}
	if err == nil {
		s.live, err = record.CreateLive(filepath.Join(dir, record.LiveFile))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asItIs(*record.Header) {}

// add appends the next records.
func (s *sample) add(count int) {
	s.t.Helper()
	for range count {
		if err := s.file.Append(s.records[s.done]); err != nil {
			s.t.Fatal(err)
		}
		s.done++
		s.began = time.Now()
	}
}

// tick says that the trial under way did 1,000 exchanges in 100 ms more.
func (s *sample) tick() {
	s.t.Helper()
	s.ticks++
	l := record.Live{Trial: s.trials[s.done].ID, BeganAt: s.began, Ticks: []contract.Tick{{
		AtNs: 1e8 * s.ticks, Exchanges: 1000 * s.ticks, Times: &contract.TickTimes{Count: 1000, P50Ns: 120_000, P99Ns: 450_000, MaxNs: 1_000_000},
	}}}
	if err := s.live.Write(l); err != nil {
		s.t.Fatal(err)
	}
}

// end closes the run as netdyno run does.
func (s *sample) end() {
	s.t.Helper()
	if err := s.live.Remove(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.file.Close(); err != nil {
		s.t.Fatal(err)
	}
}

var growInto = flag.String("grow", "", "make runs in this directory, one of which grows by what stdin says: a number of records, tick, or end")

// TestGrowSample is no test: it makes the runs that test/browser watches.
func TestGrowSample(t *testing.T) {
	if *growInto == "" {
		return
	}
	at := func(name string) string { return filepath.Join(*growInto, name) }
	for i, name := range []string{"event-loops-20260101-100000", "event-loops-20260101-110000"} {
		s := begin(t, at(name), func(h *record.Header) { h.CreatedAt = h.CreatedAt.Add(time.Duration(i-30) * time.Hour) })
		s.add(len(s.trials))
		s.end()
	}
	odd := begin(t, at("tour-20260101-120000/<b>odd"), func(h *record.Header) { h.Study.Question = "<script>alert(1)</script>" })
	odd.add(3)
	odd.end()
	if err := os.MkdirAll(at("damaged"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("damaged/records.jsonl"), []byte("no record\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := begin(t, at("event-loops-20260102-030405"), func(h *record.Header) { h.CreatedAt = h.CreatedAt.Add(time.Hour) })
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch word := strings.TrimSpace(lines.Text()); word {
		case "tick":
			s.tick()
		case "end":
			s.end()
			return
		default:
			count := 0
			if _, err := fmt.Sscan(word, &count); err != nil {
				t.Fatalf("%q: %v", word, err)
			}
			s.add(count)
		}
		fmt.Println("done")
	}
}
