package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// report prints what reports of 10,000 and of 100,000 trials take: blocks of 25 cells of
// nine arms and the baseline's repeat, with histograms, ticks and 64 sockets a reading.
func (b *bed) report(ctx context.Context) error {
	for _, size := range []struct {
		blocks, times int
		asked         string
	}{{40, 3, "≤ 5 s, ≤ 500 MB, page ≤ 3 MB, first chart ≤ 1 s"}, {400, 1, "≤ 60 s, ≤ 1 GB"}} {
		fmt.Printf("\nreport: netdyno report on %d trials (asked: %s)\n", 250*size.blocks, size.asked)
		if err := b.reportOf(ctx, size.blocks, size.times); err != nil {
			return err
		}
	}
	return nil
}

func (b *bed) reportOf(ctx context.Context, blocks, times int) (err error) {
	dir, err := os.MkdirTemp("", "netdyno-report-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeLarge(dir, blocks); err != nil {
		return err
	}
	for range times {
		c := exec.CommandContext(ctx, b.netdyno(), "report", dir)
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
	return firstChart(ctx, filepath.Join(dir, "report.html"))
}

// firstChart prints when Chromium has painted a page's first chart, where node and Chromium are.
func firstChart(ctx context.Context, page string) error {
	if missing := absent([]string{"node", "chromium"}); len(missing) > 0 {
		fmt.Printf("  first chart: not asked, %v is not on PATH\n", missing)
		return nil
	}
	c := exec.CommandContext(ctx, "node", "peers/chart.mjs", page)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err == nil {
		fmt.Printf("  first chart after %s s\n", strings.TrimSpace(string(out)))
	}
	return err
}

// writeLarge writes a run of 250 invented trials a block. They are made 40 blocks at a time:
// all of them would not fit into memory.
func writeLarge(dir string, blocks int) (err error) {
	const part = 40
	o := synthetic.Options{Blocks: min(part, blocks), Rate: 20_000, Window: 5 * time.Second, SD: 0.02, BlockSD: 0.02}
	for i := range 9 {
		o.Arms = append(o.Arms, synthetic.Arm{Name: fmt.Sprintf("arm-%d", i+1), Cost: 1 - float64(i)/20})
	}
	for i := range 25 {
		o.Connections = append(o.Connections, 10*(i+1))
	}
	var plan []record.Trial
	var f *record.File
	for before := 0; before < blocks; before += o.Blocks {
		o.Seed++
		header, trials, records := synthetic.Run(o)
		if f == nil {
			header.Study.Blocks = blocks
			if f, err = record.Create(filepath.Join(dir, record.RecordsFile), header); err != nil {
				return err
			}
		}
		first := len(plan)
		for i := range records {
			t := &trials[i]
			t.Block, t.Order = t.Block+before, t.Order+first
			t.ID = fmt.Sprintf("b%02d-%03d", t.Block, i+1)
			records[i].Trial = *t
			furnish(&records[i])
			if err := f.Append(records[i]); err != nil {
				return errors.Join(err, f.Close())
			}
		}
		plan = append(plan, trials...)
	}
	return errors.Join(record.WriteTrials(filepath.Join(dir, record.TrialsFile), plan), f.Close())
}

// furnish adds what a live trial's record has besides: the kernel's account of
// the connections, and the meter's readings at the worker's other messages.
func furnish(r *record.Record) {
	for i := range r.Workers {
		w := &r.Workers[i]
		for _, e := range []*record.Edge{w.Idle, w.Open, w.Close} {
			e.Meter.TCP = connections(e.Reading.Counts)
		}
		w.Idle.Meter.CPUs, w.Idle.Meter.Threads, w.Idle.Meter.Interfaces = w.Open.Meter.CPUs, w.Open.Meter.Threads, w.Open.Meter.Interfaces
		w.AtReady, w.AtResult = w.Idle.Meter, w.Close.Meter
	}
}

// connections is an account of sockets that sent and received what the
// worker counted.
func connections(c contract.Counts) *contract.TCP {
	const sockets = 64
	t := &contract.TCP{
		Sockets: sockets, Congestion: []string{"cubic"}, BusyNs: c.SentBytes * 3, AckedBytes: c.SentBytes, ReceivedBytes: c.ReceivedBytes,
		SentSegments: c.SentBytes / 100, RTTNs: 45_000, MaxRTTNs: 130_000, MinRTTNs: 9000, CongestionWindow: 10,
		DeliveryBytesPerS: 1_800_000, SegmentBytes: 32_768, PeerWindowBytes: sockets * 65_536,
	}
	for i := range int64(sockets) {
		t.Each = append(t.Each, contract.TCPSocket{Inode: 1_000_000 + i, AckedBytes: c.SentBytes / sockets, ReceivedBytes: c.ReceivedBytes / sockets})
	}
	return t
}
