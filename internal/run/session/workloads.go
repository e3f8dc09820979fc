package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"

	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/recorded"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/internal/run/workload"
	"netdyno/internal/traffic"
)

// workloads are those of a plan, by their levels. Recorded traffic is read from its file
// while the run goes on; a log is made such a file first, which goes with the run.
type workloads struct {
	all   map[string]workload.Workload
	open  []*os.File
	texts *texts // which has a directory for files that go with the run
	say   func(string)
}

// resolveWorkloads reads every workload of the plan, so that a mistake shows before the
// first trial.
func (w *workloads) resolve(ctx context.Context, trials []record.Trial) error {
	for _, t := range trials {
		level := t.Levels[study.WorkloadFactor]
		if _, known := w.all[level]; known || level == "" {
			continue
		}
		one, err := w.read(ctx, level)
		if err != nil {
			return fmt.Errorf("workload=%s: %w", level, err)
		}
		if w.all == nil {
			w.all = map[string]workload.Workload{}
		}
		w.all[level] = one
	}
	return nil
}

// read reads a workload file, recorded traffic or a log.
func (w *workloads) read(ctx context.Context, name string) (workload.Workload, error) {
	f, err := input.Open(name)
	if err != nil {
		return workload.Workload{}, err
	}
	begin := make([]byte, traffic.MostHeader+64)
	n, err := f.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return workload.Workload{}, errors.Join(err, f.Close())
	}
	if begin = begin[:n]; n == 0 {
		return workload.Workload{}, errors.Join(fmt.Errorf("%s is empty; expected a workload file, recorded traffic or a log", name), f.Close())
	}
	if traffic.Is(begin) {
		w.open = append(w.open, f)
		return readTrace(name, f)
	}
	_ = f.Close() // it was read alone
	if format, is := recorded.Guess(begin); is {
		return w.record(ctx, format, name)
	}
	text, err := input.Within(ctx, source.MaxFile)(name)
	if err != nil {
		return workload.Workload{}, err
	}
	file, err := source.ReadWorkload(name, text)
	if err != nil || file.Trace == "" {
		return file.Workload, err
	}
	trace := file.Trace
	if !filepath.IsAbs(trace) {
		trace = filepath.Join(filepath.Dir(name), trace)
	}
	of, err := w.read(ctx, trace)
	switch {
	case err != nil:
		return of, study.Errorf(file.TraceAt, "trace: %s", err)
	case of.Trace == nil:
		return of, study.Errorf(file.TraceAt, "trace: %s is a workload file; expected recorded traffic", trace)
	}
	of.Keys, of.Zipf = file.Keys, file.Zipf
	return of, file.Change(of.Classes)
}

// Replays tells whether a workload is recorded traffic, or a log that becomes it: its load
// is an open loop then, whatever else is said. What cannot be read is none.
func Replays(name string) bool {
	f, err := input.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, traffic.MostHeader+64)
	n, _ := f.ReadAt(begin, 0)
	_, isLog := recorded.Guess(begin[:n])
	return isLog || traffic.Is(begin[:n]) || namesTrace.Match(begin[:n])
}

var namesTrace = regexp.MustCompile(`(?m)^trace *:`)

// readTrace reads recorded traffic, whose file stays open.
func readTrace(name string, f *os.File) (workload.Workload, error) {
	body, err := traffic.Open(f)
	if err != nil {
		return workload.Workload{}, fmt.Errorf("%s: %w", name, err)
	}
	of, err := source.ReadRecorded(name, body.Header)
	if err != nil {
		return of, err
	}
	if of.TraceFile, err = filepath.Abs(name); err != nil {
		return of, err
	}
	of.Trace, of.Sum = body, body.Sum()
	return of, nil
}

// record makes recorded traffic of a log, with paths: a server shall be asked what it was
// asked.
func (w *workloads) record(ctx context.Context, format recorded.Format, name string) (workload.Workload, error) {
	to, err := w.texts.elsewhere(fmt.Sprintf("recorded-%d", len(w.open)))
	if err != nil {
		return workload.Workload{}, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return workload.Workload{}, err
	}
	summary, err := recorded.File(ctx, to, format, []string{name}, recorded.Options{Paths: true})
	if err != nil {
		return workload.Workload{}, fmt.Errorf("%w (netdyno record %s %s says more)", err, format.Name, name)
	}
	text := fmt.Sprintf("%s: %s of %d classes in %s", name, quantity.Plural(int(summary.Requests), "request"), len(summary.Classes), quantity.FormatDuration(summary.Span))
	if left := summary.LeftOutWords(); left != "" {
		text += "; left out: " + left
	}
	w.say(text)
	f, err := input.Open(to)
	if err != nil {
		return workload.Workload{}, err
	}
	w.open = append(w.open, f)
	return readTrace(to, f)
}

// enter makes a trial's work that of its workload, if it has one.
func (w *workloads) enter(work study.Work, seed uint64) (study.Work, error) {
	if work.Workload == "" {
		return work, nil
	}
	return w.all[work.Workload].Enter(work, seed)
}

// files are the files that hosts need.
func (w *workloads) files() (all []string) {
	for _, one := range w.all {
		if one.TraceFile != "" && !slices.Contains(all, one.TraceFile) {
			all = append(all, one.TraceFile)
		}
	}
	slices.Sort(all)
	return all
}

func (w *workloads) close() error {
	var all []error
	for _, f := range w.open {
		all = append(all, f.Close())
	}
	return errors.Join(all...)
}

// maxWorkloads bounds a run's own file of its workloads, in bytes.
const maxWorkloads = 64 << 20

// writeWorkloads keeps what the workloads said, so that the run is gone on with by these
// alone.
func (d Directory) writeWorkloads(all map[string]workload.Workload) error {
	if len(all) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode workloads: %w", err)
	}
	return record.WriteFileAtomic(d.Workloads(), append(text, '\n'))
}

// sameWorkloads refuses to go on with a run whose workloads have changed since.
func (d Directory) sameWorkloads(now map[string]workload.Workload) error {
	text, err := input.Whole(d.Workloads(), maxWorkloads)
	if errors.Is(err, fs.ErrNotExist) && len(now) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	current, err := json.Marshal(now)
	if err != nil {
		return err
	}
	var before, after map[string]any
	if err := errors.Join(json.NewDecoder(bytes.NewReader(text)).Decode(&before), json.Unmarshal(current, &after)); err != nil {
		return fmt.Errorf("resume: %s: %w", d.Workloads(), err)
	}
	for level := range now {
		if !reflect.DeepEqual(before[level], after[level]) {
			return fmt.Errorf("resume: workload %s is not what the run began with (%s); its trials could not be compared", level, d.Workloads())
		}
	}
	return nil
}
