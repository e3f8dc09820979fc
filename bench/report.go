package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"netdyno/internal/read/synthetic"
	"netdyno/internal/record"
)

// report prints what a report of 10,000 trials takes: 40 blocks of 25 cells of
// nine arms and the baseline's repeat, with histograms and ticks.
func (b *bed) report(ctx context.Context) (err error) {
	fmt.Println("\nreport: netdyno report on 10,000 trials (hoped: ≤ 5 s, ≤ 500 MB, page ≤ 3 MB)")
	dir, err := os.MkdirTemp("", "netdyno-report-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeLarge(dir); err != nil {
		return err
	}
	for range 3 {
		c := exec.CommandContext(ctx, filepath.Join(b.bin, "netdyno"), "report", dir)
		c.Stderr = os.Stderr
		began := time.Now()
		if err := c.Run(); err != nil {
			return err
		}
		took := time.Since(began)
		page, err := os.Stat(filepath.Join(dir, "report.html"))
		if err != nil {
			return err
		}
		peak := float64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * 1024 / 1e6
		fmt.Printf("  %.1f s, %.1f s of CPU, peak RSS %.0f MB, page %.2f MB\n", took.Seconds(),
			(c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), peak, float64(page.Size())/1e6)
	}
	return nil
}

// writeLarge writes a run of 10,000 invented trials.
func writeLarge(dir string) error {
	o := synthetic.Options{Blocks: 40, SD: 0.02, BlockSD: 0.02, Seed: 1}
	for i := range 9 {
		o.Arms = append(o.Arms, synthetic.Arm{Name: fmt.Sprintf("arm-%d", i+1), Cost: 1 - float64(i)/20})
	}
	for i := range 25 {
		o.Connections = append(o.Connections, 10*(i+1))
	}
	header, trials, records := synthetic.Run(o)
	if err := record.WriteTrials(filepath.Join(dir, record.TrialsFile), trials); err != nil {
		return err
	}
	f, err := record.Create(filepath.Join(dir, record.RecordsFile), header)
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := f.Append(r); err != nil {
			return err
		}
	}
	return f.Close()
}
