package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/docs/schema"
	"netdyno/internal/each"
	"netdyno/internal/read/export"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
)

// exporting is how a run is exported.
type exporting struct {
	format, table, out string
	schema             bool
}

func exportCommand() *cobra.Command {
	var how exporting
	c := &cobra.Command{
		Use:   "export DIR --format FORMAT",
		Short: "Write a run in the format of another tool: " + namesOf(formats()),
		Long: `Write a run in the format of another tool, to standard output or to a file, whole
or not at all. docs/export.md says what to do with each.

` + formatHelp(),
		Example: `  netdyno export results/event-loops-20260102-150405 --format csv --out trials.csv
  netdyno export results/event-loops-20260102-150405 --format csv --table comparisons`,
		Args: cobra.MaximumNArgs(1),

		ValidArgsFunction: completeRuns(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := how.run(c.Context(), args); err != nil {
				var s *status
				if errors.As(err, &s) {
					return err
				}
				return fmt.Errorf("export: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&how.format, "format", "", "`FORMAT` to write: "+namesOf(formats()))
	c.Flags().StringVar(&how.table, "table", "", "`TABLE` to write: "+namesOf(tables())+" (unless given trials)")
	c.Flags().StringVar(&how.out, "out", "", "write to `FILE`; of pprof, into this directory")
	c.Flags().BoolVar(&how.schema, "schema", false, "print the JSON schema of --format json; no DIR is needed")
	completeFlags(c, map[string]cobra.CompletionFunc{"format": completeWords(formats()), "table": completeWords(tables())})
	return c
}

// formatHelp lists the formats and the tables.
func formatHelp() string {
	var b strings.Builder
	for _, f := range formats() {
		fmt.Fprintf(&b, "  %-12s %s\n", f.text, f.doc)
	}
	b.WriteString("\nThe tables, by --table:\n\n")
	for _, t := range tables() {
		fmt.Fprintf(&b, "  %-12s %s\n", t.text, t.doc)
	}
	return b.String()
}

// formats and tables are what --format and --table may say, each with its meaning.
func formats() (words []suggestion) {
	for _, f := range export.Formats() {
		words = append(words, suggestion{text: f.Name, doc: f.Doc})
	}
	return words
}

func tables() (words []suggestion) {
	for _, t := range export.Tables() {
		words = append(words, suggestion{text: t.Name, doc: t.Doc})
	}
	return words
}

// namesOf joins words for a sentence.
func namesOf(words []suggestion) string {
	names := each.Of(words, func(w suggestion) string { return w.text })
	return strings.Join(names, ", ")
}

// completeWords offers words.
func completeWords(words []suggestion) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return shown(words, begun)
	}
}

func (e exporting) run(ctx context.Context, args []string) error {
	if e.format == "" {
		return fmt.Errorf("expected --format with one of %s", namesOf(formats()))
	}
	format, err := export.Named(e.format)
	if err != nil {
		return err
	}
	if e.schema {
		return e.writeSchema(format, args)
	}
	if len(args) == 0 {
		return errors.New("expected the directory of a run")
	}
	var table export.Table
	switch {
	case e.table == "":
	case !format.Tables:
		return fmt.Errorf("--table is for formats that are tables; %s is none", format.Name)
	default:
		if table, err = export.TableNamed(e.table); err != nil {
			return err
		}
	}
	if format.Several() {
		return e.files(format, session.Directory(args[0]))
	}
	return exportRun(session.Directory(args[0]), e.out, func(w io.Writer, r export.Run) error {
		return format.Write(endingWriter{ctx, w}, r, table)
	})
}

// endingWriter takes nothing more once the command is to end, so that a file that is
// being written is taken away.
type endingWriter struct {
	ctx context.Context
	io.Writer
}

func (e endingWriter) Write(p []byte) (int, error) {
	if e.ctx.Err() != nil {
		return 0, context.Cause(e.ctx)
	}
	return e.Writer.Write(p)
}

// files writes a format of several files into a directory.
func (e exporting) files(f export.Format, d session.Directory) error {
	if e.out == "" {
		return fmt.Errorf("%s is several files; name a directory with --out DIRECTORY", f.Name)
	}
	run, tainted, err := runToExport(d)
	if err != nil {
		return err
	}
	files, notes, err := f.Files(run)
	for _, note := range notes {
		stderr.say("netdyno: %s", note)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(e.out, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		if err := record.WriteFileAtomic(filepath.Join(e.out, file.Name), file.Data); err != nil {
			return err
		}
		stdout.say("%s", filepath.Join(e.out, file.Name))
	}
	return tainted
}

// writeSchema prints the schema of findings.json, or writes it to a file.
func (e exporting) writeSchema(f export.Format, args []string) error {
	if f.Name != "json" || len(args) > 0 || e.table != "" {
		return errors.New("--schema goes with --format json alone, without a directory")
	}
	return e.to(func(w io.Writer) error {
		_, err := w.Write(schema.Findings)
		return err
	})
}

// to writes to the file that was named, or to stdout.
func (e exporting) to(write func(io.Writer) error) error {
	if e.out == "" {
		return write(stdout.passing())
	}
	return record.WriteAtomic(e.out, write)
}

// exportRun reads a run and writes it to a file, or to stdout where none is named.
func exportRun(d session.Directory, out string, write func(io.Writer, export.Run) error) error {
	run, tainted, err := runToExport(d)
	if err != nil {
		return err
	}
	if err := (exporting{out: out}).to(func(w io.Writer) error { return write(w, run) }); err != nil {
		return err
	}
	return tainted
}

// runToExport reads a run and prints which records are left out; tainted is the status
// that the command then ends with, nil when there are none.
func runToExport(d session.Directory) (run export.Run, tainted, err error) {
	r, unplanned, err := readFiles(d, never)
	if err != nil {
		return run, nil, err
	}
	for _, p := range r.contents.Problems {
		stderr.say("netdyno: %s: left out of the export: %s", d.Records(), p)
	}
	if len(r.contents.Problems) > 0 {
		tainted = &status{statusUnmet, nil}
	}
	return export.Run{Header: r.contents.Header, Plan: r.trials, Records: r.contents.Records, Unplanned: unplanned}, tainted, nil
}
