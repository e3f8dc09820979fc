package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/session"
)

// The studies of a calibration. The generator answers itself, so it is measured
// where netdyno runs, whatever the rig.
const (
	generatorStudy = "calibrate"
	linkStudy      = "calibrate-link"
	noiseStudy     = "calibrate-noise"
)

func calibrateCommand() *cobra.Command {
	var seats, out string
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure this machine: generator, link, timers and noise; takes about two minutes",
		Long: `Measure the limits of netdyno on a rig: how fast its generator is with nothing to
wait for, what the link carries, how quiet the idle machine is, how late timers
are, and how much equal figures differ, within a run and between runs.

The result is kept for the machine. Every later run records it, warns beforehand
of differences that its blocks cannot detect, and netdyno compare takes from it
how much runs differ by chance. Calibrate again now and then: the spread between
runs is estimated from all of a machine's calibrations.`,
		Example: `  netdyno calibrate
  netdyno calibrate --rig ssh:node76,node73`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return calibrate(cmd.Context(), seats, session.Directory(out))
		},
	}
	rigFlag(c, &seats, "what to calibrate")
	outFlag(c, &out, "its runs")
	return c
}

// calibrate measures, keeps what it found and prints what is now known.
func calibrate(ctx context.Context, seats string, dir session.Directory) (err error) {
	if err := session.CheckRig(ctx, seats); err != nil {
		return err
	}
	if dir, err = dir.OrFresh("calibration"); err != nil {
		return err
	}
	found := map[string]finding.Findings{}
	defer func() {
		if err != nil && len(found) > 0 {
			err = &status{statusUnmet, err} // something ran
		}
	}()
	for _, s := range []struct{ study, at string }{{generatorStudy, rig.LoopbackName}, {linkStudy, seats}, {noiseStudy, seats}} {
		f, err := measured(ctx, s.study, s.at, session.Directory(filepath.Join(string(dir), s.study)))
		if err != nil {
			return err
		}
		found[s.study] = f
	}
	one := history.Calibrate(found[generatorStudy].Run, found[linkStudy].Run, found[noiseStudy].Run)
	hosts, err := session.Survey(ctx, seats, ends.hold, "--idle")
	if err != nil {
		return err
	}
	one.Places = map[string]record.Quiet{}
	for _, h := range hosts {
		if quiet, known := doctor.QuietOf(h.Facts); known {
			one.Places[h.Name] = quiet
		}
	}
	facts := found[noiseStudy].Header.Facts
	path, err := calibrationFile(facts)
	if err != nil {
		return err
	}
	all, err := record.ReadCalibrations(path)
	if err != nil {
		return err
	}
	all = append(all, one)
	if err := record.WriteCalibrations(path, all); err != nil {
		return err
	}
	fmt.Fprintln(stdout)
	stdout.say("runs  %s", dir)
	stdout.say("kept  %s", path)
	fmt.Fprintln(stdout)
	return tell(history.Calibration(facts.Rig, all))
}

// measured carries out one study of a calibration. One without a valid trial
// calibrates nothing.
func measured(ctx context.Context, study, at string, dir session.Directory) (finding.Findings, error) {
	if dir, err := carryOut(ctx, []string{study}, runFlags{rig: at, out: string(dir), url: urlFlags{said: new(said)}}); err != nil {
		return finding.Findings{}, errors.Join(fmt.Errorf("calibrate: study %s in %s", study, dir), err)
	}
	f, err := readAloud(dir)
	if err == nil && f.Tally.Valid < f.Tally.Planned*9/10 {
		err = &status{statusUnmet, fmt.Errorf("calibrate: of %d trials of study %s only %d are valid: netdyno report %s says why", f.Tally.Planned, study, f.Tally.Valid, dir)}
	}
	return f.Findings, err
}

// calibrationFile is where the calibrations of a rig's machines are kept.
func calibrationFile(facts record.Facts) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find where calibrations are kept: %w; set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(cache, "netdyno", "calibration", record.MachineKey(facts.Rig, facts.Seats)+".json"), nil
}

// calibrationOf returns what is known of a rig's machines, nil for nothing.
func calibrationOf(facts record.Facts) (*record.Calibration, error) {
	path, err := calibrationFile(facts)
	if err != nil {
		return nil, nil //nolint:nilerr // without a home nothing was ever kept
	}
	all, err := record.ReadCalibrations(path)
	if errors.Is(err, fs.ErrPermission) { // the home is somebody else's
		return nil, nil
	}
	return history.Calibration(facts.Rig, all), err
}

// tell prints a calibration.
func tell(c *record.Calibration) error {
	loopback := ""
	if c.Rig == rig.LoopbackName {
		loopback = ", which on loopback is what the CPUs copy"
	}
	fmt.Fprintf(stdout, "generator   %s exchanges per second, alone\n", quantity.FormatCount(c.GeneratorPerS))
	fmt.Fprintf(stdout, "link        %s%s\n", quantity.FormatByteRate(c.LinkBytesPerS), loopback)
	for _, name := range slices.Sorted(maps.Keys(c.Places)) {
		q := c.Places[name]
		fmt.Fprintf(stdout, "%-11s a spinning thread loses %s of its time, %s at once at most; timers overshoot by %s, 1 in 100 by %s\n", name,
			quantity.FormatShare(q.LostShare), quantity.FormatMicroseconds(q.LongestUs), quantity.FormatMicroseconds(q.OvershootP50Us), quantity.FormatMicroseconds(q.OvershootP99Us))
	}
	fmt.Fprintf(stdout, "stolen      %s of the CPU time\n", quantity.FormatShare(c.StealShare))
	if c.EnoughWindowS > 0 {
		fmt.Fprintf(stdout, "window      beyond %s, another block tells more than a longer window\n", quantity.FormatDuration(time.Duration(c.EnoughWindowS*float64(time.Second))))
	}
	fmt.Fprintf(stdout, `
The smallest difference that a comparison detects in nine of ten cases, by its
blocks. Then the standard deviation between separate runs of the same work, of an
arm alone and divided by the baseline. Calibrations behind that: %d.

`, c.Times)
	return showText(func(w io.Writer, o report.TextOptions) error { return report.SpreadText(w, c, shownSpreads, o) })
}

// shownSpreads are the metrics that most comparisons are about.
var shownSpreads = []string{
	metric.ExchangesPerS, metric.OfServer + metric.CPUPerExchange, metric.OfClient + metric.CPUPerExchange, metric.ServiceP50, metric.ServiceP99, metric.OfServer + metric.RSS,
}
