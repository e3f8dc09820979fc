package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"

	"netdyno/internal/read/export"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/report"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
)

// reading is what the files of a run hold, and what was found in them.
type reading struct {
	finding.Findings
	trials   []record.Trial
	contents record.Contents // what is wrong in the file included
	early    *trial.Early    // what was found of the records as they were read; nil where they are whole
}

// readRun finds what the records of a run so far say. The records of a large run are
// lightened as they are read.
func readRun(d session.Directory) (reading, error) { return readAs(d, leanFrom, func(*reading) {}) }

// readCurrent reads a run to compare it with another: what was renamed since it
// was recorded has today's name.
func readCurrent(d session.Directory) (reading, error) {
	r, err := readAs(d, never, func(r *reading) { record.CurrentNames(&r.contents.Header, r.trials, r.contents.Records) })
	printProblems(d, r.contents.Problems)
	return r, err
}

// readAs reads a run, lean where its records have so many bytes; change may alter what was
// read before anything is found in it.
func readAs(d session.Directory, lean int64, change func(*reading)) (reading, error) {
	r, unplanned, err := readFiles(d, lean)
	if err != nil {
		return r, err
	}
	change(&r)
	r.Findings, err = finding.FindJudged(r.contents.Header, r.trials, r.contents.Records, r.early)
	r.Tally.Unplanned = unplanned
	return r, err
}

// readFiles reads what a run left, and finds nothing in it yet. It counts the records
// of trials that are not in the plan, which are left out. Where the records have lean bytes
// or more, each is judged as it is read.
func readFiles(d session.Directory, lean int64) (r reading, unplanned int, err error) {
	size := recordBytes(d)
	if r.trials, err = record.ReadTrials(d.Trials()); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is not the directory of a run: it has no trials.jsonl", d)
		}
		return r, 0, err
	}
	var take func(*record.Record) func()
	perByte := perByteWhole
	if size >= lean && !steered(d) {
		r.early = trial.NewEarly(r.trials)
		take, perByte = r.early.Take, perByteLean
	}
	collectSooner(int64(perByte*float64(size))+beyondRecords(r.trials), perByte == perByteLean && size >= large)
	if r.contents, err = record.ReadEach(d.Records(), take); err != nil {
		return r, 0, err
	}
	r.trials = record.Allocated(r.trials, r.contents.Header.Allocations)
	if len(r.contents.Header.Listen) == 0 { // the segments of a server are of no plan
		unplanned = r.contents.HoldTo(r.trials)
	}
	r.contents.Header.Directory = string(d)
	return r, unplanned, nil
}

// leanFrom are the bytes of records from which a run is read lean, and never those of no run.
// A page has no room for so many records anyway.
const (
	leanFrom = 64 << 20
	never    = math.MaxInt64
)

// Memory for each byte of records: held, judged and laid out, they are 1.3 times as large
// as their file when whole, and from an eighth to half as large when read lean.
const (
	perByteWhole = 1.6
	perByteLean  = 0.7
)

// large is from which size in bytes on the memory for a run's records is held tightly.
const large = 2 << 30

// beyondRecords is the memory in bytes for what is known of trials besides their records, each by
// itself and all of an arm in a cell together. Of a mesh, whose trials are short and packed,
// that is most of it.
func beyondRecords(trials []record.Trial) int64 {
	const perTrial, perPlace = 5 << 10, 32 << 10
	places := map[[2]string]bool{}
	for i := range trials {
		places[[2]string{trials[i].Cell, trials[i].Arm}] = true
	}
	return perTrial*int64(len(trials)) + perPlace*int64(len(places))
}

// steered tells whether a run decided between its blocks what to run. Its plan is known once
// its records are read, and parts of them are judged again. A header that cannot be read is
// for who reads the records to name.
func steered(d session.Directory) bool {
	header, err := record.ReadHeader(d.Records())
	return err != nil || header.Study.Steered() || len(header.Listen) > 0
}

// recordBytes is the size of a run's records; 0 where reading them will say what is wrong.
func recordBytes(d session.Directory) int64 {
	file, err := os.Stat(d.Records())
	if err != nil {
		return 0
	}
	return file.Size()
}

// collectSooner lets the collector hold the memory of a large run near the bytes that it
// needs, where it would wait for twice that. It adds a few percent of CPU. GOMEMLIMIT and
// GOGC take precedence. Tightly it is held to a third above what is in use.
func collectSooner(limit int64, tightly bool) {
	const least = 400 << 20 // smaller runs are left alone
	const soon = 30
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if tightly && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(soon)
	}
	if before := debug.SetMemoryLimit(-1); before < math.MaxInt64 { // of runs that were read earlier
		limit += before
	}
	debug.SetMemoryLimit(max(least, limit))
}

// readWhole reads a run with all of its records whole, and prints what is wrong in it.
func readWhole(d session.Directory) (reading, error) {
	r, err := readAs(d, never, func(*reading) {})
	printProblems(d, r.contents.Problems)
	return r, err
}

// readAloud reads a run and prints what is wrong in its file.
func readAloud(d session.Directory) (reading, error) {
	r, err := readRun(d)
	printProblems(d, r.contents.Problems)
	return r, err
}

func printProblems(d session.Directory, problems []record.Problem) {
	for _, p := range problems {
		stderr.say("netdyno: %s: %s", d.Records(), p)
	}
}

// show rebuilds the exports of a run and prints its findings: on one screen, or
// in full everything that has a form in text. It drops the findings' trials: what is
// said of single ones is in the page then, and in a large run their records are most
// of the memory that the collector walks.
func show(d session.Directory, findings *finding.Findings, how showing) error {
	page := report.New(*findings)
	text := page.Text
	if !how.full {
		text = report.NewScreen(*findings).Text
	}
	findings.Trials = nil
	exported := errors.Join(rebuild(d, findings, page), writeProfiles(d, findings.ProfileFiles))
	printed := func() error { return showText(text) }
	if how.result.to != nil {
		printed = func() error { return how.result.show(d, *findings) }
	}
	if err := printed(); err != nil {
		return err
	}
	switch {
	case ofOthers(d, exported):
		return nil
	case exported != nil:
		return fmt.Errorf("the records are safe in %s, the reports could not be written: %w", d.Records(), exported)
	}
	fmt.Fprintln(stdout)
	stdout.say("report  %s", d.HTML())
	return nil
}

// ofOthers tells whether what is made of a run could not be written as its directory is
// somebody else's, which it says.
func ofOthers(d session.Directory, err error) bool {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return false
	}
	stderr.say("netdyno: %s cannot be written to, so the reports there stay as they are", d)
	return true
}

// rebuild writes findings.json and the reports, side by side.
func rebuild(d session.Directory, f *finding.Findings, page report.Page) error {
	files := []struct {
		path   string
		render func(io.Writer) error
	}{
		{d.Findings(), func(w io.Writer) error { return export.WriteFindings(w, *f) }},
		{d.HTML(), page.HTML},
		{d.Markdown(), page.Markdown},
	}
	failed := make([]error, len(files))
	var writers sync.WaitGroup
	for i, file := range files {
		writers.Go(func() { failed[i] = render(file.path, file.render) })
	}
	writers.Wait()
	return errors.Join(failed...)
}

// writeProfiles writes the probes' profiles beside the report; nothing for nil. Those
// that cannot be read are warned of in the report.
func writeProfiles(d session.Directory, files *profile.Files) error {
	if files == nil {
		return nil
	}
	switch info, err := os.Lstat(d.Profiles()); {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.Mkdir(d.Profiles(), 0o755); err != nil {
			return err
		}
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("write profiles: %s is not a directory", d.Profiles())
	}
	_, err := files.Each(func(f profile.File) error {
		return record.WriteFileAtomic(filepath.Join(d.Profiles(), f.Name), f.Data)
	})
	return err
}

// render writes what a renderer makes, whole or not at all.
func render(path string, renderer func(io.Writer) error) error {
	return record.WriteAtomic(path, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		if err := renderer(b); err != nil {
			return err
		}
		return b.Flush()
	})
}
