package session

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

	"netdyno/internal/each"
	"netdyno/internal/record"
)

// Directory is where one run lives. Its files are named here and nowhere else.
type Directory string

// Study is the study as it is run, a study file again.
func (d Directory) Study() string { return d.file("study.yaml") }

// Facts is the rig, the facts of its hosts and the workers' hashes.
func (d Directory) Facts() string { return d.file("facts.json") }

// Trials is the plan. It, the study and the facts are written before the first
// trial.
func (d Directory) Trials() string { return d.file("trials.jsonl") }

// Records is the header and a record for each trial that has ended.
func (d Directory) Records() string { return d.file(record.RecordsFile) }

// Messages is the messages that the trials carry; absent where they have none.
func (d Directory) Messages() string { return d.file("messages.json") }

// Workloads is the workloads that the trials follow; absent where they have none.
func (d Directory) Workloads() string { return d.file("workloads.json") }

// Live is how far the trial under way is; there only while the run goes on.
func (d Directory) Live() string { return d.file(record.LiveFile) }

// Findings is what was found in the records. It and the files below can be
// rebuilt from the records.
func (d Directory) Findings() string { return d.file(record.FindingsFile) }

// HTML is the report as one page.
func (d Directory) HTML() string { return d.file("report.html") }

// Markdown is the report as Markdown.
func (d Directory) Markdown() string { return d.file("report.md") }

// Profiles is the directory of the probes' profiles, for other tools.
func (d Directory) Profiles() string { return d.file("profiles") }

// Given is the directory of what the requests carry; absent where all of it is in the
// study.
func (d Directory) Given() string { return d.file("given") }

// Gate is what a gate says, for a pull request.
func (d Directory) Gate() string { return d.file("gate.md") }

// Compared is a comparison with an earlier run, for a pull request.
func (d Directory) Compared() string { return d.file("compare.md") }

// ComparedPage is the same comparison, drawn.
func (d Directory) ComparedPage() string { return d.file("compare.html") }

func (d Directory) file(name string) string { return filepath.Join(string(d), name) }

// ResultsRoot holds the runs that were given no directory.
const ResultsRoot = "results"

// OrFresh returns the directory, which must be vacant; for "" it makes one under
// results/ that nobody else has: two runs may begin in the same second.
func (d Directory) OrFresh(study string) (Directory, error) {
	if d != "" {
		return d, d.Vacant()
	}
	name := filepath.Join(ResultsRoot, study+"-"+time.Now().Format("20060102-150405"))
	if err := os.MkdirAll(ResultsRoot, 0o755); err != nil {
		return "", elsewhere(err)
	}
	path := name
	for n := 2; ; n++ {
		err := os.Mkdir(path, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			if err != nil {
				err = elsewhere(err)
			}
			return Directory(path), err
		}
		path = fmt.Sprintf("%s-%d", name, n)
	}
}

// Runs returns the directories of runs whose path begins with begun, the one last written
// to first: directories under results/, and directories on the typed path.
func Runs(begun string) []Directory {
	type run struct {
		dir     Directory
		written time.Time
	}
	var runs []run
	for _, pattern := range []string{ResultsRoot + "/*", begun + "*", begun + "*/*"} {
		matches, err := filepath.Glob(filepath.Join(pattern, record.RecordsFile))
		if err != nil {
			continue // a bracket that was begun and not ended
		}
		for _, m := range matches {
			d := Directory(filepath.Dir(m))
			info, err := os.Stat(m)
			if err != nil || !strings.HasPrefix(string(d), begun) || slices.ContainsFunc(runs, func(r run) bool { return r.dir == d }) {
				continue
			}
			runs = append(runs, run{d, info.ModTime()})
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int { return b.written.Compare(a.written) })
	return each.Of(runs, func(r run) Directory { return r.dir })
}

// latest returns the newest run of a study under results/.
func latest(study string) (Directory, error) {
	matches, err := filepath.Glob(filepath.Join(ResultsRoot, study+"-[0-9]*", record.RecordsFile))
	if err != nil {
		return "", err
	}
	if len(matches) == 0 {
		return "", fmt.Errorf("resume: no run of %s under %s/; name its directory with --out", study, ResultsRoot)
	}
	return Directory(filepath.Dir(slices.Max(matches))), nil
}

// Vacant refuses a directory that holds anything: a run's files among others
// would be lost in them, or overwrite them.
func (d Directory) Vacant() error {
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
			return d.taken()
		}
		names = append(names, e.Name())
	}
	const shown = 3
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%s is not empty, it holds %s; choose a new or an empty directory with --out", d, strings.Join(names, ", "))
}

// elsewhere adds to an error of making a run's directory what can be done.
func elsewhere(err error) error {
	return fmt.Errorf("%w; --out DIR puts the run into a directory that can be written to", err)
}

// clear removes the files of a run that could not begin, so that its directory is vacant again.
func (d Directory) clear() (err error) {
	for _, file := range []string{d.Records(), d.Study(), d.Facts(), d.Trials(), d.Messages(), d.Workloads(), d.Given()} {
		err = errors.Join(err, os.RemoveAll(file))
	}
	return err
}

func (d Directory) taken() error {
	return fmt.Errorf("%s holds a run already; go on with --resume or choose another --out", d)
}

// Create makes the directory with everything that is known before the first
// trial. Whoever makes records.jsonl has the directory and writes the rest.
func (d Directory) Create(study []byte, header record.Header, trials []record.Trial) (*record.File, error) {
	facts, err := json.MarshalIndent(header.Facts, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := d.Vacant(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return nil, elsewhere(err)
	}
	file, err := record.Create(d.Records(), header)
	if errors.Is(err, fs.ErrExist) {
		return nil, d.taken()
	}
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		record.WriteFileAtomic(d.Study(), study),
		record.WriteFileAtomic(d.Facts(), append(facts, '\n')),
		record.WriteTrials(d.Trials(), trials))
	if err != nil {
		return nil, errors.Join(err, d.clear(), file.Close())
	}
	return file, nil
}
