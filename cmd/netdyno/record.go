package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
	"netdyno/internal/run/collection"
	"netdyno/internal/run/recorded"
)

// recording is how a log becomes recorded traffic, or a collection a workload file.
type recording struct {
	recorded.Options
	collection collection.Options
	out        string
}

func recordCommand() *cobra.Command {
	var r recording
	c := &cobra.Command{
		Use:   "record FORMAT FILE…",
		Short: "Make a workload of logs, collections and API documents: " + namesOf(recordFormats()),
		Long: `Make a workload of what you have, which netdyno URL --workload OUT runs.

` + recordFormatHelp() + `
Of a log it is recorded traffic: when requests came, of which class, and how much went up
and down. Headers, addresses and query strings are never kept, paths only with --paths, and
bodies only of an HTTP archive. Several files are given from the oldest to the newest; a
compressed one (gzip) is read as it is, and - is standard input. Memory does not grow with
the number of requests. Lines that are no request are counted by what is wrong, and the
first ten shown.

Of a collection it is a workload file to read and edit, with the requests that change
nothing; --methods takes others too. Variables are filled in from the collection, its
environment and --set; parameters and bodies of OpenAPI from examples, defaults and
enumerations. What is secret is not written: it is named, with the header that -H has to
give.`,
		Example: `  netdyno record nginx /var/log/nginx/access.log.1 /var/log/nginx/access.log --paths -o access.rec
  netdyno record har shop.har --paths
  netdyno record postman shop.postman_collection.json --environment dev.postman_environment.json
  netdyno record openapi openapi.yaml --set petId=1 --methods GET,POST`,
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
	c.Flags().StringVarP(&r.out, "out", "o", "", "write to `FILE`; beside the first FILE, as .rec or .workload.yaml, unless given")
	c.Flags().StringSliceVar(&r.Methods, "methods", nil, "keep requests of these methods alone, such as GET,POST; unless given all of a log, and of a collection those that change nothing")
	c.Flags().StringArrayVar(&r.collection.Set, "set", nil, "of a collection: `NAME=VALUE` of a variable or a parameter; repeatable")
	c.Flags().StringVar(&r.collection.Environment, "environment", "", "of a Postman collection: `FILE` of its environment, as Postman exports it")
	c.Flags().StringArrayVar(&r.Only, "only", nil, "keep the requests alone whose URL has this `TEXT`, of a collection also those whose name, folder or tag has it; repeatable")
	c.Flags().BoolVar(&r.Paths, "paths", false, "keep the paths of requests, without their query strings")
	return c
}

// recordFormats are what FORMAT may be, each with its meaning.
func recordFormats() (words []suggestion) {
	for _, f := range recorded.Formats() {
		words = append(words, suggestion{text: f.Name, doc: f.Doc})
	}
	for _, f := range collection.Formats() {
		words = append(words, suggestion{text: f.Name, doc: f.Doc})
	}
	return words
}

func recordFormatHelp() string {
	var b strings.Builder
	for _, f := range recordFormats() {
		fmt.Fprintf(&b, "  %-8s %s\n", f.text, f.doc)
	}
	return b.String()
}

func (r recording) run(ctx context.Context, name string, files []string) error {
	for i, method := range r.Methods {
		if r.Methods[i] = strings.ToUpper(strings.TrimSpace(method)); !slices.Contains(recorded.Methods, r.Methods[i]) {
			return fmt.Errorf("--methods: %q cannot be sent; %s", quantity.Clip(method, 20), quantity.Hint(r.Methods[i], recorded.Methods))
		}
	}
	if f, is := collectionNamed(name); is {
		return r.collect(ctx, f, files)
	}
	format, err := recorded.Named(name)
	if err != nil {
		return fmt.Errorf("unknown format %q; %s", quantity.Clip(name, 40), quantity.Hint(name, each.Of(recordFormats(), func(s suggestion) string { return s.text })))
	}
	if o := r.collection; len(o.Set)+len(o.Environment) > 0 {
		return fmt.Errorf("--set and --environment fill in the requests of a collection; %s has requests as they came", name)
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
	if words := s.HostsWords(); words != "" {
		stdout.say("%s", words)
	}
	if s.Bodies > 0 {
		stdout.say("bodies of requests: %d different ones are in it, for whoever reads the file", s.Bodies)
	}
	if s.NotAsked > 0 {
		stdout.say("%s that --methods or --only does not name", quantity.Plural(int(s.NotAsked), "request"))
	}
	if s.PathsLeft > 0 {
		stdout.say("%s came after as many paths as a file holds, and have none", quantity.Plural(int(s.PathsLeft), "request"))
	}
}
