package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/run/recorded"
	"netdyno/internal/run/workload"
	"netdyno/internal/traffic"
)

// Recordings are what was made of logs, each once, in files that go with the process. One
// goroutine uses it.
type Recordings struct {
	directory string
	byName    map[string]string
}

// file makes recorded traffic of a log, with paths: a server shall be asked what it was
// asked.
func (r *Recordings) file(ctx context.Context, format recorded.Format, name string, say func(string)) (string, error) {
	if made := r.byName[name]; made != "" {
		return made, nil
	}
	to, err := (&texts{}).elsewhere(fmt.Sprintf("recorded-%d", len(r.byName)))
	if err != nil {
		return "", err
	}
	r.directory = filepath.Dir(to)
	if err := os.MkdirAll(r.directory, 0o700); err != nil {
		return "", err
	}
	summary, err := recorded.File(ctx, to, format, []string{name}, recorded.Options{Paths: true})
	if err != nil {
		return "", fmt.Errorf("%w (netdyno record %s %s says more)", err, format.Name, name)
	}
	text := fmt.Sprintf("%s: %s of %d classes in %s", name, quantity.Plural(int(summary.Requests), "request"), len(summary.Classes), quantity.FormatDuration(summary.Span))
	if left := summary.LeftOutWords(); left != "" {
		text += "; left out: " + left
	}
	if hosts := summary.HostsWords(); hosts != "" {
		text += "; " + hosts
	}
	say(text)
	if r.byName == nil {
		r.byName = map[string]string{}
	}
	r.byName[name] = to
	return to, nil
}

// Remove removes what was made.
func (r *Recordings) Remove() error {
	if r == nil || r.directory == "" {
		return nil
	}
	return os.RemoveAll(r.directory)
}

// Asked is a class of recorded traffic, and the first of its requests.
type Asked struct {
	contract.Class
	workload.Mean
	Path    string          // "" where none was recorded
	Carried traffic.Carried // nothing where it was not recorded
}

// Read reads the classes of recorded traffic, or of a log of which it is made.
func (r *Recordings) Read(ctx context.Context, name string, say func(string)) (all []Asked, err error) {
	w := workloads{made: r, say: say}
	of, err := w.read(ctx, name)
	defer func() {
		for _, f := range w.open {
			_ = f.Close() // it was read alone
		}
	}()
	if err != nil || of.Trace == nil {
		return nil, err
	}
	seen := make([]bool, len(of.Classes))
	for i, c := range of.Classes {
		all = append(all, Asked{Class: c, Mean: of.Means[i]})
	}
	const most = 1 << 20 // requests, in which a class that is not rare comes
	from, err := of.Trace.From(0)
	for n := 0; err == nil && n < most; n++ {
		x, ended := from.Next()
		if ended != nil { // what is damaged shows when it is replayed
			break
		}
		if x.Class >= len(all) || seen[x.Class] {
			continue
		}
		seen[x.Class] = true
		if x.Path != traffic.NoPath {
			all[x.Class].Path, all[x.Class].Carried = of.Trace.Paths[x.Path], of.Trace.Carried[x.Path]
		}
	}
	return all, err
}
