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

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
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
	o := synthetic.Options{Blocks: 40, Rate: 20_000, Window: 5 * time.Second, SD: 0.02, BlockSD: 0.02, Seed: 1}
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
		furnish(&r)
		if err := f.Append(r); err != nil {
			return err
		}
	}
	return f.Close()
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
