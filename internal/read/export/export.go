// Package export writes a run in the formats of other tools: tables, Go's benchmark
// format, OpenMetrics, HdrHistogram's log. Names from
// outside are escaped as each format has it, units follow its conventions, and a
// figure that does not exist is absent, never 0.
package export

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/profile"
	"netdyno/internal/record"
)

// Run is what is written: a run as it lies on disk.
type Run struct {
	Header    record.Header
	Plan      []record.Trial
	Records   []record.Record
	Unplanned int // records that the plan does not have, left out of Records
}

// name is the run's directory, without what leads to it; "" when it is not known.
func (r Run) name() string { return r.Header.RunName() }

// asked is what readers need of the study.
func (r Run) asked() cells.Plan { return cells.PlanOf(r.Header) }

// study is the study's name, or what stands for one that was typed.
func (r Run) study() string { return cmp.Or(r.asked().Name, record.Unnamed) }

// judged returns the trials by cell and arm, without comparing them.
func (r Run) judged() (*cells.Dataset, error) { return cells.Read(r.Header, r.Plan, r.Records) }

// found returns everything that can be said about the run.
func (r Run) found() (finding.Findings, error) {
	f, err := finding.Find(r.Header, r.Plan, r.Records)
	f.Tally.Unplanned = r.Unplanned
	return f, err
}

// Format is a way to write a run.
type Format struct {
	Name   string
	Doc    string // what it holds and who reads it: a noun phrase
	Tables bool   // it is a table, and one of several

	write func(io.Writer, Run, Table) error
	files func(Run) (files []File, notes []string, err error) // of a format with several files, instead of write
}

// formats has every format in the order of the documentation.
var formats = []Format{
	{Name: "csv", Doc: "a table, a row for each trial, for pandas, R, DuckDB and spreadsheets", Tables: true, write: writeCSV},
	{Name: "benchfmt", Doc: "Go's benchmark format, a line for each valid trial, for benchstat", write: writeBenchmarks},
	{Name: "openmetrics", Doc: "each arm's figures as gauges, its times as histograms, for Prometheus", write: writeOpenMetrics},
	{Name: "hlog", Doc: "service, response and lag times as a HdrHistogram log (1.3)", write: writeHistogramLog},
	{Name: "json", Doc: "findings.json: everything that was found; --schema prints its JSON schema", write: writeJSON},
	{Name: "pprof", Doc: "the profiles of the probes, a file for each arm, cell and end, for go tool pprof and speedscope", files: pprofFiles},
}

// Formats returns every format. The caller owns the slice.
func Formats() []Format { return slices.Clone(formats) }

// Named returns the format of that name, or an error that names the nearest one.
func Named(name string) (Format, error) {
	return named("format", name, formats, func(f Format) string { return f.Name })
}

// named returns the one of all that has a name, or an error that names the nearest.
func named[T any](kind, name string, all []T, of func(T) string) (T, error) {
	names := make([]string, 0, len(all))
	for _, one := range all {
		if of(one) == name {
			return one, nil
		}
		names = append(names, of(one))
	}
	var none T
	return none, fmt.Errorf("no %s %q; %s", kind, quantity.Clip(name, 80), quantity.Hint(name, names))
}

// Several tells a format that is several files, by Files; any other is written by Write.
func (f Format) Several() bool { return f.files != nil }

// Files returns the files of a format that has several, and sentences on what is left
// out. The error says why there is none.
func (f Format) Files(r Run) (files []File, notes []string, err error) { return f.files(r) }

// Write writes a run. The table is that of a format that has several; its zero value
// is the first. The error is the writer's, or that of a study which names a metric
// that there is not.
func (f Format) Write(w io.Writer, r Run, table Table) error {
	if table.build == nil {
		table = tables[0]
	}
	buffered := bufio.NewWriterSize(w, 64<<10)
	if err := f.write(buffered, r, table); err != nil {
		return err
	}
	return buffered.Flush()
}

// printer writes text. It keeps the writer's first error, after which it writes nothing.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) print(format string, values ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, values...)
	}
}

// plainNumber is x with as many digits as a figure has meaning, and an exponent where
// it is shorter.
func plainNumber(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }

// valid returns s as UTF-8; a byte that is none becomes U+FFFD.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// WriteFindings writes findings as findings.json has them.
func WriteFindings(w io.Writer, f finding.Findings) error {
	// Written as it is encoded: the text of a large run is a hundred megabytes.
	if err := jsonv2.MarshalWrite(w, f, jsonv1.DefaultOptionsV1(), jsontext.WithIndent(" ")); err != nil {
		return fmt.Errorf("encode findings: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func writeJSON(w io.Writer, r Run, _ Table) error {
	f, err := r.found()
	if err != nil {
		return err
	}
	return WriteFindings(w, f)
}

// File is one of the files of a format that has several.
type File = profile.File

// pprofFiles are the profiles of the probes, as a report writes them beside itself.
func pprofFiles(r Run) (files []File, notes []string, err error) {
	s, err := r.judged()
	if err != nil {
		return nil, nil, err
	}
	notes, err = profile.FilesOf(s).Each(func(f File) error {
		files = append(files, f)
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("the run has no profiles; expected probes, which a run has with probes=3")
	}
	return files, notes, err
}
