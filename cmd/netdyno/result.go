package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"netdyno/internal/metric"
	"netdyno/internal/printable"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/read/summary"
	"netdyno/internal/run/session"
	"netdyno/internal/run/target"
)

// resultFlags say what a run by URL prints in place of its screen.
type resultFlags struct {
	asJSON bool    // one document
	quiet  bool    // the answer alone
	said   *said   // before and after the measured requests; nil where nothing was asked
	to     *screen // where either goes; all else went to stdout until diverted
}

// jsonFlag is what a --json without a value becomes, as curl's --json has one.
const jsonFlag = "as-json"

func (f *resultFlags) declare(flags *pflag.FlagSet) {
	flags.BoolVar(&f.asJSON, jsonFlag, false, "print the result as one JSON document, and all else on stderr; a --json without a value is the same")
	flags.BoolVar(&f.quiet, "quiet", false, "print the answer alone")
	flags.Var(percentiles{}, "percentiles", percentilesUsage)
}

const percentilesUsage = "print these percentiles too, such as `75,99.99`"

// percentiles is a flag that adds to what is measured and printed as soon as it is read.
type percentiles struct{}

func (percentiles) Set(list string) error { return metric.AskPercentiles(strings.Split(list, ",")...) }

func (percentiles) String() string { return "" }

func (percentiles) Type() string { return "list" }

// bareJSON gives a --json its meaning where curl's has no value: at the end, or before
// another flag, a URL or a KEY=LEVEL, none of which is JSON or a file of it. Only the
// commands that measure a URL have both.
func bareJSON(args []string) []string {
	if len(args) == 0 || args[0] != "run" && args[0] != "curl" {
		return args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if arg == "--json" && (i+1 == len(args) || noJSON(args[i+1])) {
			args[i] = "--" + jsonFlag
		}
	}
	return args
}

// noJSON tells an argument that cannot be what curl's --json sends.
func noJSON(arg string) bool {
	if json.Valid([]byte(arg)) || strings.HasPrefix(arg, "@") || arg == "-" {
		return false
	}
	key, _, isLevel := strings.Cut(arg, "=")
	_, isURL := target.WithScheme(arg)
	return strings.HasPrefix(arg, "-") || isURL || isLevel && key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_.") == ""
}

// divert leaves stdout to the result alone, and refuses what contradicts itself.
func (f *resultFlags) divert(dryRun bool) error {
	switch {
	case f.asJSON && f.quiet:
		return errors.New("--json and --quiet both say what is printed; expected one of them")
	case (f.asJSON || f.quiet) && dryRun:
		return errors.New("--dry-run measures nothing, so that there is no result for --json or --quiet; expected one without the other")
	case f.asJSON:
		f.to, stdout = stdout, stderr
	case f.quiet:
		f.to, stdout, told = stdout, silent(), silent()
	}
	return nil
}

// told is where a run says how it goes.
var told = stderr

// silent is a screen that nobody reads.
func silent() *screen {
	return &screen{
		Writer: printable.NewWriter(io.Discard), raw: io.Discard,
		columns: func() int { return standardWidth }, rows: func() int { return standardRows },
	}
}

// show prints the result of a run in the form that was asked for.
func (f resultFlags) show(d session.Directory, found finding.Findings) error {
	if f.quiet {
		o := report.TextOptions{Width: min(f.to.columns(), widestText)}
		return report.AnswerText(f.to, found.Answer.Text(), o)
	}
	s := summary.New(found)
	s.Run, s.Report = string(d), d.HTML()
	if f.said != nil {
		s.Asked, s.Warnings = f.said.asked, append(s.Warnings, f.said.warnings()...)
	}
	return f.to.showJSON(s)
}
