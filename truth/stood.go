package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/session"
)

// stoodStill freezes clients of closed loops with their meters for 2 to 20 % of the
// window, as a host or a hypervisor does, and counts the trials that lose their rate;
// and those that lose it though nothing was frozen.
func stoodStill(ctx context.Context, p *pipeline) ([]answer, error) {
	ends := map[string][]string{
		"netdyno-worker-connect": {"server=go-grpc", "client=go-connect-grpc"},
		"netdyno-worker-asio":    {"server=go-net", "client=asio"},
	}
	const repeats = 5
	var answers []answer
	for _, window := range []time.Duration{time.Second, 2 * time.Second} {
		for _, share := range []float64{0.03, 0.05, 0.1, 0.2} {
			found, all := 0, 0
			for program, levels := range ends {
				for range repeats {
					one, err := p.frozen(ctx, program, time.Duration(share*float64(window)), window, levels)
					if err != nil {
						return answers, err
					}
					all++
					if slices.Contains(one.Flags, trial.Stalled) {
						found++
					} else {
						fmt.Fprintf(os.Stderr, "  %s for %.0f %% of %s: %s %v %s\n", program, 100*share, window, one.Status, one.Flags, one.Reason)
					}
				}
			}
			answers = append(answers, answer{
				fmt.Sprintf("clients that stood still for %.0f %% of %s and lost their rate", 100*share, window),
				fmt.Sprintf("%d of %d", found, all), "all", found == all,
			})
		}
	}
	quiet, all := 0, 0
	for _, levels := range ends {
		f, err := p.judged(ctx, append([]string{"connections=4", "request=100B", "warmup=200ms", "window=1s", "blocks=20"}, levels...)...)
		if err != nil {
			return answers, err
		}
		for _, v := range f.Trials {
			all++
			if slices.Contains(v.Trial.Flags, trial.Stalled) {
				quiet++
				fmt.Fprintf(os.Stderr, "  nothing was frozen: %s\n", v.Trial.Reason)
			}
		}
	}
	low, high := stat.Proportion(quiet, all)
	return append(answers, answer{
		"trials of 1 s in which nothing was frozen, and that are said to have stood still",
		fmt.Sprintf("%d of %d (%.1f–%.1f %%)", quiet, all, 100*low, 100*high), "at most 5 %", 20*quiet <= all,
	}), nil
}

// judged runs a typed study and judges each trial, however many are not valid.
func (p *pipeline) judged(ctx context.Context, args ...string) (finding.Findings, error) {
	header, trials, records, err := p.records(ctx, args...)
	if err != nil {
		return finding.Findings{}, err
	}
	return finding.Find(header, trials, records)
}

// frozen runs one trial whose client's program is frozen inside the window.
func (p *pipeline) frozen(ctx context.Context, program string, length, window time.Duration, levels []string) (trial.Trial, error) {
	header, trials, err := session.TrialsOf(append([]string{"connections=4", "request=100B", "warmup=600ms", "window=" + window.String(), "blocks=1"}, levels...)...)
	if err != nil {
		return trial.Trial{}, err
	}
	header.CreatedAt, header.Facts, trials = time.Now().UTC(), p.facts, trials[:1]
	var (
		ticks  atomic.Int64
		thaw   sync.WaitGroup
		failed error
	)
	const inside = 4 // the tick, of which there are five a second, 0.2 s after the opening
	b := p.on(p.bench.Rig).bench
	b.Observe = func(e bench.Event) {
		if e.Tick != nil && ticks.Add(1) == inside {
			failed = freeze(program, length, &thaw)
		}
	}
	records, err := session.Conduct(ctx, b, trials)
	thaw.Wait()
	if err == nil {
		err = failed
	}
	if err != nil {
		return trial.Trial{}, err
	}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		return trial.Trial{}, err
	}
	return f.Trials[0].Trial, nil
}

// freeze stops a worker of this process's with its meter, and lets both go on after a
// while.
func freeze(program string, length time.Duration, thaw *sync.WaitGroup) error {
	for _, meter := range children(os.Getpid()) {
		for _, worker := range children(meter) {
			path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", worker))
			if filepath.Base(path) != program {
				continue
			}
			for _, pid := range []int{meter, worker} {
				if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
					return fmt.Errorf("stop process %d: %w", pid, err)
				}
			}
			thaw.Go(func() {
				time.Sleep(length) // what is injected
				_ = syscall.Kill(worker, syscall.SIGCONT)
				_ = syscall.Kill(meter, syscall.SIGCONT)
			})
			return nil
		}
	}
	return fmt.Errorf("no %s runs", program)
}

// children returns the child processes of one.
func children(pid int) []int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var all []int
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil && !slices.Contains(all, child) {
				all = append(all, child)
			}
		}
	}
	return all
}
