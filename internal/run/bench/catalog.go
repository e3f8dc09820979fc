package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// WorkerPrefix is how worker executables are named.
const WorkerPrefix = "netdyno-worker-"

// Program is one worker executable and its hello.
type Program struct {
	Path  string
	Hello contract.Hello

	Message string // level of factor message whose generated code it was built with; empty for one that was found

	sum func() (string, error)
}

// SHA256 returns the sum of the file in hexadecimal digits. It is taken when first
// asked for: most of the programs that are found take no part.
func (p *Program) SHA256() (string, error) { return p.sum() }

// Catalog is every worker found, and every one that could not introduce
// itself, by the reason.
type Catalog struct {
	Programs []Program
	Absent   []record.Warning
	Builds   map[string]*Catalog // by level of factor build: what a trial of that level finds
	Messages map[string]*Catalog // by level of factor message, those that workers were built for
}

// catalogFor returns the catalog for a trial's build and message.
func (c *Catalog) catalogFor(w study.Work) *Catalog {
	if own := c.Builds[w.Build]; own != nil {
		c = own
	}
	if own := c.Messages[w.Message]; own != nil {
		return own
	}
	return c
}

// Build adds a directory of workers as a level of factor build: they come
// before those of the catalog that have the same file name. The error tells
// that there are none in it.
func (c *Catalog) Build(ctx context.Context, directory string) error {
	own := Discover(ctx, []string{directory})
	for _, a := range own.Absent {
		return fmt.Errorf("build=%s: %s: %s", directory, a.About, a.Text)
	}
	if len(own.Programs) == 0 {
		return fmt.Errorf("build=%s: no file there is named %s* and can be executed", directory, WorkerPrefix)
	}
	for _, p := range c.Programs {
		if !slices.ContainsFunc(own.Programs, func(o Program) bool { return filepath.Base(o.Path) == filepath.Base(p.Path) }) {
			own.Programs = append(own.Programs, p)
		}
	}
	if c.Builds == nil {
		c.Builds = map[string]*Catalog{}
	}
	c.Builds[directory] = &own
	return nil
}

// Discover finds worker executables in the given directories, the first of a
// name wins, and asks each to introduce itself.
func Discover(ctx context.Context, directories []string) Catalog {
	paths := executables(directories)
	found := make([]Program, len(paths))
	reasons := make([]error, len(paths))
	var group errgroup.Group
	group.SetLimit(introductions)
	for i, path := range paths {
		group.Go(func() error {
			found[i], reasons[i] = introduce(ctx, path)
			return nil
		})
	}
	_ = group.Wait() // the reasons are kept one by one
	var c Catalog
	for i, p := range found {
		if reasons[i] != nil {
			c.Absent = append(c.Absent, record.Warning{
				About: filepath.Base(paths[i]), Text: reasons[i].Error(),
				Advice: "run `netdyno check " + paths[i] + "`",
			})
			continue
		}
		c.Programs = append(c.Programs, p)
	}
	return c
}

// Offered returns a transport as the worker of the given file name describes it; ok is
// false when no directory has such a worker. No other program is asked.
func Offered(ctx context.Context, directories []string, program, transport string) (contract.Transport, bool) {
	for _, path := range executables(directories) {
		if filepath.Base(path) != program {
			continue
		}
		found, err := introduce(ctx, path)
		if err != nil {
			break
		}
		for _, offered := range found.Hello.Transports {
			if offered.Name == transport {
				return offered, true
			}
		}
		break
	}
	return contract.Transport{}, false
}

func executables(directories []string) []string {
	var paths []string
	seen := map[string]bool{}
	for _, dir := range directories {
		matches, _ := filepath.Glob(filepath.Join(dir, WorkerPrefix+"*")) // the pattern is well formed
		slices.Sort(matches)
		for _, path := range matches {
			info, err := os.Stat(path)
			if err != nil || info.IsDir() || info.Mode()&0o111 == 0 || seen[filepath.Base(path)] {
				continue
			}
			seen[filepath.Base(path)] = true
			paths = append(paths, path)
		}
	}
	return paths
}

// introductions is how many programs are asked at once: each takes descriptors of
// ours, and there may be any number on PATH.
const introductions = 8

// The bounds for a program that is only asked what it is. Several are at once, beside
// whatever else keeps the host busy, and a virtual machine computes for a second until it
// speaks: so the first is for one that computes nothing.
const (
	helloTimeout   = 10 * time.Second
	starvedTimeout = time.Minute
)

// introduce hears what a worker of this host says of itself.
func introduce(ctx context.Context, path string) (Program, error) {
	said, err := hello(ctx, path)
	sum := sync.OnceValues(func() (string, error) { return rig.HashFile(path) })
	return Program{Path: path, Hello: said, sum: sum}, err
}

// RunsOn reports why a worker does not run at a host, such as a missing library or
// another architecture; nil when the worker prints its hello there.
func RunsOn(ctx context.Context, h rig.Host, path string) error {
	_, err := hear(ctx, filepath.Base(path), h.Command(path), syscall.SIGTERM) // a launcher has something to end
	return err
}

// hear runs a worker just long enough to hear its hello. It gets the signal when
// we die meanwhile.
func hear(ctx context.Context, path string, argv []string, atOurDeath syscall.Signal) (contract.Hello, error) {
	process, err := rig.Start(argv, rig.Options{DeathSignal: atOurDeath})
	if err != nil {
		return contract.Hello{}, err
	}
	listening, heard := context.WithCancel(ctx)
	defer func() {
		heard()
		process.CloseInput()
		if ctx.Err() != nil || process.Wait(2*time.Second).Running {
			process.Kill()
			process.Wait(2 * time.Second)
		}
	}()
	select {
	case m, ok := <-process.Messages():
		switch {
		case !ok:
			process.Wait(time.Second) // by when all that it said is read
			return contract.Hello{}, fmt.Errorf("%s ended without a hello; it said on stderr: %s", path, cmp.Or(process.Stderr(), "nothing"))
		case m.Err != nil:
			return contract.Hello{}, fmt.Errorf("%s: %w", path, m.Err)
		case m.Message.Hello == nil:
			return contract.Hello{}, fmt.Errorf("%s began with %s, expected hello (CONTRACT.md, section hello)", path, m.Message.Name())
		case m.Message.Hello.Contract != contract.Version:
			return contract.Hello{}, fmt.Errorf("%s speaks contract %d, this netdyno speaks %d", path, m.Message.Hello.Contract, contract.Version)
		}
		return *m.Message.Hello, nil
	case took := <-silent(listening, process, helloTimeout, starvedTimeout):
		return contract.Hello{}, fmt.Errorf("%s said nothing for %v, expected hello (CONTRACT.md, section hello)", path, took)
	case <-ctx.Done():
		return contract.Hello{}, context.Cause(ctx)
	}
}

// silent tells, within ctx, that a program is to be given up, and after how long: it has
// computed nothing for idle, or said nothing for most.
func silent(ctx context.Context, p *rig.Process, idle, most time.Duration) <-chan time.Duration {
	gaveUp := make(chan time.Duration, 1)
	go func() {
		const step = 200 * time.Millisecond
		begun := time.Now()
		computed, at := p.CPUTime(), begun
		for time.Since(at) < idle && time.Since(begun) < most {
			select {
			case <-time.After(step):
			case <-ctx.Done():
				return
			}
			if now := p.CPUTime(); now > computed {
				computed, at = now, time.Now()
			}
		}
		gaveUp <- time.Since(begun).Round(step)
	}()
	return gaveUp
}

// Without returns the catalog less programs, by their paths.
func (c *Catalog) Without(paths []string) *Catalog {
	rest := &Catalog{Absent: c.Absent, Builds: map[string]*Catalog{}, Messages: map[string]*Catalog{}}
	for _, p := range c.Programs {
		if !slices.Contains(paths, p.Path) {
			rest.Programs = append(rest.Programs, p)
		}
	}
	for directory, own := range c.Builds {
		rest.Builds[directory] = own.Without(paths)
	}
	for level, own := range c.Messages {
		rest.Messages[level] = own.Without(paths)
	}
	return rest
}

// Binaries identifies the programs that which is true of, for a run's facts: by file
// name, those of a build by their path, those built for a message with its level.
func (c *Catalog) Binaries(which func(Program) bool) (map[string]record.Binary, error) {
	out := map[string]record.Binary{}
	var unread []error
	enter := func(directory string, p Program) { // "" for what stands for no build
		name := filepath.Join(directory, filepath.Base(p.Path))
		if !which(p) {
			return
		}
		if p.Message != "" {
			name += " for " + p.Message
		}
		sum, err := p.SHA256()
		if err != nil {
			unread = append(unread, err)
		}
		out[name] = record.Binary{SHA256: sum, Version: p.Hello.Version, Libraries: p.Hello.Libraries, Message: p.Message}
	}
	built := func(directory string, of *Catalog) {
		for _, own := range of.Messages {
			for _, p := range own.Programs {
				if p.Message != "" {
					enter(directory, p)
				}
			}
		}
	}
	for _, p := range c.Programs {
		enter("", p)
	}
	for directory, own := range c.Builds {
		for _, p := range own.Programs {
			if filepath.Dir(p.Path) == filepath.Clean(directory) {
				enter(directory, p)
			}
		}
		built(directory, own)
	}
	built("", c)
	return out, errors.Join(unread...)
}

// Carriers returns the programs of a trial's ends, as far as they are here.
func (c *Catalog) Carriers(w study.Work) []Program {
	var all []Program
	for _, transport := range []string{w.Server, w.Client} {
		offer, err := c.catalogFor(w).Offer(transport, w.Exchange.Codec)
		if err == nil && !slices.ContainsFunc(all, func(p Program) bool { return p.Path == offer.Program.Path }) {
			all = append(all, *offer.Program)
		}
	}
	return all
}

// Message makes trials of one level of factor message use other executables:
// built maps the path of a program to the path of the program with the
// message's code in it. The error is about an executable that offers anything
// else than the program it was built from.
func (c *Catalog) Message(ctx context.Context, level string, built map[string]string) error {
	own := &Catalog{Absent: c.Absent}
	for _, p := range c.Programs {
		if path := built[p.Path]; path != "" {
			again, err := introduce(ctx, path)
			if err != nil {
				return fmt.Errorf("%s, built for message %s: %w", filepath.Base(path), level, err)
			}
			if !sameOffers(p.Hello, again.Hello) {
				return fmt.Errorf("%s, built for message %s, has other transports than the worker that it was built from", filepath.Base(path), level)
			}
			again.Message = level
			p = again
		}
		own.Programs = append(own.Programs, p)
	}
	if c.Messages == nil {
		c.Messages = map[string]*Catalog{}
	}
	c.Messages[level] = own
	for _, build := range c.Builds {
		if err := build.Message(ctx, level, built); err != nil {
			return err
		}
	}
	return nil
}

func sameOffers(a, b contract.Hello) bool {
	return slices.EqualFunc(a.Transports, b.Transports, func(x, y contract.Transport) bool {
		return x.Name == y.Name && x.Wire == y.Wire && slices.Equal(x.Codecs, y.Codecs)
	})
}
