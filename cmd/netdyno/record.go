package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/quantity"
	"netdyno/internal/run/recorded"
)

// recording is how a log becomes recorded traffic.
type recording struct {
	recorded.Options
	out string
}

func recordCommand() *cobra.Command {
	var r recording
	c := &cobra.Command{
		Use:   "record FORMAT FILE…",
		Short: "Make recorded traffic of logs: " + namesOf(recordFormats()),
		Long: `Make recorded traffic of logs: when requests came, of which class, and how
much went up and down. Bodies, headers, addresses and query strings are never kept, and
paths only with --paths. Several files are given from the oldest to the newest; a
compressed one (gzip) is read as it is, and - is standard input. Memory does not grow with
the number of requests.

` + recordFormatHelp() + `
Lines that are no request are counted by what is wrong, and the first ten shown.
netdyno URL --workload OUT replays what was made (docs/workloads.md).`,
		Example: `  netdyno record nginx /var/log/nginx/access.log.1 /var/log/nginx/access.log --paths -o access.rec
  netdyno record jsonl requests.jsonl
  netdyno record har shop.har`,
		Args: cobra.MinimumNArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, typed []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(typed) == 0 {
				return shown(recordFormats(), begun)
			}
			return nil, cobra.ShellCompDirectiveDefault // files
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.run(c.Context(), args[0], args[1:]); err != nil {
				var s *status
				if errors.As(err, &s) {
					return err
				}
				return fmt.Errorf("record: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&r.out, "out", "o", "", "write to `FILE`; beside the first FILE, as .rec, unless given")
	c.Flags().BoolVar(&r.Paths, "paths", false, "keep the paths of requests, without their query strings")
	return c
}

// recordFormats are what FORMAT may be, each with its meaning.
func recordFormats() (words []suggestion) {
	for _, f := range recorded.Formats() {
		words = append(words, suggestion{text: f.Name, doc: f.Doc})
	}
	return words
}

func recordFormatHelp() string {
	var b strings.Builder
	for _, f := range recorded.Formats() {
		fmt.Fprintf(&b, "  %-8s %s\n", f.Name, f.Doc)
	}
	return b.String()
}

func (r recording) run(ctx context.Context, name string, files []string) error {
	format, err := recorded.Named(name)
	if err != nil {
		return err
	}
	if r.out == "" {
		if files[0] == "-" {
			return errors.New("standard input has no name; say where to write with -o FILE")
		}
		r.out = strings.TrimSuffix(files[0], filepath.Ext(files[0])) + ".rec"
	}
	summary, err := recorded.File(ctx, r.out, format, files, r.Options)
	for _, line := range summary.FirstShown {
		stderr.say("  %s", line)
	}
	if err != nil {
		return err
	}
	showSummary(summary)
	stdout.say("%s: netdyno URL --workload %s replays it", r.out, r.out)
	if words := summary.LeftOutWords(); words != "" {
		return &status{statusUnmet, fmt.Errorf("left out: %s", words)}
	}
	return nil
}

// showSummary says what was recorded.
func showSummary(s recorded.Summary) {
	stdout.say("%s in %s from %s on", quantity.Plural(int(s.Requests), "request"), quantity.FormatDuration(s.Span), s.From.Format(time.DateTime))
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "class\trequests\tup, mean\tdown, mean\n")
	for _, c := range s.Classes {
		n := float64(c.Requests)
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", c.Name, c.Requests, quantity.FormatBytes(float64(c.Up)/n), quantity.FormatBytes(float64(c.Down)/n))
	}
	_ = w.Flush() // into memory
	for line := range strings.Lines(b.String()) {
		stdout.say("%s", strings.TrimRight(line, "\n"))
	}
	if s.Grain > time.Millisecond {
		stdout.say("times are known to %s: within it requests are placed evenly likely", quantity.FormatDuration(s.Grain))
	}
	if s.Sorted > 0 {
		stdout.say("%s came after a later one and was put in order", quantity.Plural(int(s.Sorted), "request"))
	}
	if s.Paths > 0 {
		stdout.say("%s, without query strings", quantity.Plural(s.Paths, "path"))
	}
	if s.PathsLeft > 0 {
		stdout.say("%s came after as many paths as a file holds, and have none", quantity.Plural(int(s.PathsLeft), "request"))
	}
}
