package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
)

// directory is where one run lives. Its files are named here and nowhere else.
type directory string

func (d directory) study() string    { return filepath.Join(string(d), "study.yaml") }
func (d directory) facts() string    { return filepath.Join(string(d), "facts.json") }
func (d directory) trials() string   { return filepath.Join(string(d), "trials.jsonl") }
func (d directory) messages() string { return filepath.Join(string(d), "messages.json") }
func (d directory) records() string  { return filepath.Join(string(d), "records.jsonl") }
func (d directory) findings() string { return filepath.Join(string(d), "findings.json") }
func (d directory) html() string     { return filepath.Join(string(d), "report.html") }
func (d directory) gate() string     { return filepath.Join(string(d), "gate.md") }
func (d directory) compared() string { return filepath.Join(string(d), "compare.md") }
func (d directory) markdown() string { return filepath.Join(string(d), "report.md") }

// resultsRoot holds the runs that were given no directory.
const resultsRoot = "results"

// freshDirectory makes a directory that nobody else has: two runs may begin in
// the same second.
func freshDirectory(study string) (directory, error) {
	name := filepath.Join(resultsRoot, study+"-"+time.Now().Format("20060102-150405"))
	if err := os.MkdirAll(resultsRoot, 0o755); err != nil {
		return "", err
	}
	path := name
	for n := 2; ; n++ {
		err := os.Mkdir(path, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return directory(path), err
		}
		path = fmt.Sprintf("%s-%d", name, n)
	}
}

// latestDirectory is the newest run of a study under results/.
func latestDirectory(study string) (directory, error) {
	matches, err := filepath.Glob(filepath.Join(resultsRoot, study+"-[0-9]*", "records.jsonl"))
	if err != nil {
		return "", err
	}
	if len(matches) == 0 {
		return "", fmt.Errorf("resume: no run of %s under %s/; name its directory with --out", study, resultsRoot)
	}
	return directory(filepath.Dir(slices.Max(matches))), nil
}

// vacant refuses a directory that holds anything: a run's files among others
// would be lost in them, or overwrite them.
func (d directory) vacant() error {
	entries, err := os.ReadDir(string(d))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return fmt.Errorf("--out: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() == record.RecordsFile {
			return fmt.Errorf("%s holds a run already; go on with --resume or choose another --out", d)
		}
		names = append(names, e.Name())
	}
	const shown = 3
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%s is not empty, it holds %s; choose a new or an empty directory with --out", d, strings.Join(names, ", "))
}

// create makes the directory with everything that is known before the first
// trial. Whoever makes records.jsonl has the directory and writes the rest.
func (d directory) create(study []byte, header record.Header, trials []record.Trial) (*record.File, error) {
	facts, err := json.MarshalIndent(header.Facts, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := d.vacant(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return nil, err
	}
	file, err := record.Create(d.records(), header)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s holds a run already; go on with --resume or choose another --out", d)
	}
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		record.WriteFileAtomic(d.study(), study),
		record.WriteFileAtomic(d.facts(), append(facts, '\n')),
		record.WriteTrials(d.trials(), trials))
	if err != nil {
		return nil, errors.Join(err, os.Remove(d.records()), file.Close())
	}
	return file, nil
}

// reading is what the files of a run hold, and what was found in them.
type reading struct {
	finding.Findings
	trials   []record.Trial
	contents record.Contents // what is wrong in the file included
}

// read finds what there is in what has been measured so far.
func (d directory) read() (reading, error) {
	var r reading
	var err error
	if r.trials, err = record.ReadTrials(d.trials()); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is not the directory of a run: it has no trials.jsonl", d)
		}
		return r, err
	}
	if r.contents, err = record.Read(d.records()); err != nil {
		return r, err
	}
	unplanned := 0
	if len(r.contents.Header.Listen) == 0 { // a server's account is of segments, which nobody planned
		unplanned = r.contents.HoldTo(r.trials)
	}
	r.contents.Header.Directory = string(d)
	r.Findings, err = finding.Find(r.contents.Header, r.trials, r.contents.Records)
	r.Tally.Unplanned = unplanned
	return r, err
}

// export rebuilds findings.json and the reports from the records.
func (d directory) export(f finding.Findings) error {
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return fmt.Errorf("encode findings: %w", err)
	}
	page := report.New(f)
	return errors.Join(
		record.WriteFileAtomic(d.findings(), append(data, '\n')),
		render(d.html(), page.HTML),
		render(d.markdown(), page.Markdown))
}
