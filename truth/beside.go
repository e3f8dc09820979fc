package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
)

// besideLoad runs the same comparisons on the machine as it is and beside one busy
// process per CPU, which turns ratios round: none may be judged otherwise there, and the
// answer must say what the figures were measured beside.
func besideLoad(ctx context.Context, p *pipeline) ([]answer, error) {
	const blocks = "blocks=8"
	shapes := [][]string{
		{"connections=32", "placement=free"},
		{"connections=50", "rate=2000"},
		{"connections=8", "request=64KiB", "response=64KiB", "placement=free"},
	}
	judged, turned, lost, said := 0, 0, 0, 0
	for _, shape := range shapes {
		args := append([]string{
			"transport=go-net,go-epoll,threads", blocks, "window=400ms", "warmup=100ms",
			"compare.primary=exchanges_per_s,server.cpu_us_per_exchange,service_p50_us,service_p99_us",
		}, shape...)
		quiet, err := p.study(ctx, args...)
		if err != nil {
			return nil, err
		}
		stop := busyCPUs(ctx)
		busy, err := p.judged(ctx, args...)
		stop()
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(busy.Answer.Weakens, func(line string) bool { return strings.HasPrefix(line, "other processes used") }) {
			said++
		} else {
			fmt.Fprintf(os.Stderr, "  the answer begins with %q\n", busy.Answer.Sentence)
		}
		was := verdicts(quiet)
		for what, verdict := range verdicts(busy) {
			switch {
			case !apart(verdict) && apart(was[what]):
				lost++
			case !apart(verdict):
			case apart(was[what]) && was[what] != verdict:
				turned++
				fmt.Fprintf(os.Stderr, "  %s was %s and is %s\n", what, was[what], verdict)
				fallthrough
			default:
				judged++
			}
		}
	}
	return []answer{
		{"comparisons beside a busy process per CPU that are judged the other way than without", fmt.Sprintf("%d of %d judged (%d not judged there alone)", turned, judged, lost), "0", turned == 0},
		{"answers beside a busy process per CPU that begin with it", share(said, len(shapes)), "all", said == len(shapes)},
	}, nil
}

// verdicts are those of the primary comparisons, by metric and arms.
func verdicts(f finding.Findings) map[string]compare.Verdict {
	all := map[string]compare.Verdict{}
	for _, c := range f.Comparisons {
		if c.Primary {
			all[c.Metric+" of "+c.Arm+" against "+c.Base+" at "+c.Cell] = c.Verdict
		}
	}
	return all
}

func apart(v compare.Verdict) bool { return v == compare.Better || v == compare.Worse }

// busyCPUs keeps every CPU busy with a process of its own until it is stopped.
func busyCPUs(ctx context.Context) (stop func()) {
	var all []*exec.Cmd
	for range runtime.NumCPU() {
		c := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "  no busy process:", err) // which the answers show
			continue
		}
		all = append(all, c)
	}
	return func() {
		for _, c := range all {
			_ = c.Process.Kill() // it does nothing else
			_ = c.Wait()         // it was killed
		}
	}
}
