// Package limits provokes limits and faults of a trial: a starved end, a small window
// over a long way, a link that slows down in mid-trial, a server that falls into a timer.
// Each scenario knows how the reader must name it. The package's test reads trials that
// were recorded once; make truth provokes every scenario anew, and needs root for those
// that have a link.
package limits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
	"netdyno/internal/run/session"
)

// Scenario is a load with a cause of trouble, and the name that follows.
type Scenario struct {
	Name  string
	Args  []string // of the study, beside its blocks, window and warm-up
	Want  string   // a limit, a flag of a trial, or a verdict
	Proof []string // must be in the words that come with it

	blocks   int                                                    // 0 for the first trial alone
	window   time.Duration                                          // 0 for a second
	link     bool                                                   // on namespaces with a link
	hidden   float64                                                // bits per second of the link, of which the levels say nothing; 0 for as they say
	busyHost bool                                                   // beside a busy process for each CPU
	serve    func(dir string) (level []string, end func(), e error) // a server of the scenario's own, as levels
	halfway  func(context.Context, rig.Rig) error                   // in the middle of the first trial's window
	read     func(finding.Findings, Scenario) (got, proof string)
}

// Named is what the reader called a scenario's trial.
type Named struct {
	Got, Want string
	Proof     string // the reader's words
	OK        bool   // the right name, by the right proof
}

// ErrBusy is an answer that may be wrong because other programs kept the host
// busy.
var ErrBusy = errors.New("other programs kept the host busy")

const (
	warmup   = 300 * time.Millisecond
	attempts = 4               // as long as the host is busy with other things
	settle   = 2 * time.Second // between them
)

// Provoke carries the scenario out with the programs in directory bin, where `make build`
// puts them, and reads what became of it. When the answer is wrong and other programs
// used the host meanwhile, the scenario is repeated; the right answer has no part in
// deciding that. After four such answers the last is returned with ErrBusy. Any other
// error says that nothing could be provoked. Provoke ends whatever it began. One
// goroutine at a time may call it: scenarios would disturb each other.
func (s Scenario) Provoke(ctx context.Context, bin string) (Named, error) {
	_, answer, err := s.provoke(ctx, bin)
	return answer, err
}

// provoke returns the trials of its last attempt, too.
func (s Scenario) provoke(ctx context.Context, bin string) (run, Named, error) {
	var last run
	var answer Named
	for range attempts {
		var err error
		if last, err = s.conduct(ctx, bin); err == nil {
			answer, err = s.decide(last)
		}
		if err != nil {
			return last, answer, fmt.Errorf("provoke %s: %w", s.Name, err)
		}
		if answer.OK || !disturbed(last.records) {
			return last, answer, nil
		}
		select {
		case <-ctx.Done():
			return last, answer, context.Cause(ctx)
		case <-time.After(settle):
		}
	}
	return last, answer, fmt.Errorf("provoke %s: %w in %d of %d attempts", s.Name, ErrBusy, attempts, attempts)
}

// decide reads trials and says what the reader calls them.
func (s Scenario) decide(r run) (Named, error) {
	f, err := finding.Find(r.header, r.trials, r.records)
	if err != nil {
		return Named{}, err
	}
	answer := Named{Want: s.Want}
	answer.Got, answer.Proof = s.read(f, s)
	answer.OK = answer.Got == s.Want && !slices.ContainsFunc(s.Proof, func(part string) bool { return !strings.Contains(answer.Proof, part) })
	return answer, nil
}

// conduct carries out the scenario's trials once.
func (s Scenario) conduct(ctx context.Context, bin string) (_ run, err error) {
	var none run
	b, err := s.bench(ctx, bin)
	if err != nil {
		return none, err
	}
	defer func() { err = errors.Join(err, b.Rig.Close()) }()
	args := slices.Clone(s.Args)
	if s.serve != nil {
		dir, err := os.MkdirTemp("", "netdyno-limits-")
		if err != nil {
			return none, err
		}
		defer func() { _ = os.RemoveAll(dir) }() // a few files of ours in a temporary directory
		levels, end, err := s.serve(dir)
		if err != nil {
			return none, err
		}
		defer end()
		args = append(args, levels...)
	}
	header, trials, err := s.plan(args)
	if err != nil {
		return none, err
	}
	if s.busyHost {
		alone, err := fillCPUs(ctx)
		defer alone()
		if err != nil {
			return none, err
		}
	}
	wait := s.disturbHalfway(ctx, b)
	records, err := session.Conduct(ctx, b, trials)
	return run{header, trials, records}, errors.Join(err, wait())
}

func (s Scenario) plan(args []string) (record.Header, []record.Trial, error) {
	args = append(args, fmt.Sprintf("blocks=%d", max(s.blocks, 1)), "window="+s.length().String(), "warmup="+warmup.String())
	header, trials, err := session.TrialsOf(args...)
	if err != nil {
		return header, nil, err
	}
	if s.blocks == 0 {
		trials = trials[:1]
	}
	return header, trials, nil
}

// length is that of the window.
func (s Scenario) length() time.Duration { return cmp.Or(s.window, time.Second) }

// bench returns what the scenario's trials run on; whoever gets it closes its rig.
func (s Scenario) bench(ctx context.Context, bin string) (*bench.Bench, error) {
	b, err := session.OnLoopback(ctx, bin)
	if err != nil || !s.link {
		return b, err
	}
	on, err := namespaces.Build(namespaces.Options{Hosts: 2})
	if err != nil {
		return nil, err
	}
	b.Rig = &longWay{Rig: on}
	if s.hidden > 0 {
		b.Rig = slowLink{on, s.hidden}
	}
	return b, nil
}

// disturbHalfway does what the scenario does in mid-window, seen from the first
// sign of the load. The returned function waits for it.
func (s Scenario) disturbHalfway(ctx context.Context, b *bench.Bench) (wait func() error) {
	if s.halfway == nil {
		return func() error { return nil }
	}
	began, done := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	b.Observe = func(e bench.Event) {
		if e.Tick != nil {
			once.Do(func() { close(began) })
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-began:
			time.Sleep(warmup + s.length()/2)
			done <- s.halfway(ctx, b.Rig)
		case <-ctx.Done():
			done <- nil // the trial ended without a load, and says why
		}
	}()
	return func() error {
		select {
		case <-began:
		default:
			cancel()
		}
		err := <-done
		cancel()
		return err
	}
}

// disturbed tells whether programs that are none of the trial's used more of
// its host's CPUs than the bench itself may, or the hypervisor took them away.
func disturbed(records []record.Record) bool {
	const share, stolen = 0.05, 0.10
	for i := range records {
		w := record.NewWindow(&records[i])
		for _, h := range w.Hosts() {
			from, to, length, ok := h.Metered()
			if !ok {
				continue
			}
			others, steal := 0.0, 0.0
			for j, cpu := range to.CPUs {
				before := from.CPUs[j]
				steal += float64(cpu.StealNs-before.StealNs) / 1e9 / length
				others += float64(cpu.UserNs-before.UserNs+cpu.NiceNs-before.NiceNs+cpu.SystemNs-before.SystemNs) / 1e9 / length
			}
			for j := range records[i].Workers {
				if s, ok := record.SpanOf(&records[i].Workers[j]); ok {
					cores, _ := s.Cores()
					others -= cores
				}
			}
			if cpus := float64(len(to.CPUs)); others > share*cpus || steal > stolen*cpus {
				return true
			}
		}
	}
	return false
}
