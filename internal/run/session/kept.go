package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/workload"
)

// mostKept bounds recorded traffic that is copied into a run's directory, in bytes: some
// thirty million requests. What is larger stays where it is, which is said.
const mostKept = 256 << 20

// bounded warns of recorded traffic that is too large to be copied.
func (w *workloads) bounded(level string, of workload.Workload) {
	if of.TraceFile == "" {
		return
	}
	info, err := os.Stat(of.TraceFile)
	if err != nil || info.Size() <= w.mostKept() {
		return // what cannot be looked at is refused where it is opened
	}
	w.warnings = append(w.warnings, record.Warning{
		About:  "recorded traffic",
		Text:   fmt.Sprintf("%s has %s and is not copied into the run's directory, which takes at most %s", level, quantity.FormatBytes(float64(info.Size())), quantity.FormatBytes(float64(w.mostKept()))),
		Advice: "leave the file where it is and as it is while the run may be gone on with",
	})
}

func (w *workloads) mostKept() int64 {
	if w.most > 0 {
		return w.most
	}
	return mostKept
}

// keep copies recorded traffic into the run's directory, under its hash, so that going on
// with the run needs nothing else. Where nothing is brought to hosts the trials replay the
// copy, so that the file may go or grow meanwhile.
func (w *workloads) keep(d Directory, brought bool) error {
	for level, one := range w.all {
		if one.TraceFile == "" || one.Given != "" {
			continue
		}
		info, err := os.Stat(one.TraceFile)
		if err != nil || info.Size() > w.mostKept() {
			if err != nil {
				return err
			}
			continue
		}
		kept, err := d.copyGiven(one.TraceFile)
		if err != nil {
			return fmt.Errorf("copy %s into the run's directory: %w", one.TraceFile, err)
		}
		if one.Given = filepath.Base(kept); !brought {
			if one.TraceFile, err = filepath.Abs(kept); err != nil {
				return err
			}
		}
		w.all[level] = one
	}
	return nil
}

// copyGiven copies a file to its place by its hash, and returns that.
func (d Directory) copyGiven(name string) (kept string, err error) {
	if err := os.MkdirAll(d.Given(), 0o700); err != nil {
		return "", err
	}
	from, err := input.Open(name)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.CreateTemp(d.Given(), ".copy-*") // mode 0600
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, sum), from)
	if err = errors.Join(err, to.Close()); err == nil {
		kept = filepath.Join(d.Given(), hex.EncodeToString(sum.Sum(nil)))
		err = os.Rename(to.Name(), kept)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(to.Name()))
	}
	return kept, nil
}

// begunWith returns what the workloads of a run said when it began; nothing of a directory
// without any.
func (d Directory) begunWith() (map[string]workload.Workload, error) {
	if d == "" {
		return nil, nil
	}
	text, err := input.Whole(d.Workloads(), maxWorkloads)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all map[string]workload.Workload
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("resume: %s: %w", d.Workloads(), err)
	}
	return all, nil
}

// fromRun returns a workload as the run began with it, recorded traffic from its copy;
// false where the run's directory does not have it.
func (w *workloads) fromRun(level string) (workload.Workload, bool, error) {
	of, known := w.begun[level]
	if !known || of.Sum != "" && of.Given == "" {
		return of, false, nil
	}
	if of.Sum == "" {
		return of, true, nil
	}
	kept := filepath.Join(w.dir.Given(), filepath.Base(of.Given))
	f, err := input.Open(kept)
	if errors.Is(err, fs.ErrNotExist) {
		return of, false, nil
	}
	if err != nil {
		return of, false, err
	}
	w.open = append(w.open, f)
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return of, false, err
	}
	if hex.EncodeToString(sum.Sum(nil)) != of.Given {
		return of, false, fmt.Errorf("%s is not what the run began with: it is damaged", kept)
	}
	copied, err := readTrace(kept, f)
	of.Trace, of.TraceFile = copied.Trace, copied.TraceFile
	return of, true, err
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
