package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gopacket/gopacket/pcapgo"
	"golang.org/x/net/bpf"

	"netdyno/internal/read/stat"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// gaps prints how evenly clients send that are given the same rate, as the loopback's packets
// tell: what a client saves by sending in bursts is no saving at the same load. Those are the arms of
// peers/http1.yaml that it runs at a rate, 50 connections, against nginx.
func (b *bed) gaps(ctx context.Context) error {
	const path = "peers/http1.yaml"
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s, err := source.ParseFile(path, text)
	if err != nil {
		return err
	}
	program, err := filepath.Abs("peers/nginx")
	if err != nil {
		return err
	}
	for _, sweep := range s.Sweeps {
		at := slices.IndexFunc(sweep.Hold, func(h study.Setting) bool { return h.Factor == "rate" })
		if at < 0 {
			continue
		}
		rate, err := strconv.Atoi(sweep.Hold[at].Level.Text)
		if err != nil {
			return fmt.Errorf("%s: sweep %s: %w", path, sweep.Name, err)
		}
		fmt.Printf("\ngaps: sends at %d/s over 50 connections (even: variation 0; by chance: 1)\n", rate)
		for _, level := range sweep.Vary[0].Levels {
			arm := s.Arms[slices.IndexFunc(s.Arms, func(a study.Arm) bool { return a.Name == level.Text })]
			if err := b.gapsOf(ctx, program, arm, rate); err != nil {
				return fmt.Errorf("%s: %w", arm.Name, err)
			}
		}
	}
	return nil
}

// gapsOf drives a server of its own by one arm and prints the variation of its gaps.
func (b *bed) gapsOf(ctx context.Context, program string, arm study.Arm, rate int) error {
	server, err := b.serve(ctx, func(port string) []string { return []string{program, "127.0.0.1:" + port, "1024"} })
	if err != nil {
		return err
	}
	defer server.end()
	port, err := strconv.Atoi(server.port)
	if err != nil {
		return err
	}
	argv, err := b.paced(arm, server.port, rate)
	if err != nil {
		return err
	}
	if len(absent(argv[:1])) > 0 {
		fmt.Printf("  %-45s left out, %s is not on PATH\n", arm.Label, argv[0])
		return nil
	}
	sends, err := requestsTo(port, func() error {
		_, _, err := drive(ctx, argv...)
		return err
	})
	if err != nil {
		return err
	}
	const least = 100
	if len(sends) < least {
		return fmt.Errorf("the loopback carried %d requests, expected %d at least", len(sends), least)
	}
	fmt.Printf("  %-45s variation %.2f\n", arm.Label, unevenness(sends))
	return nil
}

// paced is the command of an arm at a rate: of its own, or netdyno's.
func (b *bed) paced(arm study.Arm, port string, rate int) ([]string, error) {
	const connections, seconds = 50, 2
	words := []string{b.netdyno(), "http://127.0.0.1:" + port + "/block", fmt.Sprintf("connections=%d", connections),
		fmt.Sprintf("rate=%d", rate), fmt.Sprintf("window=%ds", seconds), "blocks=1", "placement=shared"}
	for _, setting := range arm.Settings {
		if setting.Factor == "opt.client.command" {
			return strings.Fields(strings.NewReplacer("{connections}", strconv.Itoa(connections), "{seconds}", strconv.Itoa(seconds), "{rate}", strconv.Itoa(rate),
				"{rate_per_connection}", strconv.Itoa(rate/connections), "{server}", "127.0.0.1:"+port).Replace(setting.Level.Text)), nil
		}
		words = append(words, setting.Factor+"="+setting.Level.Text)
	}
	dir, err := os.MkdirTemp(b.temp, "gaps-")
	return append(words, "--out", filepath.Join(dir, "run")), err
}

// requestsTo returns when the loopback carried a request to a port while work went on.
func requestsTo(port int, work func() error) (sends []time.Time, err error) {
	const ofHost, push, destination, flags = 0, 8, 14 + 20 + 2, 14 + 20 + 13 // IPv4 without options
	filter, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtType}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: ofHost, SkipTrue: 5}, // each is seen twice
		bpf.LoadAbsolute{Off: destination, Size: 2}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(port), SkipTrue: 3},
		bpf.LoadAbsolute{Off: flags, Size: 1}, bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: push, SkipTrue: 1},
		bpf.RetConstant{Val: destination + 14}, bpf.RetConstant{Val: 0},
	})
	if err != nil {
		return nil, err
	}
	handle, err := pcapgo.NewEthernetHandle("lo")
	if err != nil {
		return nil, fmt.Errorf("capture on lo (needs root): %w", err)
	}
	if err := handle.SetBPF(filter); err != nil {
		return nil, errors.Join(err, handle.Close())
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			_, packet, err := handle.ZeroCopyReadPacketData()
			if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil {
				return // it is closed
			}
			sends = append(sends, packet.Timestamp)
		}
	})
	err = work()
	err = errors.Join(err, handle.Close())
	reading.Wait()
	return sends, err
}

// unevenness is the coefficient of variation of the gaps between the middle half of sends.
func unevenness(sends []time.Time) float64 {
	sends = sends[len(sends)/4 : 3*len(sends)/4]
	var gaps []float64
	for i := 1; i < len(sends); i++ {
		gaps = append(gaps, sends[i].Sub(sends[i-1]).Seconds())
	}
	return stat.SD(gaps) / stat.Mean(gaps)
}
