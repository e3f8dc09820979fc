package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/collection"
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
	texts *texts // which has what requests carry
	made  *Recordings
	say   func(string)
}

// resolve reads every workload of the plan, so that a mistake shows before the first trial.
func (w *workloads) resolve(ctx context.Context, trials []record.Trial) error {
	for _, t := range trials {
		if err := w.resolveOne(study.WorkloadFactor, t.Levels[study.WorkloadFactor], func(level string) (workload.Workload, error) { return w.read(ctx, level) }); err != nil {
			return err
		}
		if name, is := strings.CutPrefix(t.Levels["arrival"], "trace:"); is {
			if err := w.resolveOne("arrival", t.Levels["arrival"], func(string) (workload.Workload, error) { return w.readTimes(ctx, name) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolveOne reads what a level of a factor names, once.
func (w *workloads) resolveOne(factor, level string, read func(level string) (workload.Workload, error)) error {
	if _, known := w.all[level]; known || level == "" {
		return nil
	}
	one, err := read(level)
	if err != nil {
		return fmt.Errorf("%s=%s: %w", factor, level, err)
	}
	if w.all == nil {
		w.all = map[string]workload.Workload{}
	}
	w.all[level] = one
	return nil
}

// readTimes reads recorded traffic for its times, or makes it of a log.
func (w *workloads) readTimes(ctx context.Context, name string) (workload.Workload, error) {
	of, err := w.read(ctx, name)
	if err == nil && of.Trace == nil {
		err = fmt.Errorf("%s is a workload file; expected recorded traffic, or a log (netdyno record --help)", name)
	}
	return of, err
}

// openBegin opens a file and reads how it begins.
func openBegin(name string) (f *os.File, begin []byte, err error) {
	if f, err = input.Open(name); err != nil {
		return nil, nil, err
	}
	begin = make([]byte, traffic.MostHeader+64)
	n, err := f.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, begin[:n], nil
}

// read reads a workload file, recorded traffic or a log.
func (w *workloads) read(ctx context.Context, name string) (workload.Workload, error) {
	f, begin, err := openBegin(name)
	if err != nil {
		return workload.Workload{}, err
	}
	if len(begin) == 0 {
		return workload.Workload{}, errors.Join(fmt.Errorf("%s is empty; expected a workload file, recorded traffic or a log", name), f.Close())
	}
	if traffic.Is(begin) {
		w.open = append(w.open, f)
		return readTrace(name, f)
	}
	_ = f.Close() // it was read alone
	if format, is := recorded.Guess(begin); is {
		made, err := w.made.file(ctx, format, name, w.say)
		if err != nil {
			return workload.Workload{}, err
		}
		return w.reopen(made)
	}
	file, err := ReadWorkload(ctx, name)
	if err == nil {
		err = sizeBodies(file, filepath.Dir(name))
	}
	return file.Workload, err
}

// sizeBodies gives classes whose bodies lie in files, beside the workload's, their sizes.
func sizeBodies(of source.WorkloadFile, directory string) error {
	for _, body := range of.Bodies {
		name, is := strings.CutPrefix(body.Text, "@")
		if !is {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(directory, name)
		}
		info, err := os.Stat(name)
		if err == nil && (!info.Mode().IsRegular() || info.Size() > contract.MaxMessage) {
			err = fmt.Errorf("%s has %d bytes or is no regular file; expected one of at most %d", name, info.Size(), int64(contract.MaxMessage))
		}
		if err != nil {
			return study.Errorf(body.At, "body: %s", err)
		}
		of.Classes[body.Class].UpBytes = info.Size()
	}
	return nil
}

// Replays tells whether a workload is recorded traffic, or a log that becomes it: its load
// is an open loop then, whatever else is said. What cannot be read is none.
func Replays(name string) bool {
	begin := beginOf(name)
	_, isLog := recorded.Guess(begin)
	return isLog || traffic.Is(begin)
}

// ReadWorkload reads a workload file. The error says what another tool's file is instead.
func ReadWorkload(ctx context.Context, name string) (w source.WorkloadFile, err error) {
	text, err := input.Within(ctx, source.MaxFile)(name)
	if err == nil {
		w, err = source.ReadWorkload(name, text)
	}
	if err != nil {
		if what, do := collection.Recognise(beginOf(name), name); what != "" {
			err = fmt.Errorf("%s is %s, and a workload is a workload file, recorded traffic or a log; %s", name, what, do)
		}
	}
	return w, err
}

// beginOf is how a file begins; nothing of what cannot be read.
func beginOf(name string) []byte {
	f, begin, err := openBegin(name)
	if err != nil {
		return nil
	}
	_ = f.Close() // it was read alone
	return begin
}

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

// reopen reads recorded traffic that was made.
func (w *workloads) reopen(made string) (workload.Workload, error) {
	f, err := input.Open(made)
	if err != nil {
		return workload.Workload{}, err
	}
	w.open = append(w.open, f)
	return readTrace(made, f)
}

// enter makes a trial's work that of its workload and of its times, if it has any.
func (w *workloads) enter(work study.Work, seed uint64) (_ study.Work, err error) {
	if work.Workload != "" {
		if work, err = w.all[work.Workload].Enter(work, seed); err != nil {
			return work, fmt.Errorf("workload=%s: %w", work.Workload, err)
		}
	}
	if work.ClientOptions["class_paths"] == "" {
		for _, c := range work.Load.Classes {
			for _, name := range workload.Named.FindAllString(c.Path, -1) {
				if name != "{key}" {
					return work, fmt.Errorf("workload=%s: class %s: path %q has %s; only {key} stands for something, and in a run by URL --data-from FILE and values that are made", work.Workload, c.Name, quantity.Clip(c.Path, 80), quantity.Clip(name, 40))
				}
			}
		}
	}
	if err := w.carryBodies(&work); err != nil {
		return work, err
	}
	if work.Times == "" {
		return work, nil
	}
	if work.Load.Trace != nil {
		return work, fmt.Errorf("arrival=%s contradicts workload=%s: recorded traffic has times of its own", work.Times, work.Workload)
	}
	err = w.all[work.Times].EnterTimes(&work, seed)
	return work, err
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
	return errors.Join(append(all, w.made.Remove())...)
}

// maxWorkloads bounds a run's own file of its workloads, in bytes.
const maxWorkloads = 64 << 20

// keep writes what a run is gone on with by this alone; nothing where there is none.
func keep[V any](path string, all map[string]V) error {
	if len(all) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return record.WriteFileAtomic(path, append(text, '\n'))
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

// carryBodies gives classes the sizes of what they send in place of random content, which
// option bodies of the clients has.
func (w *workloads) carryBodies(work *study.Work) error {
	level := work.ClientOptions["bodies"]
	if level == "" || len(work.Load.Classes) == 0 || work.Load.Trace != nil {
		return nil
	}
	if w.texts == nil {
		return nil
	}
	text, held := w.texts.held[level]
	if !held {
		return nil // the client says what is wrong with it
	}
	lines := strings.Split(strings.TrimSuffix(string(text.Bytes), "\n"), "\n")
	classes := slices.Clone(work.Load.Classes)
	for i, line := range lines[:min(len(lines), len(classes))] {
		if line != "" {
			n := base64.StdEncoding.DecodedLen(len(line)) - strings.Count(line, "=")
			classes[i].UpBytes, classes[i].UpSizes = int64(n), nil
		}
	}
	work.Load.Classes = classes
	work.Exchange = workload.Workload{Classes: classes}.Exchange(work.Exchange)
	if most := work.Exchange.UpBytes; most > contract.MaxMessage {
		return fmt.Errorf("a class sends %d bytes, expected at most %d", most, int64(contract.MaxMessage))
	}
	return nil
}
